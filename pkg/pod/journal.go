package pod

import "podd/pkg/item"

// journal is the fold of a log into where its turns stand. It is a value: a copy
// can be tried on a batch before it is committed.
type journal struct {
	// turn is the last turn, open whether it has no terminal entry yet.
	turn int64
	open bool
	// interrupted says that the last turn ended because podd stopped.
	interrupted string
	// usage, steps and calls are those of the last turn.
	usage item.Usage
	calls int
	// total is the usage of all turns.
	total item.Usage
}

func (j *journal) add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Purged:
		j.turn, j.total = e.Turn, k.Totals.Usage()
	case item.TurnStarted:
		*j = journal{turn: e.Turn, open: true, total: j.total}
	case item.TurnEnded:
		j.open = false
		if k.Outcome == item.OutcomeInterrupted {
			j.interrupted = k.Cause
		}
	case item.RequestUsage:
		j.usage, j.total = j.usage.Add(k.Usage), j.total.Add(k.Usage)
	case item.ItemAdded:
		if _, ok := k.Item.(item.ToolCall); ok {
			j.calls++
		}
	}
}

// status is the pod's status after the entries so far.
func (j *journal) status(old item.PodStatus, waiting string) item.PodStatus {
	s := item.PodStatus{State: item.StateIdle, Turn: j.turn, Usage: j.total, LastActivity: old.LastActivity}
	switch {
	case j.open && waiting != "":
		s.State, s.Reason = item.StateWaiting, waiting
	case j.open:
		s.State = item.StateRunning
	case j.interrupted != "":
		s.State, s.Reason = item.StateInterrupted, j.interrupted
	}
	return s
}
