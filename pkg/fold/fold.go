package fold

import "podd/pkg/item"

// Fold is the fold of a pod's log. It belongs to one goroutine.
type Fold struct {
	// First is the log's first entry, Last the last one that was added; 0 before the first.
	First, Last item.Seq
	// State is the pod's state, Context the content of its next request.
	State   State
	Context *Context

	rules *Rules
}

// Add folds the next entry. A rewind changes the fold of the whole log: Replay computes
// it.
func (f *Fold) Add(e item.Entry) {
	f.State.Add(e)
	f.Context.Add(e)
	if f.First == 0 {
		f.First = e.Seq
	}
	f.Last = e.Seq
}

// clone is an independent copy.
func (f *Fold) clone() *Fold {
	c := *f
	c.Context = f.Context.clone()
	return &c
}

// back restores the fold of an earlier entry. Usage, jobs, files and what is pending stay, and
// numbers and ids of the undone part are not reused.
func (f *Fold) back(place *Fold) {
	place.State.Total, place.State.Turn.Number = f.State.Total, f.State.Turn.Number
	place.State.Jobs, place.State.Files, place.State.Pending = f.State.Jobs, f.State.Files, f.State.Pending
	place.Context.kept.Totals, place.Context.calls = f.Context.kept.Totals, f.Context.calls
	*f = *place
}
