package pod

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// journal is the fold of a log into what a pod's status shows and what waits for its
// next turn. It is a value: a copy can be tried on a batch before it is committed.
// Slices are replaced, never changed.
type journal struct {
	// turn is the last turn, open whether it has no terminal entry yet.
	turn int64
	open bool
	// requests are the submits that the open turn began with.
	requests []string
	// calls are those of the open turn that have no result yet.
	calls []string
	// resuming says that the turn was taken up again and has come no further.
	resuming bool
	// interrupted says why the last turn was given up.
	interrupted string
	// asking are the ids of the calls that wait for a person.
	asking []string
	// notes are those that no turn has taken in yet.
	notes []item.Note
	// total is the usage of all turns.
	total item.Usage
}

// rest is what a journal has between two turns; its fields are those.
type rest struct {
	Turn        int64
	Interrupted string
	Notes       []item.Note
	Total       item.Usage
}

func (j *journal) rest() rest { return rest{j.turn, j.interrupted, j.notes, j.total} }

func (r rest) journal() journal {
	return journal{turn: r.Turn, interrupted: r.Interrupted, notes: r.Notes, total: r.Total}
}

func (j *journal) add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Purged:
		j.turn, j.total = e.Turn, k.Totals.Usage()
	case item.Rewind:
		*j = journal{turn: j.turn, notes: j.notes, total: j.total}
	case item.TurnStarted:
		*j = journal{turn: e.Turn, open: true, requests: k.RequestIDs, notes: j.notes, total: j.total}
	case item.TurnEnded:
		j.open, j.requests, j.calls, j.resuming, j.asking = false, nil, nil, false, nil
		if k.Outcome == item.OutcomeInterrupted {
			j.interrupted = k.Cause
		}
	case item.Recovered:
		j.resuming = true
	case item.RequestUsage:
		j.total, j.resuming = j.total.Add(k.Usage), false
	case item.ApprovalRequested:
		j.asking = append(slices.Clip(without(j.asking, k.CallID)), k.CallID)
	case item.ApprovalResolved:
		j.asking = without(j.asking, k.CallID)
	case item.Note:
		j.notes = append(slices.Clip(j.notes), k)
	case item.ItemAdded:
		j.item(k.Item)
	}
}

// skip takes note of an entry that a rewind took back.
func (j *journal) skip(e item.Entry) {
	j.turn = max(j.turn, e.Turn)
	if u, ok := e.Kind.(item.RequestUsage); ok {
		j.total = j.total.Add(u.Usage)
	}
}

func (j *journal) item(it item.Item) {
	switch it := it.(type) {
	case item.ToolCall:
		j.calls = append(slices.Clip(j.calls), it.CallID)
	case item.ToolResult:
		j.calls, j.asking, j.resuming = without(j.calls, it.CallID), without(j.asking, it.CallID), false
	case item.SystemMessage:
		if it.Origin == item.OriginNote && len(j.notes) > 0 {
			j.notes = j.notes[1:]
		}
	}
}

// without are calls but one.
func without(calls []string, callID string) []string {
	if !slices.Contains(calls, callID) {
		return calls
	}
	return slices.DeleteFunc(slices.Clone(calls), func(id string) bool { return id == callID })
}

// wakes says whether a note wants a turn.
func (j *journal) wakes() bool {
	return slices.ContainsFunc(j.notes, func(n item.Note) bool { return n.Wake })
}

// cutShort are the entries that close what a cut of history leaves: the open turn, or one
// that begins with the notes that wait and does nothing. They start no other.
func (j *journal) cutShort(why string) []item.Entry {
	turn := j.turn
	var out []item.Entry
	if !j.open {
		turn++
		out = append(out, item.Entry{Turn: turn, Kind: item.TurnStarted{}})
	}
	for _, n := range j.notes {
		out = append(out, item.Entry{Turn: turn, Kind: item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: n.Text}}})
	}
	return append(out, item.Entry{Turn: turn, Kind: item.TurnEnded{
		Outcome: item.OutcomeInterrupted, Reason: "CUT", Cause: "the turn was left: " + why,
	}})
}

// situation is what a pod's status shows beside its log.
type situation struct {
	// waiting says what the turn waits for, until until when.
	waiting string
	until   time.Time
	// pause holds the pod; held says that the running turn has stopped for it.
	pause *item.Pause
	held  bool
}

// status is the pod's status after the entries so far.
func (j *journal) status(old item.PodStatus, s situation) item.PodStatus {
	out := item.PodStatus{State: item.StateIdle, Turn: j.turn, Usage: j.total, LastActivity: old.LastActivity, Pause: s.pause}
	switch {
	case s.pause != nil && (!j.open || s.held):
		out.State, out.Reason = item.StatePaused, s.pause.Reason
	case j.open && len(j.asking) > 0:
		out.State, out.Reason = item.StateWaiting, "waits for approval"
	case j.open && s.waiting != "":
		out.State, out.Reason, out.WaitUntil = item.StateWaiting, s.waiting, s.until
	case j.open && j.resuming:
		out.State, out.Reason = item.StateResuming, "goes on with the turn that was interrupted"
	case j.open:
		out.State = item.StateRunning
		if s.pause != nil {
			out.Reason = "stops at the next step: " + s.pause.Reason
		}
	case j.wakes():
		out.State, out.Reason = item.StateWaiting, "a note waits for its turn"
	case j.interrupted != "":
		out.State, out.Reason = item.StateInterrupted, j.interrupted
	}
	return out
}
