package fold

import "podd/pkg/item"

// Fold is what a pod's log folds into. It belongs to one goroutine.
type Fold struct {
	// First is the log's first entry, Last the last one that was added; 0 before the first.
	First, Last item.Seq
	// State is where the pod stands, Context what its next request carries.
	State   State
	Context *Context

	rules *Rules
}

// Add folds the next entry in. After a rewind the fold of the whole log is another: Replay
// gives it.
func (f *Fold) Add(e item.Entry) {
	f.State.Add(e)
	f.Context.Add(e)
	if f.First == 0 {
		f.First = e.Seq
	}
	f.Last = e.Seq
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
	place.State.Total, place.State.Turn.Number = f.State.Total, f.State.Turn.Number
	place.Context.kept.Totals, place.Context.calls = f.Context.kept.Totals, f.Context.calls
	*f = *place
}
