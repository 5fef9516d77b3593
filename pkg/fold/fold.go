package fold

import (
	"slices"

	"podd/pkg/item"
)

// Fold is what a pod's log folds into. It belongs to one goroutine.
type Fold struct {
	// First is the log's first entry, Last the last one that was added; 0 before the first.
	First, Last item.Seq
	// Totals count what the log recorded, what rewinds took back included.
	Totals item.Totals
	// State is where the pod stands, Context what its next request carries.
	State   State
	Context *Context

	rules *Rules
}

// Add folds the next entry in. After a rewind the fold of the whole log is another: Replay
// gives it.
func (f *Fold) Add(e item.Entry) {
	before := f.Context.Tokens()
	f.State.Add(e)
	f.Context.Add(e)
	f.count(e, before-f.Context.Tokens())
	if f.First == 0 {
		f.First = e.Seq
	}
	f.Last = e.Seq
}

// count adds an entry to the totals. saved is how many tokens the next request lost by it.
func (f *Fold) count(e item.Entry, saved int) {
	t := &f.Totals
	switch k := e.Kind.(type) {
	case item.Purged:
		*t = k.Totals
		t.Requests, t.Tools = slices.Clone(t.Requests), slices.Clone(t.Tools)
	case item.TurnStarted:
		t.Turns++
	case item.Compaction:
		t.Compactions++
	case item.Prune:
		t.Prunes++
		t.PrunedResults += int64(len(k.Seqs))
		t.PrunedTokens += int64(saved)
	case item.RequestUsage:
		countRequest(t, k)
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			countResult(t, r)
		}
	}
}

func countRequest(t *item.Totals, k item.RequestUsage) {
	r := item.RequestTotal{Model: k.Model, Purpose: k.Purpose, Measured: k.Measured, Asked: k.Asked}
	i := slices.IndexFunc(t.Requests, func(b item.RequestTotal) bool {
		b.Usage = item.Usage{}
		return b == r
	})
	if i < 0 {
		i, t.Requests = len(t.Requests), append(t.Requests, r)
	}
	t.Requests[i].Usage = t.Requests[i].Usage.Add(k.Usage)
}

func countResult(t *item.Totals, r item.ToolResult) {
	i := slices.IndexFunc(t.Tools, func(b item.ToolTotal) bool { return b.Tool == r.Tool })
	if i < 0 {
		i, t.Tools = len(t.Tools), append(t.Tools, item.ToolTotal{Tool: r.Tool})
	}
	u := &t.Tools[i]
	u.Calls++
	if r.IsError {
		u.Errors++
	}
	if r.Cut != nil {
		u.Cuts++
		u.CutTotal += r.Cut.TotalBytes
		u.CutKept += r.Cut.KeptBytes
	}
}

// clone is a fold that goes on by itself.
func (f *Fold) clone() *Fold {
	c := *f
	c.Context = f.Context.clone()
	return &c
}

// back makes the fold what it was at an earlier place. What was used stays used, and the
// numbers and ids of what came since are not given again.
func (f *Fold) back(place *Fold) {
	place.Totals, place.State.Total = f.Totals, f.State.Total
	place.State.Turn.Number = f.State.Turn.Number
	place.Context.calls = f.Context.calls
	*f = *place
}
