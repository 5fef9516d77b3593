package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podd/internal/sanitize"
)

// MaxFolded is how many lines of a diff show in full; of a longer one Folded show.
const (
	MaxFolded = 12
	Folded    = 8
)

// Diff are the lines of a unified diff: numbers, signs and colours, and in lines that are
// much alike the words that changed. Without full, a long diff is folded and the last line
// says how to see the rest. Width below 1 means no limit.
func Diff(path, diff string, full bool, how string, width int) []Line {
	rows := diffRows(diff)
	lines := []Line{{Safe(path, Style{Bold: true})}}
	hidden := 0
	if !full && len(rows) > MaxFolded {
		rows, hidden = rows[:Folded], len(rows)-Folded
	}
	shown, digits := laid(rows, width)
	lines = append(lines, shown...)
	if hidden > 0 {
		more := fmt.Sprintf("+%d more", hidden)
		if how != "" {
			more += ", " + how
		}
		lines = append(lines, Plain(strings.Repeat(" ", digits+1)+more, Style{Dim: true}))
	}
	return lines
}

// Proposed are the lines of a unified diff for a person who decides on it: all of them, with
// what a terminal hides as escapes. Line ends are shown where they differ.
func Proposed(diff string, width int) []Line {
	lines, _ := laid(diffRows(exact(diff)), width)
	return lines
}

// exact is a diff in which hidden characters are escapes.
func exact(diff string) string {
	var b strings.Builder
	carriage := !slices.ContainsFunc(strings.Split(strings.TrimSuffix(diff, "\n"), "\n"), func(line string) bool {
		return line != "" && strings.IndexByte("+- ", line[0]) >= 0 && !strings.HasSuffix(line, "\r")
	})
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\\") {
			line = "\\ no newline at the end of the file"
		}
		if carriage {
			line = strings.TrimSuffix(line, "\r")
		}
		shown, _ := sanitize.Exact(line)
		b.WriteString(shown + "\n")
	}
	return b.String()
}

// laid are rows as lines, and how many digits their numbers have.
func laid(rows []row, width int) (lines []Line, digits int) {
	digits = 1
	for _, r := range rows {
		digits = max(digits, len(strconv.Itoa(r.number)))
	}
	for _, r := range rows {
		lines = append(lines, r.lines(digits, width)...)
	}
	return lines, digits
}

// row is a line of a diff.
type row struct {
	// sign is '+', '-', ' ', or 0 for what is about the diff.
	sign   byte
	number int
	text   string
	// marks are the parts of the text that changed, if they are marked.
	marks []part
}

func diffRows(diff string) (rows []row) {
	before, after := 0, 0
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case strings.HasPrefix(line, "@@"):
			if len(rows) > 0 {
				rows = append(rows, row{text: "…"})
			}
			if _, err := fmt.Sscanf(line, "@@ -%d", &before); err != nil {
				before = 0
			}
			if at := strings.IndexByte(line, '+'); at < 0 {
				after = 0
			} else if _, err := fmt.Sscanf(line[at:], "+%d", &after); err != nil {
				after = 0
			}
		case strings.HasPrefix(line, "\\ No newline"):
		case line == "" || line[0] == ' ':
			rows = append(rows, row{sign: ' ', number: after, text: strings.TrimPrefix(line, " ")})
			before, after = before+1, after+1
		case line[0] == '+':
			rows = append(rows, row{sign: '+', number: after, text: line[1:]})
			after++
		case line[0] == '-':
			rows = append(rows, row{sign: '-', number: before, text: line[1:]})
			before++
		default:
			rows = append(rows, row{text: strings.TrimPrefix(line, "\\ ")})
		}
	}
	markPairs(rows)
	return rows
}

// lines are the row as lines of at most width columns.
func (r row) lines(digits, width int) []Line {
	st := map[byte]Style{'+': {Color: Green}, '-': {Color: Red}, 0: {Dim: true}}[r.sign]
	number := strings.Repeat(" ", digits)
	if r.sign != 0 {
		number = fmt.Sprintf("%*d", digits, r.number)
	}
	sign := " "
	if r.sign != 0 {
		sign = string(r.sign)
	}
	first := Line{Safe(number+" ", Style{Dim: true}), Safe(sign, st)}
	rest := Line{Safe(strings.Repeat(" ", digits+1), Style{}), Safe(sign, st)}
	text := Plain(r.text, st)
	if r.marks != nil {
		text = nil
		for _, p := range r.marks {
			s := st
			s.Bold, s.Underline = p.changed, p.changed
			text = append(text, Safe(p.text, s))
		}
	}
	return WrapAnywhere(text, first, rest, width)
}
