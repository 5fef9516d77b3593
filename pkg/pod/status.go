package pod

import (
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// cutShort are the entries that close what a cut of history leaves: the open turn, or one
// that begins with the notes that wait and does nothing. They start no other.
func cutShort(s fold.State, why string) []item.Entry {
	turn := s.Turn.Number
	var out []item.Entry
	if !s.Turn.Open {
		turn++
		out = append(out, item.Entry{Turn: turn, Kind: item.TurnStarted{}})
	}
	for _, n := range s.Notes {
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
func status(log fold.State, s situation, last time.Time) item.PodStatus {
	t := &log.Turn
	out := item.PodStatus{State: item.StateIdle, Turn: t.Number, Usage: log.Total.Usage, LastActivity: last, Pause: s.pause}
	switch {
	case s.pause != nil && (!t.Open || s.held):
		out.State, out.Reason = item.StatePaused, s.pause.Reason
	case t.Asks():
		out.State, out.Reason = item.StateWaiting, "waits for approval"
	case t.Open && s.waiting != "":
		out.State, out.Reason, out.WaitUntil = item.StateWaiting, s.waiting, s.until
	case t.Open && t.Resuming:
		out.State, out.Reason = item.StateResuming, "goes on with the turn that was interrupted"
	case t.Open:
		out.State = item.StateRunning
		if s.pause != nil {
			out.Reason = "stops at the next step: " + s.pause.Reason
		}
	case log.Wakes():
		out.State, out.Reason = item.StateWaiting, "a note waits for its turn"
	case t.Interrupted != "":
		out.State, out.Reason = item.StateInterrupted, t.Interrupted
	}
	return out
}
