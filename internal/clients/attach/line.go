package attach

import (
	"strings"
	"unicode/utf8"

	"podd/internal/clients/cells"
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
		indent = indent[:min(len(indent), columns/2)]
		lines = append(lines, show.Wrap(l, in(s, first), in(s, rest+indent), columns)...)
		first = rest
	}
	return lines
}

// painted is a line as it is written, cut to the screen. Without graphemes the terminal
// draws the runes of a character one by one, so a character shows as its first rune: the
// line must not become wider, which would hide its end.
func painted(l line, color, graphemes bool, columns int) string {
	l = l.Fit(columns)
	text := l.SGR(color)
	if graphemes || ascii(text) {
		return text
	}
	var b strings.Builder
	for g, width := range cells.Graphemes(text) {
		drawn := 0
		for _, r := range g {
			drawn += cells.Width(string(r))
		}
		if drawn > width {
			_, n := utf8.DecodeRuneInString(g)
			g, drawn = g[:n], cells.Width(g[:n])
		}
		b.WriteString(g)
		b.WriteString(strings.Repeat(" ", max(width-drawn, 0)))
	}
	return b.String()
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// joined is a screen as text for the terminal.
func joined(lines []line, color, graphemes bool, columns int) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(painted(l, color, graphemes, columns))
	}
	return b.String()
}
