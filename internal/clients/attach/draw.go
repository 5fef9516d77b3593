package attach

import (
	"fmt"
	"strings"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// The most rows of a screen for the draft and for offered paths.
const (
	mostInput   = 6
	mostOffered = 4
)

// layouts gives the lines of the transcript's blocks; the last block is the question.
func (a *app) layouts() layouts {
	columns := a.screen.columns
	return func(block int) []line {
		if block < len(a.log.blocks) {
			return a.log.layout(a.log.blocks[block], columns)
		}
		if len(a.questions) == 0 {
			return nil
		}
		return a.questions[0].lines(columns)
	}
}

// blockCount counts the questions as one.
func (a *app) blockCount() int { return len(a.log.blocks) + 1 }

// logRows is how many rows the transcript has.
func (a *app) logRows() int {
	input, _, _ := a.inputRows()
	return max(a.screen.rows-len(input)-len(a.offerRows())-2, 1)
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
	rows, row, column = a.written().rows(prompt, a.screen.columns)
	most := max(min(mostInput, a.screen.rows/3), 1)
	if over := len(rows) - most; over > 0 {
		from := min(max(row-most+1, 0), over)
		rows, row = rows[from:from+most], row-from
	}
	return rows, row, column
}

// offerRows are the offered paths.
func (a *app) offerRows() (rows []string) {
	most := max(min(mostOffered, a.screen.rows/4), 1)
	for i, path := range a.offered {
		if i == most-1 && len(a.offered) > most {
			return append(rows, fmt.Sprintf("  and %s more", view.Count(int64(len(a.offered)-i))))
		}
		rows = append(rows, view.Fit("  "+path, a.screen.columns))
	}
	return rows
}

// draw draws the screen.
func (a *app) draw() error {
	if !a.ready && a.said != "" && a.draft.empty() {
		return a.screen.draw([]string{fitted(a.said, a.screen.columns)}, 0, 0)
	}
	rows := a.logRows()
	pg := a.view.page(a.layouts(), a.blockCount(), rows)
	if len(a.questions) > 0 && pg.tailFrom >= 0 {
		q := a.questions[0]
		for i := pg.tailFrom; i < min(pg.tailUpTo, len(q.seen)); i++ {
			q.seen[i] = true
		}
	}
	var lines []string
	for range rows - len(pg.lines) {
		lines = append(lines, "")
	}
	for _, l := range pg.lines {
		lines = append(lines, l.paint(a.Color, a.screen.columns))
	}
	lines = append(lines, line{a.statusLine(pg), cyan}.paint(a.Color, a.screen.columns))
	for _, l := range a.offerRows() {
		lines = append(lines, line{l, dim}.paint(a.Color, a.screen.columns))
	}
	input, row, column := a.inputRows()
	row += len(lines)
	lines = append(lines, input...)
	lines = append(lines, line{a.hint(), dim}.paint(a.Color, a.screen.columns))
	if over := len(lines) - a.screen.rows; over > 0 {
		lines, row = lines[over:], max(row-over, 0)
	}
	return a.screen.draw(lines, row, column)
}

// statusLine describes the pod in parts; the last parts are left out if there is no room.
func (a *app) statusLine(pg page) string {
	parts := []string{"── " + sanitize.Line(a.pod.GetName()), a.state()}
	if a.view.up {
		parts = append(parts, "scrolled up: ^G for the latest")
	}
	if n := len(a.questions); n > 1 {
		parts = append(parts, fmt.Sprintf("%d calls wait", n))
	}
	if n := a.pod.GetQueued(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d queued", n))
	}
	switch {
	case a.usage.window > 0:
		parts = append(parts, fmt.Sprintf("context %d%%", a.usage.tokens*100/a.usage.window))
	case a.usage.tokens > 0:
		parts = append(parts, "context "+view.Count(a.usage.tokens))
	}
	if u := a.pod.GetUsage(); u.GetInputTokens() > 0 {
		parts = append(parts, fmt.Sprintf("in %s out %s", view.Count(u.GetInputTokens()), view.Count(u.GetOutputTokens())))
	}
	if a.usage.cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", a.usage.cost))
	}
	// The pod's state is always shown; its reason is cut if there is no room.
	text := view.Fit(parts[0]+" · "+parts[1], a.screen.columns-1)
	for _, part := range parts[2:] {
		if columnsOf(text+" · "+part) > a.screen.columns-1 {
			break
		}
		text += " · " + part
	}
	return text + " " + strings.Repeat("─", max(a.screen.columns-columnsOf(text)-1, 0))
}

// state is what the pod is doing, in one safe line.
func (a *app) state() string {
	switch {
	case a.away:
		return "lost the connection to podd; retrying"
	case len(a.questions) > 0:
		return "a call needs approval"
	case a.pod.GetPause() != nil:
		return "paused: podctl resume " + sanitize.Line(a.pod.GetName())
	case a.turn != 0 && a.pod.GetState() == poddv1.PodState_POD_STATE_WAITING:
		return fmt.Sprintf("turn %d waiting: %s", a.turn, sanitize.Line(view.LocalTimes(a.pod.GetStateReason())))
	case a.turn != 0:
		return fmt.Sprintf("turn %d running", a.turn)
	}
	return strings.ToLower(strings.TrimPrefix(a.pod.GetState().String(), "POD_STATE_"))
}

// hint is the view's own message, or a list of keys.
func (a *app) hint() string {
	if a.said != "" {
		return view.Fit(a.said, a.screen.columns)
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
	text := keys[0]
	for _, k := range keys[1:] {
		if columnsOf(text+" · "+k) > a.screen.columns {
			break
		}
		text += " · " + k
	}
	return view.Fit(text, a.screen.columns)
}
