package worker

import (
	"cmp"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// owe keeps the record of a billed request whose answer is not stored: the next batch
// includes it.
func (t *journal) owe(u item.RequestUsage) {
	u.Purpose = cmp.Or(u.Purpose, item.PurposeDiscarded)
	t.owed = append(t.owed, u)
}

// bills are the records at the start of the next batch. A turn with such records has
// claimed its submits.
func (t *journal) bills() []item.Kind {
	var kinds []item.Kind
	for _, u := range t.owed {
		kinds = append(kinds, u)
	}
	return kinds
}

// billed is the turn's state once all owed records, and more, are stored.
func (t *journal) billed(more ...item.RequestUsage) fold.Turn {
	then := t.now.State
	for _, u := range slices.Concat(t.owed, more) {
		then.Add(item.Entry{Turn: t.turn.Number, Kind: u})
	}
	return then.Turn
}
