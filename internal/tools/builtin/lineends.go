package builtin

import (
	"sort"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"podd/pkg/tool"
)

// byteOrderMark may begin a text. It is not part of the first line.
const byteOrderMark = "\ufeff"

// bare is a text with the line ends that a model writes.
func bare(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// endAt is the end of a line, or of the nearest one that has an end.
func endAt(lines []textLine, i int) string {
	i = max(0, min(i, len(lines)-1))
	for at := i; at >= 0 && at < len(lines); at-- {
		if lines[at].end != "" {
			return lines[at].end
		}
	}
	for at := i + 1; at < len(lines); at++ {
		if lines[at].end != "" {
			return lines[at].end
		}
	}
	return "\n"
}

// replacing is the index of the line whose end the line i gets of those that replace lines[from:to].
func replacing(i, from, to int) int {
	if from == to {
		return from - 1
	}
	return min(from+i, to-1)
}

// placesOf are where old begins and ends in a text: as it is, or with other line ends.
func placesOf(text, old string) (places [][2]int) {
	if strings.Contains(old, "\r") || !strings.Contains(old, "\n") || !strings.Contains(text, "\r\n") {
		for _, at := range occurrences(text, old) {
			places = append(places, [2]int{at, at + len(old)})
		}
		if len(places) > 0 || !strings.Contains(old, "\r\n") {
			return places
		}
	}
	plain := bare(text)
	old = bare(old)
	at, done := 0, 0
	skip := func(to int) int {
		for ; done < to; done++ {
			if strings.HasPrefix(text[at:], "\r\n") {
				at++
			}
			at++
		}
		return at
	}
	for _, start := range occurrences(plain, old) {
		begin := skip(start)
		places = append(places, [2]int{begin, skip(start + len(old))})
	}
	return places
}

// ends gives added text the line ends of the places that it goes to.
type ends struct {
	lines []textLine
	from  []int
}

// endsOf are those of a text; nil if all its lines end in the same way as those of a model.
func endsOf(text string) *ends {
	if !strings.Contains(text, "\r\n") {
		return nil
	}
	lines := splitLines(text)
	return &ends{lines, offsets(lines)}
}

// line is the index of the line that has an offset.
func (e *ends) line(offset int) int {
	return max(0, sort.Search(len(e.lines), func(i int) bool { return e.from[i+1] > offset }))
}

// of is the text that replaces text[start:end], with the ends of the lines that it replaces.
func (e *ends) of(start, end int, text string) string {
	if e == nil || !strings.Contains(text, "\n") {
		return text
	}
	parts := strings.Split(bare(text), "\n")
	from := e.line(start)
	to := max(from, e.line(max(start, end-1))) + 1
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		switch {
		case i == len(parts)-1:
		case i == len(parts)-2 && parts[i+1] == "":
			b.WriteString(endAt(e.lines, to-1))
		default:
			b.WriteString(endAt(e.lines, replacing(i, from, to)))
		}
	}
	return b.String()
}

// asBefore is new content of a whole file with the byte order mark and the line ends that it had: a
// model writes neither. kept says so.
func asBefore(before, content string) (text, kept string) {
	if content == "" {
		return content, ""
	}
	if strings.HasPrefix(before, byteOrderMark) && !strings.HasPrefix(content, byteOrderMark) {
		content, kept = byteOrderMark+content, "byte order mark"
	}
	if !strings.Contains(before, "\r\n") || strings.Contains(content, "\r") || !strings.Contains(content, "\n") {
		return content, kept
	}
	if kept != "" {
		kept += " and "
	}
	return endsKept(before, content), kept + "CRLF line ends"
}

// endsKept gives content the line ends of the file before: those of each line that is still there,
// and for others those of the lines that they replace.
func endsKept(before, content string) string {
	old, now := splitLines(before), splitLines(content)
	edits, ok := editsOf(bare(before), content)
	if !ok {
		edits = []udiff.Edit{{Start: 0, End: len(bare(before)), New: content}}
	}
	lineAt, at, line := 0, 0, 0 // of now, and the offset and the line of the text before
	plain := bare(before)
	give := func(n, from, to int) {
		for i := range n {
			if now[lineAt].end != "" {
				now[lineAt].end = endAt(old, replacing(i, from, to))
			}
			lineAt++
		}
	}
	for _, e := range edits {
		same := strings.Count(plain[at:e.Start], "\n")
		give(same, line, line+same)
		gone := int(tool.CountLines(plain[e.Start:e.End]))
		give(int(tool.CountLines(e.New)), line+same, line+same+gone)
		line, at = line+same+gone, e.End
	}
	give(len(now)-lineAt, line, len(old))
	return joinLines(now)
}
