package attach

import (
	"fmt"
	"slices"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// The most rows of a screen for the draft, for what is offered and for tasks.
const (
	mostInput   = 6
	mostOffered = 10
	mostTasks   = 5
	mostQueued  = 5
)

// A smaller screen has only the state line and the draft.
const (
	leastColumns = 40
	leastRows    = 10
)

// tiny says that the screen has no room for a transcript.
func (a *app) tiny() bool { return a.columns < leastColumns || a.rows < leastRows }

// layouts gives the lines of the transcript's blocks; the last block is the question.
func (a *app) layouts() layouts {
	return func(block int) []line {
		if block < len(a.log.blocks) {
			return a.log.layout(a.log.blocks[block], a.columns)
		}
		if len(a.calls.questions) == 0 {
			return nil
		}
		return a.calls.questions[0].lines(a.columns)
	}
}

// blockCount counts the questions as one.
func (a *app) blockCount() int { return len(a.log.blocks) + 1 }

// logRows is how many rows the transcript has.
func (a *app) logRows() int {
	input, _, _ := a.inputRows()
	return max(a.rows-len(input)-len(a.panels())-2, 1)
}

// lead begins the line of typed text.
func (a *app) lead() string {
	switch {
	case a.confirming != nil:
		if a.keysBelow() {
			return a.confirming.question + " "
		}
		return a.confirming.question + " " + a.confirming.keys() + " "
	case a.calls.answering && a.calls.questions[0].shown.Form != nil:
		return "Answer: "
	case a.calls.answering:
		return "Run it? "
	case a.prompt.history.search != nil:
		found := "history "
		if a.prompt.history.search.failed {
			found = "no older prompt has "
		}
		return found + sanitize.Line(fmt.Sprintf("%q", a.prompt.history.search.query)) + "> "
	case a.prompt.plan:
		return "plan> "
	}
	return "> "
}

// keysBelow says whether the last line shows the answers to the view's question, since they do
// not fit on the question's line.
func (a *app) keysBelow() bool {
	return !a.tiny() && cells.Width(a.confirming.question+" "+a.confirming.keys()+" ") >= a.columns
}

// inputRows is the draft: its rows on the screen, and the position of the cursor.
func (a *app) inputRows() (rows []string, row, column int) {
	rows, row, column = a.written().rows(a.lead(), a.columns)
	most := max(min(mostInput, a.rows/3), 1)
	if a.tiny() {
		most = max(min(mostInput, a.rows-1), 1)
	}
	if over := len(rows) - most; over > 0 {
		from := min(max(row-most+1, 0), over)
		rows, row = rows[from:from+most], row-from
	}
	return rows, row, column
}

// panels are the rows between the transcript and the state line: tasks, and what is offered.
func (a *app) panels() (rows []line) {
	if a.tiny() {
		return nil
	}
	if c := a.confirming; c != nil && c.about != "" {
		return wrapped(c.about, yellow, "? ", "  ", a.columns)
	}
	if a.showsTasks() {
		rows = taskRows(a.log.tasks(), min(mostTasks, a.rows/4), a.columns)
	}
	rows = append(rows, a.queuedRows(max(min(mostQueued, a.rows/6), 1))...)
	most := max(min(mostOffered, a.rows/3), 1)
	for _, row := range a.prompt.paths.rows(most) {
		rows = append(rows, in(dim, "  "+row))
	}
	offers := a.offers()
	for i, offer := range offers {
		if i == most-1 && len(offers) > most {
			return append(rows, in(dim, fmt.Sprintf("  and %s more", view.Count(int64(len(offers)-i)))))
		}
		rows = append(rows, in(dim, "  "+offer))
	}
	return rows
}

// showsAbout says whether all that the view's question is about is on the screen.
func (a *app) showsAbout() bool {
	if a.confirming.about == "" {
		return true
	}
	input, _, _ := a.inputRows()
	return !a.tiny() && len(a.panels())+len(input)+2 <= a.rows
}

// draw lays the screen out: as many lines as it has rows, and the position of the cursor.
func (a *app) draw() (lines []line, row, column int) {
	if !a.ready && a.said != "" && a.prompt.draft.empty() {
		return append([]line{in(plain, a.said)}, make([]line, max(a.rows-1, 0))...), 0, 0
	}
	input, row, column := a.inputRows()
	if !a.tiny() {
		lines = append(a.transcriptLines(a.logRows()), a.panels()...)
	}
	lines = append(lines, in(cyan, a.statusLine()))
	row += len(lines)
	for _, l := range input {
		lines = append(lines, in(plain, l))
	}
	if !a.tiny() {
		lines = append(lines, in(dim, a.hint()))
	}
	if over := len(lines) - a.rows; over > 0 {
		lines, row = lines[over:], max(row-over, 0)
	}
	return append(lines, make([]line, a.rows-len(lines))...), row, column
}

// transcriptLines is the part of the transcript that is on the screen. What of a question
// is on it has been seen once it is painted.
func (a *app) transcriptLines(rows int) []line {
	pg := a.view.page(a.layouts(), a.blockCount(), rows)
	if len(a.calls.questions) > 0 && pg.tailFrom >= 0 {
		q := a.calls.questions[0]
		on := onScreen{q: q, columns: q.columns, from: pg.tailFrom, upTo: pg.tailUpTo}
		if q.raw {
			// The arguments do not count as the preview.
			on = onScreen{}
		}
		a.calls.shows(on)
	}
	return append(make([]line, rows-len(pg.lines)), pg.lines...)
}

// hint is the view's own message, or a list of keys.
func (a *app) hint() string {
	if !a.pasting.IsZero() && a.now().Sub(a.pasting) >= time.Second {
		return cells.Fit("a paste has not ended: Esc keeps the part that arrived", a.columns)
	}
	if a.said != "" {
		return cells.Fit(a.said, a.columns)
	}
	keys := []string{"Enter send", "^D leave", "/help", "^T tools", "Tab @path", "PgUp/PgDn", "^R history", "^G editor", "Alt-Enter new line"}
	switch {
	case a.prompt.history.search != nil:
		keys = []string{"^R older", "Enter take it", "[Esc] back"}
	case len(a.prompt.paths.list) > 0:
		keys = []string{"Tab take it", "Up/Down choose", "[Esc] close"}
	case a.turn != 0 && len(a.calls.questions) == 0:
		keys = append([]string{"Enter queue", "^S steer", "Esc interrupt"}, keys[1:]...)
		if a.prompt.draft.empty() && len(a.queued()) > 0 {
			keys = slices.Insert(keys, 3, "Up edit queued")
		}
	}
	switch {
	case a.confirming != nil:
		keys = []string{"PgUp/PgDn"}
		if a.keysBelow() {
			keys = slices.Insert(keys, 0, a.confirming.keys())
		}
	case a.calls.answering:
		keys = []string{view.Answers, "[Esc] later", "PgUp/PgDn"}
		if a.calls.questions[0].shown.Form != nil {
			keys = a.calls.questions[0].formKeys()
		}
		if item.HideArguments(a.calls.questions[0].shown.Previews) {
			keys = slices.Insert(keys, 1, "[v] arguments")
		}
		if a.calls.questions[0].shown.Form == nil && !a.calls.wholly() {
			keys = []string{"PgUp to read all of it", "[n REASON] deny", "[Esc] later"}
		}
	case len(a.calls.questions) > 0:
		keys = append([]string{"^Y answer the question"}, keys...)
	}
	return cells.Fit(fitting(keys, a.columns), a.columns)
}

// formKeys are the keys of a form.
func (q *question) formKeys() []string {
	keys := []string{"[d] let the model decide", "[Esc] later", "PgUp/PgDn"}
	switch asked := q.asks(); {
	case asked == nil || len(asked.Options) == 0:
		return keys
	case asked.Multiple:
		return append([]string{"Up/Down choose", "Space mark", "Enter take"}, keys...)
	}
	return append([]string{"Up/Down choose", "Enter take"}, keys...)
}

// fitting joins the first parts, as many as fit.
func fitting(parts []string, columns int) string {
	text := parts[0]
	for _, part := range parts[1:] {
		if cells.Width(text+" · "+part) > columns {
			break
		}
		text += " · " + part
	}
	return text
}
