package fold

import (
	"slices"

	"podd/pkg/item"
)

// Mark is the entry that replaces all entries of the log up to one. mark says when and
// why they are removed. The store assigns the entry's sequence.
func (l *Log) Mark(r *Rules, upTo item.Seq, mark item.Purged) (item.Entry, error) {
	var e item.Entry
	whole := r.New()
	err := l.Replay(whole, l.last, func(removed item.Entry) {
		if removed.Seq != upTo {
			return
		}
		e = item.Entry{Seq: upTo, Time: removed.Time, Turn: whole.State.Turn.Number}
		mark.Entries = int64(upTo)
		mark.Totals = whole.Context.Totals()
		mark.Totals.Requests, mark.Totals.Tools = slices.Clone(mark.Totals.Requests), slices.Clone(mark.Totals.Tools)
		mark.Jobs = whole.State.Jobs.entries()
		if setup, ok := whole.Context.Setup(); ok {
			mark.Setup = &setup
		}
	})
	if err != nil {
		return item.Entry{}, err
	}
	// Remaining entries may prune removed ones, and remaining requests lack them: the mark counts what is no longer visible.
	mark.Totals.PrunedTokens = 0
	for i := range mark.Totals.Requests {
		mark.Totals.Requests[i].Spared = item.Spared{}
	}
	rest := r.New()
	e.Kind = mark
	rest.Add(e)
	if err := Open(l.read, upTo, l.last).Replay(rest, l.last, nil); err != nil {
		return item.Entry{}, err
	}
	all, visible := whole.Context.Totals(), rest.Context.Totals()
	mark.Totals.PrunedTokens = all.PrunedTokens - visible.PrunedTokens
	for _, r := range all.Requests {
		seen := requestsLike(&visible, r).Spared
		if hidden := (item.Spared{Pruned: r.Spared.Pruned - seen.Pruned, Cut: r.Spared.Cut - seen.Cut}); hidden != (item.Spared{}) {
			requestsLike(&mark.Totals, r).Spared = hidden
		}
	}
	e.Seq, e.Kind = 0, mark
	return e, nil
}
