package show

import (
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
)

// tab is what a tab becomes: a span has no tabs, whose width depends on where it stands.
const tab = "    "

// Span is safe text of one style, without newlines and tabs.
type Span struct {
	text  string
	style Style
}

// Safe makes a span of any text. What could control the terminal becomes a visible escape,
// a newline too.
func Safe(text string, s Style) Span {
	return Span{sanitize.Line(strings.ReplaceAll(text, "\t", tab)), s}
}

// Text is the span's safe text.
func (s Span) Text() string { return s.text }

// Style is the span's style.
func (s Span) Style() Style { return s.style }

// Line is a line of a screen.
type Line []Span

// Plain is a line of one span.
func Plain(text string, s Style) Line {
	if text == "" {
		return nil
	}
	return Line{Safe(text, s)}
}

// Text makes a line of each line of text.
func Text(text string, s Style) []Line {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var lines []Line
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, Plain(line, s))
	}
	return lines
}

// String is the line's safe text without styles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Width is how many columns the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += cells.Width(s.text)
	}
	return n
}

// Blank says that the line shows nothing.
func (l Line) Blank() bool { return strings.TrimSpace(l.String()) == "" }

// In is the line with a style beneath its own.
func (l Line) In(s Style) Line {
	out := make(Line, len(l))
	for i, span := range l {
		out[i] = Span{span.text, s.Add(span.style)}
	}
	return out
}

// With are lines one behind the other, as a new line.
func With(parts ...Line) Line {
	var out Line
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Append appends the line with SGR sequences for its styles, and without a newline. Without
// color only bold and the like remain, as NO_COLOR asks.
func (l Line) Append(dst []byte, color bool) []byte {
	for _, s := range l {
		if s.text == "" {
			continue
		}
		begin := len(dst)
		dst = s.style.sgr(append(dst, "\x1b["...), color)
		if len(dst) == begin+2 { // Plain.
			dst = append(dst[:begin], s.text...)
			continue
		}
		dst[len(dst)-1] = 'm'
		dst = append(append(dst, s.text...), "\x1b[0m"...)
	}
	return dst
}

// SGR is the line as Append writes it.
func (l Line) SGR(color bool) string { return string(l.Append(nil, color)) }
