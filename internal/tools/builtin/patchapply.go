package builtin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/tool"
)

// textLine is a line of a file with its own line end, so that a change does not affect
// the ends of other lines.
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

// hunkPlace is where a hunk applies: it replaces lines[start:end].
type hunkPlace struct {
	hunk
	start, end int
}

// applyHunks is the text after the hunks, which are in order. A byte order mark at the beginning, and
// that the last line has no newline, stay as they are. An error names the hunk.
func applyHunks(text string, hunks []hunk) (after string, added, removed int, err error) {
	body, mark := strings.CutPrefix(text, byteOrderMark)
	lines := splitLines(body)
	var all []hunkPlace
	at := 0 // what the next hunk follows
	for _, h := range hunks {
		p, err := h.locate(lines, at)
		if err != nil {
			return "", 0, 0, fmt.Errorf("hunk %d %w", h.number, err)
		}
		all, at = append(all, p), p.end
	}
	slices.SortStableFunc(all, func(a, b hunkPlace) int { return a.start - b.start })
	var out []textLine
	at = 0 // lines before it are done
	for _, p := range all {
		if p.start < at {
			return "", 0, 0, fmt.Errorf("hunk %d changes line %d, which another hunk changes: write one hunk for both", p.number, p.start+1)
		}
		out = append(out, lines[at:p.start]...)
		out, at = p.apply(out, lines), p.end
		added, removed = added+p.count('+'), removed+p.count('-')
	}
	out = append(out, lines[at:]...)
	for i := range out {
		if out[i].end == "" {
			out[i].end = endAt(lines, len(lines)-1)
		}
	}
	if n, last := len(lines), len(out)-1; n > 0 && lines[n-1].end == "" && last >= 0 {
		out[last].end = ""
	}
	if after = joinLines(out); mark {
		after = byteOrderMark + after
	}
	return after, added, removed, nil
}

// apply appends what the hunk leaves of its lines. An added line gets the end of the one that it
// replaces, or of the one before it.
func (p hunkPlace) apply(out, lines []textLine) []textLine {
	at, added := p.start, 0
	from := at // the lines from here to at were removed last
	for _, l := range p.lines {
		switch l.op {
		case '+':
			out = append(out, textLine{l.text, endAt(lines, replacing(added, from, at))})
			added++
		case '-':
			at++
		default:
			out = append(out, lines[at])
			at++
			from, added = at, 0
		}
	}
	return out
}

// locate finds the lines that the hunk is about, at or after from.
func (h hunk) locate(lines []textLine, from int) (hunkPlace, error) {
	old := h.old()
	start, err := h.after(lines, from)
	if len(old) == 0 {
		if err == nil && h.count('+') > 0 && (h.atEnd || len(h.headers) == 0) {
			start = len(lines)
		}
		return hunkPlace{hunk: h, start: start, end: start}, err
	}
	f := fit{}
	if err == nil {
		f = findLines(lines, old, start, h.atEnd)
	}
	if n := len(f.places); n > 1 && len(h.headers) == 0 {
		return hunkPlace{}, fmt.Errorf("fits at lines %s: add lines around it, or put an earlier line after @@", numbered(f.places))
	} else if n == 0 {
		// The only place where it fits is the one that is meant.
		if f = findLines(lines, old, 0, false); len(f.places) != 1 {
			return hunkPlace{}, cmp.Or(err, h.misses(lines, start))
		}
	}
	place := hunkPlace{hunk: h, start: f.places[0], end: f.places[0] + len(old)}
	if !place.written(lines, f) {
		return hunkPlace{}, h.misses(lines, start)
	}
	return place, nil
}

// written writes the added lines as the file has those around them; false if that is not clear.
func (p *hunkPlace) written(lines []textLine, f fit) bool {
	if f.but == "" {
		return true
	}
	var after []string
	for _, l := range p.lines {
		if l.op != '-' {
			after = append(after, l.text)
		}
	}
	after, ok := restyled(lines[p.start:p.end], p.old(), after)
	p.lines = slices.Clone(p.lines)
	for i, l := range p.lines {
		if l.op == '-' {
			continue
		}
		if l.op == '+' {
			var fits bool
			p.lines[i].text, fits = f.indented(0, after[0])
			ok = ok && fits
		}
		after = after[1:]
	}
	return ok
}

// after is the index of the line after the headers of the hunk.
func (h hunk) after(lines []textLine, from int) (int, error) {
	for _, header := range h.headers {
		i := findHeader(lines[from:], header)
		if i < 0 {
			return from, fmt.Errorf("starts after the line %q, which is not in the file%s: write a line of the file after @@, or none", tool.Shorten(header, 60), after(from))
		}
		from += i + 1
	}
	return from, nil
}

// misses says where the text that a hunk expects stops matching.
func (h hunk) misses(lines []textLine, from int) error {
	old := h.old()
	for len(old) > 1 && strings.TrimSpace(old[0]) == "" {
		old = old[1:]
	}
	at := nearest(lines[from:], old)
	if at < 0 {
		return fmt.Errorf("expects %q, which is not in the file%s: read the file again", tool.Shorten(old[0], 60), after(from))
	}
	_, how := difference(lines, from+at, old)
	return fmt.Errorf("does not fit the file%s: %s; read the file again", after(from), how)
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

// findHeader is the index of the line that the text after @@ means, -1 without one:
// exactly, or except for the space around it, or by its start. It only says where to
// look.
func findHeader(lines []textLine, header string) int {
	header = strings.TrimSpace(header)
	if i := slices.IndexFunc(lines, func(l textLine) bool { return strings.TrimSpace(l.text) == header }); i >= 0 {
		return i
	}
	return slices.IndexFunc(lines, func(l textLine) bool { return strings.HasPrefix(strings.TrimSpace(l.text), header) })
}
