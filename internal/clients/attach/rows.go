package attach

import (
	"strings"

	"podd/internal/clients/cells"
)

// place is where a cell is drawn.
type place struct{ row, column int }

// lay lays the text out in rows of at most columns, the first after a prompt. It returns
// the place of each cell, and the one behind the last.
func (e *editor) lay(prompt string, columns int) (rows []string, places []place) {
	room := max(columns-1, 4)
	line, used, drawn := prompt, cells.Width(prompt), cells.Advance(prompt)
	rest := strings.Repeat(" ", min(used, room/2))
	wrap := func() {
		rows = append(rows, line)
		line, used, drawn = rest, len(rest), len(rest)
	}
	for i := 0; i <= len(e.cells); i++ {
		shown := ""
		if i < len(e.cells) && e.cells[i] != newline {
			shown = e.cells[i].shown()
		}
		if used+cells.Width(shown) > room && used > len(rest) {
			wrap()
		}
		places = append(places, place{len(rows), min(drawn, columns-1)})
		if i < len(e.cells) && e.cells[i] == newline {
			wrap()
			continue
		}
		for used+cells.Width(shown) > room {
			head, tail := cells.Split(shown, room-used, true)
			if tail == "" {
				break
			}
			line += head
			shown = tail
			wrap()
		}
		line += shown
		used += cells.Width(shown)
		drawn += cells.Advance(shown)
	}
	return append(rows, line), places
}

// rows are the rows of the text, and the position of the cursor.
func (e *editor) rows(prompt string, columns int) (rows []string, row, column int) {
	rows, places := e.lay(prompt, columns)
	return rows, places[e.at].row, places[e.at].column
}

// vertical moves the cursor to the row above (-1) or below (1); false without such a row.
func (e *editor) vertical(by int, prompt string, columns int) bool {
	_, places := e.lay(prompt, columns)
	from, found := places[e.at], false
	for i, p := range places {
		if p.row == from.row+by && (!found || p.column <= from.column) {
			e.at, found = i, true
		}
	}
	return found
}
