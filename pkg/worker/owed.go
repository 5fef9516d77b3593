package worker

import (
	"cmp"

	"podd/pkg/item"
)

// owe keeps the record of a request that was billed and whose answer is not stored: the
// next batch has it.
func (t *run) owe(u item.RequestUsage) {
	u.Purpose = cmp.Or(u.Purpose, item.PurposeDiscarded)
	t.owed = append(t.owed, u)
}

// bills are the records that the next batch begins with. A turn that owes any has claimed
// its submits.
func (t *run) bills() []item.Kind {
	var kinds []item.Kind
	for _, u := range t.owed {
		kinds = append(kinds, u)
	}
	return kinds
}

// billed is the progress behind all that was billed. It is to be read.
func (t *run) billed() *Progress {
	p := t.progress
	for _, u := range t.owed {
		p = p.with(u)
	}
	return p
}
