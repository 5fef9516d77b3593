package pod

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// cutShort are the entries that close what a cut of history leaves open: the open turn,
// or one that begins with the waiting notes and does nothing. They start no other turn.
func cutShort(s fold.State, why string) []item.Entry {
	turn := s.Turn.Number
	var out []item.Entry
	if !s.Turn.Open {
		turn++
		out = append(out, item.Entry{Turn: turn, Kind: item.TurnStarted{}})
	}
	for _, n := range s.Notes {
		out = append(out, item.Entry{Turn: turn, Kind: item.ItemAdded{Item: n.Item()}})
	}
	return append(out, item.Entry{Turn: turn, Kind: item.TurnEnded{
		Outcome: item.OutcomeInterrupted, Reason: "CUT", Cause: "the turn was abandoned: " + why,
	}})
}

// situation is the part of a pod's status that is not in its log.
type situation struct {
	// waiting says what the turn waits for, until until when.
	waiting string
	until   time.Time
	// pause is the current pause; held says that the running turn has stopped for it.
	pause *item.Pause
	held  bool
	// lifted are the pauses until a time that a person ended earlier, of the turn that they
	// name.
	lifted []item.Pause
}

// after is the situation once a log says that. A pause until a time ends with its turn.
func (s situation) after(log fold.State) situation {
	if s.pause.ByItself() && !log.Turn.Open {
		s.pause, s.held = nil, false
	}
	s.lifted = slices.DeleteFunc(slices.Clone(s.lifted), func(p item.Pause) bool { return !log.Turn.Open || p.Turn != log.Turn.Number })
	return s
}

// ending says how a turn ended that did not finish.
func ending(outcome item.Outcome, cause string) string {
	if outcome == item.OutcomeLimit {
		return "reached a limit: " + cause
	}
	return "failed: " + cause
}

// status is the pod's status after the entries so far.
func status(log fold.State, s situation, last time.Time) item.PodStatus {
	t := &log.Turn
	out := item.PodStatus{State: item.StateIdle, Turn: t.Number, Usage: log.Total.Usage, LastActivity: last, Pause: s.pause, Lifted: s.lifted, Jobs: len(log.Jobs.Running()), Pending: len(log.Pending), LastOutcome: t.Outcome}
	out.Approvals, out.Questions = t.Asks()
	for _, n := range log.Notes {
		if n.Ref != "" {
			out.Letters++
		}
	}
	check, failed := log.FailedCheck()
	out.CheckFailed = failed
	from, wakes := log.Wakes()
	switch {
	case s.pause != nil && (!t.Open || s.held):
		out.State, out.Reason, out.WaitUntil = item.StatePaused, s.pause.Reason, s.pause.Until
	case out.Approvals > out.Questions:
		out.State, out.Reason = item.StateWaiting, "waiting for approval"
	case out.Questions > 0:
		out.State, out.Reason = item.StateWaiting, "waiting for an answer"
	case t.Open && s.waiting != "":
		out.State, out.Reason, out.WaitUntil = item.StateWaiting, s.waiting, s.until
	case t.Open && t.Resuming:
		out.State, out.Reason = item.StateResuming, "resuming the interrupted turn"
	case t.Open:
		out.State = item.StateRunning
		if s.pause != nil {
			out.Reason = "pauses at the next step: " + s.pause.Reason
		}
	case log.Files.Restoring.After > 0:
		out.State, out.Reason = item.StateRunning, "taking back changes of files"
	case wakes:
		out.State, out.Reason, out.WaitUntil = item.StateWaiting, "a note is queued", from
	case t.Outcome == item.OutcomeInterrupted:
		out.State, out.Reason = item.StateInterrupted, t.Cause
	case out.Stopped():
		out.Reason = fmt.Sprintf("turn %d %s", t.Number, ending(t.Outcome, t.Cause))
	case failed:
		out.Reason, _, _ = strings.Cut(check.Text, "\n")
	}
	return out
}
