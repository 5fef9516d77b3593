package attach

import (
	"strings"
	"unicode/utf8"

	"podd/internal/clients/view"
)

// Styles of text, on terminals that have colours.
const (
	plain  style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	cyan   style = "\x1b[36m"
)

type style string

// line is a safe line and its style.
type line struct {
	text  string
	style style
}

// paint is the line as it is written.
func (l line) paint(color bool, columns int) string {
	text := fitted(l.text, columns)
	if !color || l.style == plain {
		return text
	}
	return string(l.style) + text + "\x1b[m"
}

// fitted cuts a safe line that is too long for the screen.
func fitted(text string, columns int) string {
	used := 0
	for i, r := range text {
		if used += view.RuneWidth(r); used > columns {
			return text[:i]
		}
	}
	return text
}

// wordWrap cuts a safe line into lines of at most columns, between words if possible.
// Lines after the first get the indent.
func wordWrap(text, indent string, columns int) (lines []string) {
	room := max(columns, 8)
	begin, used, space := 0, 0, -1
	lead := ""
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == ' ' {
			space = i
		}
		if used+view.RuneWidth(r) > room && i > begin {
			end, next := i, i
			if space > begin {
				end, next = space, space+1
			}
			lines = append(lines, lead+text[begin:end])
			begin, i, space, lead = next, next, -1, indent
			used = len(indent)
			continue
		}
		used += view.RuneWidth(r)
		i += size
	}
	return append(lines, lead+strings.TrimRight(text[begin:], " "))
}
