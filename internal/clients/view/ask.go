package view

import (
	"slices"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Approval shows a call that waits for approval, with exactly what will run.
func (t *Turn) Approval(a Approval) {
	t.waits(a.CallID, a.Tool)
	t.ApprovalBelow(a)
}

// ApprovalBelow is Approval for a call of a sub-pod, whose answer the turn's log does not have.
func (t *Turn) ApprovalBelow(a Approval) { t.screen.asked(a, false) }

// Arguments shows the arguments of a call that waits for approval.
func (t *Turn) Arguments(a Approval) { t.screen.asked(a, true) }

// Ask shows a question in one line below everything else and keeps it there until
// Answered or the end of the turn. It is for a terminal: the caller reads the answer.
func (t *Turn) Ask(question string) { t.screen.ask(sanitize.Line(question), false) }

// Answered removes the question. typed says that a line was typed after it, which stays
// on the screen.
func (t *Turn) Answered(typed bool) { t.screen.ask("", typed) }

// Say shows a line of the caller between the lines about the turn.
func (t *Turn) Say(text string) { t.screen.block(plain, sanitize.Line(text)) }

// Warn is Say for a warning.
func (t *Turn) Warn(text string) { t.screen.block(yellow, "! "+sanitize.Line(text)) }

// waits records a call that waits for approval.
func (t *Turn) waits(id, tool string) {
	if !slices.ContainsFunc(t.waiting, func(c call) bool { return c.id == id }) {
		t.waiting = append(t.waiting, call{id, tool})
	}
	t.progress()
}

// resolved shows the answer to a call of this turn or of a shown Approval.
func (t *Turn) resolved(turn int64, k item.ApprovalResolved) {
	at := slices.IndexFunc(t.waiting, func(c call) bool { return c.id == k.CallID })
	if at < 0 && (t.turn == 0 || turn != t.turn) {
		return
	}
	tool := ""
	if at >= 0 {
		tool = t.waiting[at].tool
		t.waiting = slices.Delete(t.waiting, at, at+1)
	}
	line := "· " + sanitize.Line(orTool(tool)) + ": " + resolved(k)
	if k.Reason != "" && k.Key == "" {
		line += ": " + sanitize.Line(oneLine(k.Reason))
	}
	t.screen.note(dim, line)
	t.progress()
}
