package show

import (
	"strings"

	"podd/internal/clients/cells"
)

// Fit cuts the line to columns and ends it with an ellipsis if it was longer.
func (l Line) Fit(columns int) Line {
	if l.Width() <= columns {
		return l
	}
	var out Line
	for _, s := range l {
		w := cells.Width(s.text)
		if w < columns {
			out, columns = append(out, s), columns-w
			continue
		}
		// Something follows, be it in the next span.
		return append(out, Span{cells.Fit(s.text+"…", columns), s.style})
	}
	return out
}

// least is the least room of a line's own text: a very narrow terminal breaks lines by
// itself.
const least = 10

// Wrap breaks a line between words into lines of at most columns, with first before the
// first one and rest before the others; columns below 1 mean no limit. Blanks at a break
// are left out. A word longer than a line is broken anywhere.
func Wrap(l Line, first, rest Line, columns int) []Line {
	if columns < 1 {
		return []Line{With(first, l)}
	}
	w := wrapper{columns: columns, prefix: first, rest: rest}
	w.begin()
	for _, s := range l {
		text := s.text
		for text != "" {
			n := strings.IndexByte(text, ' ')
			switch n {
			case -1:
				w.word = append(w.word, Span{text, s.style})
				text = ""
			case 0:
				w.flush()
				blanks := len(text) - len(strings.TrimLeft(text, " "))
				w.gap = append(w.gap, Span{text[:blanks], s.style})
				text = text[blanks:]
			default:
				w.word = append(w.word, Span{text[:n], s.style})
				text = text[n:]
			}
		}
	}
	w.flush()
	return append(w.lines, w.line)
}

// WrapAnywhere is Wrap for code and the like: it keeps blanks and breaks in the middle of
// words.
func WrapAnywhere(l Line, first, rest Line, columns int) []Line {
	if columns < 1 || l.Width()+first.Width() <= columns {
		return []Line{With(first, l)}
	}
	w := wrapper{columns: columns, prefix: first, rest: rest}
	w.begin()
	w.word = l
	w.broken()
	return append(w.lines, w.line)
}

// wrapper is the state of Wrap.
type wrapper struct {
	columns      int
	prefix, rest Line

	lines []Line
	line  Line
	// room is what is left of the line, empty that it has no word yet.
	room  int
	empty bool
	// word is the word so far; gap the blanks before it.
	word, gap Line
}

// begin begins a line.
func (w *wrapper) begin() {
	w.line = With(w.prefix)
	w.room = max(w.columns-w.prefix.Width(), least)
	w.prefix, w.empty = w.rest, true
}

// next ends the line and begins another.
func (w *wrapper) next() {
	w.lines = append(w.lines, w.line)
	w.begin()
}

// flush puts the word into the line, or into the next one.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	gap, width := w.gap.Width(), w.word.Width()
	switch {
	case !w.empty && gap+width > w.room:
		w.next()
	case !w.empty || len(w.lines) == 0:
		w.put(w.gap, gap)
	}
	w.gap = nil
	if width > w.room {
		w.broken()
		return
	}
	w.put(w.word, width)
	w.word = nil
}

// broken puts the word into as many lines as it needs.
func (w *wrapper) broken() {
	for _, s := range w.word {
		for text := s.text; text != ""; {
			head, tail := cells.Split(text, w.room, w.empty)
			if head == "" { // Not even one grapheme.
				w.next()
				continue
			}
			w.put(Line{{head, s.style}}, cells.Width(head))
			if text = tail; text != "" {
				w.next()
			}
		}
	}
	w.word = nil
}

func (w *wrapper) put(l Line, width int) {
	for _, s := range l {
		if last := len(w.line) - 1; last >= 0 && w.line[last].style == s.style {
			w.line[last].text += s.text
			continue
		}
		w.line = append(w.line, s)
	}
	w.room -= width
	w.empty = w.empty && len(l) == 0
}
