package attach

import (
	"strings"

	"podd/internal/clients/desk"
	"podd/internal/clients/show"
)

// Styles of text.
var (
	plain  = show.Style{}
	bold   = show.Style{Bold: true}
	dim    = show.Style{Dim: true}
	red    = show.Style{Color: show.Red}
	yellow = show.Style{Color: show.Yellow}
	cyan   = show.Style{Color: show.Cyan}
)

// line is a line of the screen.
type line = show.Line

// in is a line of one style.
func in(s show.Style, text string) line { return show.Plain(text, s) }

// wrapped are the lines of text, broken between words, each with a lead: the first with
// first, the others with rest. A line's own indentation stays.
func wrapped(text string, s show.Style, first, rest string, columns int) (lines []line) {
	for _, l := range show.Text(strings.Trim(text, "\n"), s) {
		at := l.String()
		indent := at[:len(at)-len(strings.TrimLeft(at, " "))]
		indent = indent[:min(len(indent), max(columns/2-len(rest), 0))]
		lines = append(lines, show.Wrap(l, in(s, first), in(s, rest+indent), columns)...)
		first = rest
	}
	return lines
}

// paint is how lines are written: on a screen of columns, with colours of a theme, or without.
type paint struct {
	color   bool
	columns int
	theme   show.Theme
}

// paint is how the terminal is painted.
func (a *app) paint() paint {
	p := paint{color: a.Color, columns: a.columns, theme: show.Dark}
	if a.Desk.Theme == desk.Light || a.Desk.Theme == desk.Auto && a.light {
		p.theme = show.Light
	}
	return p
}

// painted is a line as it is written, cut to the screen.
func (p *paint) painted(l line) string { return p.theme.In(l.Fit(p.columns)).SGR(p.color) }

// joined is a screen as text for the terminal.
func joined(lines []line, p paint) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.painted(l))
	}
	return b.String()
}
