package markdown

import (
	"strings"

	"podd/internal/clients/show"
)

var head = show.Style{Bold: true}

// table are the lines of a table: aligned columns or, where they are too wide, a record of
// lines for each row.
func (r renderer) table(t *table) []show.Line {
	n := len(t.columns)
	var rows [][]show.Line
	widths := make([]int, n)
	i := 0
	for c := t.FirstChild(); c != nil; c = c.NextSibling() {
		if i%n == 0 {
			rows = append(rows, make([]show.Line, n))
		}
		st := show.Style{}
		if i < n {
			st = head
		}
		line := show.With(r.inline(c, st)...) // A cell has one line.
		rows[len(rows)-1][i%n] = line
		widths[i%n] = max(widths[i%n], line.Width())
		i++
	}
	total := 3 * (n - 1)
	for _, w := range widths {
		total += w
	}
	if r.width > 0 && total > r.width {
		return r.records(rows)
	}
	var lines []show.Line
	for i, row := range rows {
		if i == 1 {
			lines = append(lines, rule(widths))
		}
		lines = append(lines, gridRow(t.columns, widths, row))
	}
	return lines
}

func gridRow(columns []align, widths []int, row []show.Line) (line show.Line) {
	for i, c := range row {
		before := 0
		after := widths[i] - c.Width()
		switch columns[i] {
		case right:
			before, after = after, 0
		case center:
			before, after = after/2, after-after/2
		}
		if i > 0 {
			line = append(line, show.Safe(" │ ", dim))
		}
		if i == len(row)-1 {
			after = 0
		}
		line = show.With(line, blanks(before), c, blanks(after))
	}
	return line
}

func blanks(n int) show.Line { return show.Plain(strings.Repeat(" ", n), show.Style{}) }

func rule(widths []int) show.Line {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return show.Plain(strings.Join(parts, "─┼─"), dim)
}

// records are the rows of a table, each as lines of the header and the value.
func (r renderer) records(rows [][]show.Line) (lines []show.Line) {
	if len(rows) == 1 {
		rows = append(rows, make([]show.Line, len(rows[0])))
	}
	for i, row := range rows[1:] {
		if i > 0 {
			lines = append(lines, nil)
		}
		for j, value := range row {
			name := show.With(rows[0][j], show.Plain(": ", head))
			lines = append(lines, show.Wrap(show.With(name, value), nil, codeIndent, r.prose)...)
		}
	}
	return lines
}
