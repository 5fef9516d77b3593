package pod

import (
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Standing is what the fold of a pod's log says of its work.
type Standing struct {
	// Began is the entry that began the running turn; 0 between turns.
	Began item.Seq
	// Step counts the answered requests of the running turn; 0 between turns.
	Step int
	// Tools are those that run, with commas between them.
	Tools string
	// Tokens is the estimated size of the next request, Window that of the model; 0 if unknown.
	Tokens, Window int
	// Kilo is how many bytes 1,000 tokens have.
	Kilo int
	// Turn is what the running or the last turn used.
	Turn fold.Spent
	// Jobs counts the running jobs.
	Jobs int
}

// StandingOf is the standing of a pod with this fold.
func StandingOf(state *fold.State, carried *fold.Context) Standing {
	t := &state.Turn
	s := Standing{Tokens: carried.Tokens(), Window: carried.Window(), Kilo: max(carried.BytesOf(1000), 1), Turn: t.Spent, Jobs: len(state.Jobs.Running())}
	if t.Open {
		s.Began, s.Step = t.Began, t.Step
		var tools []string
		for _, c := range t.Calls {
			if c.Started != nil && !t.Waits(c.CallID) {
				tools = append(tools, c.Name)
			}
		}
		s.Tools = strings.Join(tools, ",")
	}
	return s
}

// Standing is that of a pod in memory, by its id, and how many bytes of an answer are in flight. It is the zero value
// until the pod's log is read.
func (h *Host) Standing(id string) (s Standing, answered int, loaded bool) {
	a, _ := h.pods.find(id)
	if a == nil {
		return s, 0, false
	}
	if now := a.presence.now.Load(); now != nil {
		s = now.standing
	}
	return s, a.journal.live.Answer(), true
}
