package view

import (
	"slices"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Approval shows that a call waits for a person, with exactly what will run.
func (t *Turn) Approval(a Approval) {
	columns := 0
	if t.screen.ErrTerminal {
		columns = t.screen.width()
	}
	t.waits(a.CallID, a.Tool)
	t.screen.block(yellow, append([]string{"? " + a.Title()}, a.Lines(columns)...)...)
}

// Ask shows a question in one line below all else, and keeps it there while the turn
// goes on, until Answered or the end of the turn. It is for a terminal: the caller
// reads what is typed.
func (t *Turn) Ask(question string) { t.screen.ask(sanitize.Line(question), false) }

// Answered takes the question away. typed says that a line was typed behind it,
// which then stays.
func (t *Turn) Answered(typed bool) { t.screen.ask("", typed) }

// Say shows a line of the caller's among those about the turn.
func (t *Turn) Say(text string) { t.screen.block(plain, sanitize.Line(text)) }

// Warn is Say for what a person should not overlook.
func (t *Turn) Warn(text string) { t.screen.block(yellow, "! "+sanitize.Line(text)) }

// waits takes note of a call that waits for a person.
func (t *Turn) waits(id, tool string) {
	if !slices.ContainsFunc(t.waiting, func(c call) bool { return c.id == id }) {
		t.waiting = append(t.waiting, call{id, tool})
	}
	t.progress()
}

// resolved shows how a call was answered that this turn or a shown Approval is about.
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
	if k.Reason != "" {
		line += ": " + sanitize.Line(oneLine(k.Reason))
	}
	t.screen.note(dim, line)
	t.progress()
}
