package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// textLine is a line of a file with its own line end, so that a change leaves the
// ends of other lines alone.
type textLine struct{ text, end string }

func splitLines(text string) []textLine {
	var lines []textLine
	for line := range strings.Lines(text) {
		body, newline := strings.CutSuffix(line, "\n")
		end := ""
		if newline {
			end = "\n"
			if bare, cr := strings.CutSuffix(body, "\r"); cr {
				body, end = bare, "\r\n"
			}
		}
		lines = append(lines, textLine{body, end})
	}
	return lines
}

func joinLines(lines []textLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// applyHunks is the text after the hunks, which follow each other in it. A change
// of the last line leaves it with a newline. An error names the hunk.
func applyHunks(text string, hunks []hunk) (after string, added, removed int, err error) {
	lines := splitLines(text)
	end := "\n"
	if len(lines) > 0 && lines[0].end == "\r\n" {
		end = "\r\n"
	}
	var out []textLine
	at := 0 // lines before it are done
	for _, h := range hunks {
		start, err := h.locate(lines, at)
		if err != nil {
			return "", 0, 0, fmt.Errorf("hunk %d %w", h.number, err)
		}
		out = append(out, lines[at:start]...)
		at = start
		for _, l := range h.lines {
			switch l.op {
			case '+':
				out = append(withNewline(out, end), textLine{l.text, end})
				added++
			case '-':
				at++
				removed++
			default:
				out = append(withNewline(out, end), lines[at])
				at++
			}
		}
	}
	if at < len(lines) {
		out = append(out, lines[at:]...)
	} else {
		out = withNewline(out, end)
	}
	return joinLines(out), added, removed, nil
}

// withNewline gives the last line a newline where it has none.
func withNewline(lines []textLine, end string) []textLine {
	if n := len(lines); n > 0 && lines[n-1].end == "" {
		lines[n-1].end = end
	}
	return lines
}

// locate is the index of the first line that the hunk is about, at or after from.
func (h hunk) locate(lines []textLine, from int) (int, error) {
	for _, header := range h.headers {
		i := findHeader(lines[from:], header)
		if i < 0 {
			return 0, fmt.Errorf("starts after the line %q, which is not in the file%s", shorten(header, 60), after(from))
		}
		from += i + 1
	}
	old := h.old()
	if len(old) == 0 {
		if h.atEnd || len(h.headers) == 0 {
			return len(lines), nil
		}
		return from, nil
	}
	switch places := find(lines, old, from, h.atEnd); {
	case len(places) == 1, len(places) > 1 && len(h.headers) > 0:
		return places[0], nil
	case len(places) > 1:
		return 0, fmt.Errorf("fits at lines %s: add lines around it, or a line that comes before it after @@", numbered(places))
	}
	if elsewhere := find(lines, old, 0, false); len(elsewhere) > 0 && !h.atEnd {
		return 0, fmt.Errorf("fits at line %s only, which is before the hunk above it: give the hunks in the order of the file", numbered(elsewhere[:1]))
	}
	return 0, h.misses(lines, from)
}

// misses says where the text that a hunk expects stops fitting.
func (h hunk) misses(lines []textLine, from int) error {
	where := after(from)
	if h.atEnd {
		where = " at its end"
	}
	old := h.old()
	for len(old) > 1 && strings.TrimSpace(old[0]) == "" {
		old = old[1:]
	}
	file := strings.ReplaceAll(joinLines(lines[from:]), "\r\n", "\n")
	first, near := nearest(file, strings.Join(old, "\n"))
	if len(near) == 0 {
		return fmt.Errorf("expects %q, which is not in the file%s: read the file again", shorten(old[0], 60), where)
	}
	for i, want := range old {
		if i >= len(near) || near[i] != want {
			have := "the end of the file"
			if i < len(near) {
				have = quote(near[i])
			}
			return fmt.Errorf("does not fit the file%s; at line %d it expects %s and there is %s: read the file again", where, from+first+i, quote(want), have)
		}
	}
	return fmt.Errorf("does not fit the file%s: read the file again", where)
}

// quote shows a line with its space, which may be what is wrong with it.
func quote(line string) string {
	const most = 60
	if runes := []rune(line); len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "…"
	}
	return strconv.Quote(line)
}

func after(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" after line %d", from)
}

// numbered lists indexes as line numbers, the first few of them.
func numbered(indexes []int) string {
	const most = 8
	var names []string
	for _, i := range indexes[:min(len(indexes), most)] {
		names = append(names, fmt.Sprint(i+1))
	}
	if len(indexes) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// findHeader is the index of the line that the text after @@ means, -1 if there is
// none: exactly, or but for the space around it, or by its start. It only says
// where to look.
func findHeader(lines []textLine, header string) int {
	header = strings.TrimSpace(header)
	if i := slices.IndexFunc(lines, func(l textLine) bool { return strings.TrimSpace(l.text) == header }); i >= 0 {
		return i
	}
	return slices.IndexFunc(lines, func(l textLine) bool { return strings.HasPrefix(strings.TrimSpace(l.text), header) })
}

// find lists where want stands in lines, at or after from: exactly, or else but
// for space at line ends. Never but for indentation: the added lines would have
// the wrong one, too.
func find(lines []textLine, want []string, from int, atEnd bool) []int {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.TrimRight(a, " \t") == strings.TrimRight(b, " \t") },
	} {
		var places []int
		if atEnd {
			from = max(from, len(lines)-len(want))
		}
		for i := from; i+len(want) <= len(lines); i++ {
			if slices.EqualFunc(lines[i:i+len(want)], want, func(l textLine, text string) bool { return same(l.text, text) }) {
				places = append(places, i)
			}
		}
		if len(places) > 0 {
			return places
		}
	}
	return nil
}
