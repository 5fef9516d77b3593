package attach

import (
	"fmt"

	"podd/internal/clients/cells"
	"podd/internal/clients/view"
)

// The most rows of a screen for the draft, for what is offered and for tasks.
const (
	mostInput   = 6
	mostOffered = 4
	mostTasks   = 5
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
		if len(a.questions) == 0 {
			return nil
		}
		return a.questions[0].lines(a.columns)
	}
}

// blockCount counts the questions as one.
func (a *app) blockCount() int { return len(a.log.blocks) + 1 }

// logRows is how many rows the transcript has.
func (a *app) logRows() int {
	input, _, _ := a.inputRows()
	return max(a.rows-len(input)-len(a.panels())-2, 1)
}

// inputRows is the draft: its rows on the screen, and the position of the cursor.
func (a *app) inputRows() (rows []string, row, column int) {
	prompt := "> "
	if a.plan {
		prompt = "plan> "
	}
	if a.answering {
		prompt = "Run it? "
	}
	rows, row, column = a.written().rows(prompt, a.columns)
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
	if a.showsTasks() {
		rows = taskRows(a.log.tasks(), min(mostTasks, a.rows/4), a.columns)
	}
	most := max(min(mostOffered, a.rows/4), 1)
	for i, offer := range a.offered {
		if i == most-1 && len(a.offered) > most {
			return append(rows, in(dim, fmt.Sprintf("  and %s more", view.Count(int64(len(a.offered)-i)))))
		}
		rows = append(rows, in(dim, "  "+offer))
	}
	return rows
}

// draw lays the screen out: as many lines as it has rows, and the position of the cursor.
func (a *app) draw() (lines []line, row, column int) {
	if !a.ready && a.said != "" && a.draft.empty() {
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
// is on it has been seen.
func (a *app) transcriptLines(rows int) []line {
	pg := a.view.page(a.layouts(), a.blockCount(), rows)
	if len(a.questions) > 0 && pg.tailFrom >= 0 {
		q := a.questions[0]
		for i := pg.tailFrom; i < min(pg.tailUpTo, len(q.seen)); i++ {
			q.seen[i] = true
		}
	}
	return append(make([]line, rows-len(pg.lines)), pg.lines...)
}

// hint is the view's own message, or a list of keys.
func (a *app) hint() string {
	if a.said != "" {
		return cells.Fit(a.said, a.columns)
	}
	keys := []string{"Enter send", "^D leave", "^T tools", "PgUp/PgDn", "Tab @path", "^X cancel the turn", "Alt-Enter new line"}
	switch {
	case a.answering:
		keys = []string{view.Answers, "[Esc] later", "PgUp/PgDn"}
		if !a.questions[0].whole() {
			keys = []string{"PgUp to read all of it", "[n REASON] deny", "[Esc] later"}
		}
	case len(a.questions) > 0:
		keys = append([]string{"^Y answer the question"}, keys...)
	}
	return cells.Fit(fitting(keys, a.columns), a.columns)
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
