package fold

import (
	"slices"

	"podd/pkg/item"
)

// Task follows the turn of one submit, in the log of its pod from the first entry on.
type Task struct {
	// RequestID is the submit's.
	RequestID string
	// Given says that the pod has the submit.
	Given bool
	// Ended is the turn's end, or says that the submit was withdrawn; nil before that.
	Ended *item.TurnEnded
	// Bills are what the turn was billed, one for each pair of requested and answering
	// model.
	Bills []item.RequestUsage
	// Turn is the number of the turn, 0 until it has begun.
	Turn int64

	state State
}

// Add folds the next entry, and says whether it belongs to the turn.
func (t *Task) Add(e item.Entry) bool {
	t.state.Add(e)
	switch k := e.Kind.(type) {
	case item.Purged:
		// The submit was removed with the beginning of the log. Its turn was the last one
		// there, unless it begins later.
		t.Given, t.Turn = true, e.Turn
		for _, r := range k.Totals.Requests {
			t.bill(r.Request())
		}
	case item.Submitted:
		t.Given = t.Given || k.RequestID == t.RequestID
	case item.Withdrawn:
		if slices.Contains(k.RequestIDs, t.RequestID) {
			t.Ended = &item.TurnEnded{Outcome: item.OutcomeCancelled, Cause: "its task was taken out of its inbox"}
		}
	case item.TurnStarted:
		if slices.Contains(k.RequestIDs, t.RequestID) {
			t.Turn, t.Bills = e.Turn, nil
		}
	}
	if t.Turn == 0 || e.Turn != t.Turn {
		return false
	}
	switch k := e.Kind.(type) {
	case item.RequestUsage:
		t.bill(k)
	case item.TurnEnded:
		t.Ended = &k
	}
	return true
}

// bill adds what a request was billed to the sum of its models.
func (t *Task) bill(u item.RequestUsage) {
	i := slices.IndexFunc(t.Bills, func(b item.RequestUsage) bool {
		return b.Model == u.Model && b.Asked == u.Asked && b.Endpoint == u.Endpoint && b.Measured == u.Measured && b.Above == u.InputAbove() && b.Terms == u.Terms
	})
	if i < 0 {
		i = len(t.Bills)
		t.Bills = append(t.Bills, item.RequestUsage{Model: u.Model, Asked: u.Asked, Endpoint: u.Endpoint, Measured: u.Measured, Purpose: item.PurposeSubPod, Above: u.InputAbove(), Terms: u.Terms})
	}
	t.Bills[i].Usage = t.Bills[i].Usage.Add(u.Usage)
	t.Bills[i].DurationMS += u.DurationMS
}

// Spent is what the turn has used.
func (t *Task) Spent(models Models) Spent {
	var s Spent
	for _, b := range t.Bills {
		s.Add(b, models)
	}
	return s
}

// Text is the text of the turn's last answer.
func (t *Task) Text() string {
	if t.Turn == 0 || t.state.Turn.Number != t.Turn {
		return ""
	}
	return t.state.Turn.Text()
}
