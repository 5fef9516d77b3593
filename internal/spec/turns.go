package spec

import (
	"podd/pkg/item"
)

// turns checks where turns begin and end, and what they count.
type turns struct {
	*findings
	// open is the open turn, 0 without one; last is the last one. known says that the log has an earlier one, or begins.
	open, last int64
	known      bool
	step       int
	billed     item.Usage
	requests   int
	calls      int
	// told says that the entry before is the alert about the end of a turn.
	told bool
}

func (t *turns) add(e item.Entry, s *submits) {
	switch k := e.Kind.(type) {
	case item.Purged:
		t.last, t.known = e.Turn, true
		return
	case item.TurnStarted:
		t.start(e, k, s)
		return
	case item.TurnEnded:
		t.end(e, k)
		return
	case item.RequestUsage:
		t.bill(e, k)
	case item.ItemAdded:
		if _, ok := k.Item.(item.ToolCall); ok {
			t.calls++
		}
	}
	switch {
	case e.Turn != 0 && e.Turn != t.open:
		t.fail(turnOwns, "the entry is of turn %d while %s", e.Turn, t.now())
	case e.Turn == 0 && ofTurn(e.Kind):
		t.fail(turnOwns, "the entry has no turn")
	}
}

// now says which turn is open.
func (t *turns) now() string {
	if t.open == 0 {
		return "none is open"
	}
	return "another is open"
}

// ofTurn says that only turns write such entries.
func ofTurn(k item.Kind) bool {
	switch k := k.(type) {
	case item.ToolStarted, item.ApprovalRequested, item.ApprovalResolved, item.Promoted, item.Recovered, item.Prune:
		return true
	case item.RequestUsage:
		return k.Purpose == ""
	}
	return false
}

func (t *turns) start(e item.Entry, k item.TurnStarted, s *submits) {
	if t.open != 0 {
		t.fail(turnStarts, "turn %d starts while turn %d is open", e.Turn, t.open)
	} else if e.Turn != t.last+1 {
		t.fail(turnStarts, "turn %d starts after turn %d", e.Turn, t.last)
	}
	*t = turns{findings: t.findings, open: e.Turn, last: e.Turn, known: true}
	if of := s.began; of != nil && (k.Plan != of.Plan || k.AnswerSchema != of.AnswerSchema || k.NoQuestions != of.NoQuestions) {
		t.fail(turnTerms, "the turn plans: %t, it asks no questions: %t, its schema: %q; its submit asks for %t, %t, %q",
			k.Plan, k.NoQuestions, k.AnswerSchema, of.Plan, of.NoQuestions, of.AnswerSchema)
	}
}

func (t *turns) bill(e item.Entry, k item.RequestUsage) {
	if e.Turn == 0 {
		return
	}
	t.billed = t.billed.Add(k.Usage)
	if k.Purpose != item.PurposeSubPod {
		t.requests += int(k.Usage.Requests)
	}
	if k.Purpose != "" {
		return
	}
	if t.step++; k.Step != t.step {
		t.fail(stepsCount, "step %d follows %d steps", k.Step, t.step-1)
		t.step = k.Step
	}
}

// reasonCut is the reason of turns that a fork or rewind cut, reasonCancelled of those that a client cancelled.
const (
	reasonCut       = "CUT"
	reasonCancelled = "CANCELLED"
)

func (t *turns) end(e item.Entry, k item.TurnEnded) {
	if e.Turn != t.open || t.open == 0 {
		t.fail(turnEnds, "turn %d ends while %s", e.Turn, t.now())
		return
	}
	t.open = 0
	if k.Reason == reasonCut {
		return
	}
	if k.Usage != t.billed || k.Steps != t.requests || k.ToolCalls != t.calls {
		t.fail(turnBills, "the end counts %d requests, %d calls and %+v; the turn has %d, %d and %+v", k.Steps, k.ToolCalls, k.Usage, t.requests, t.calls, t.billed)
	}
	switch finished := k.Outcome == item.OutcomeFinished; {
	case finished && t.told:
		t.fail(turnTells, "an alert says that the turn ended, which finished")
	case !finished && !t.told && k.Reason != reasonCancelled:
		t.fail(turnTells, "no alert says that the turn ended as %s", k.Outcome)
	}
}

// after notes what the next entry comes after.
func (t *turns) after(e item.Entry) {
	k, ok := e.Kind.(item.AlertRaised)
	t.told = ok && k.Alert.Reason == item.ReasonTurnEnded
}
