package builtin

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// replacement is the effect of an edit on a text.
type replacement struct {
	edits []udiff.Edit
	// starts are the places of the old text. but says how they differ from what the model
	// wrote.
	starts []int
	but    string
	// mixed says that the file has quotes of two styles there, so that those of new text are not clear.
	mixed bool
}

// replacements finds the old text: exactly, or by lines, or without the escapes that a
// model added to its arguments.
func replacements(text string, args editArgs) replacement {
	if body, marked := strings.CutPrefix(text, byteOrderMark); marked && !strings.HasPrefix(args.Old, byteOrderMark) {
		r := replacements(body, args)
		for i := range r.starts {
			r.starts[i] += len(byteOrderMark)
			r.edits[i].Start += len(byteOrderMark)
			r.edits[i].End += len(byteOrderMark)
		}
		return r
	}
	if places := placesOf(text, args.Old); len(places) > 0 {
		r := replacement{}
		e := endsOf(text)
		switch exact := strings.Contains(text, args.Old); {
		case exact && strings.Contains(args.Old, "\r"):
			e = nil // It is about the line ends.
		case !exact:
			args.New = bare(args.New)
		}
		for _, at := range places {
			r.starts = append(r.starts, at[0])
			r.edits = append(r.edits, udiff.Edit{Start: at[0], End: at[1], New: e.of(at[0], at[1], args.New)})
		}
		return r
	}
	if r := byLines(text, args); len(r.starts) > 0 {
		return r
	}
	bare, ok := unescaped(args)
	if !ok {
		return replacement{}
	}
	r := replacements(text, bare)
	if r.but = "doubled escapes"; len(r.starts) != 1 {
		return replacement{}
	}
	return r
}

// unescaped are the arguments without their escapes. Each must be one line, and old must
// contain an escaped newline.
func unescaped(args editArgs) (editArgs, bool) {
	if strings.Contains(args.Old+args.New, "\n") || !strings.Contains(args.Old, `\n`) {
		return args, false
	}
	escapes := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'")
	args.Old, args.New = escapes.Replace(args.Old), escapes.Replace(args.New)
	return args, true
}

// byLines replaces whole lines. It leaves the lines that old and new share at either end
// as they are in the file.
func byLines(text string, args editArgs) replacement {
	lines := splitLines(text)
	oldText, newText := bare(args.Old), bare(args.New)
	if cut, ok := strings.CutSuffix(oldText, "\n"); ok {
		oldText, newText = cut, strings.TrimSuffix(newText, "\n")
	}
	old, changed := strings.Split(oldText, "\n"), strings.Split(newText, "\n")
	if newText == "" {
		changed = nil
	}
	f := findLines(lines, old, 0, false)
	head, tail := shared(old, changed)
	r, offset := replacement{but: f.but}, offsets(lines)
	after := 0 // of the last place
	for i, at := range f.places {
		if at < after {
			continue
		}
		var added []string
		styled, ok := restyled(lines[at:at+len(old)], old, changed)
		r.mixed = r.mixed || !ok
		for _, line := range styled[head : len(changed)-tail] {
			line, ok := f.indented(i, line)
			if !ok {
				return replacement{}
			}
			added = append(added, line)
		}
		after = at + len(old)
		r.starts = append(r.starts, offset[at])
		r.edits = append(r.edits, udiff.Edit{Start: offset[at+head], End: offset[after-tail], New: withEnds(lines, at+head, after-tail, added)})
	}
	return r
}

// shared counts the lines that a and b share at the beginning and at the end.
func shared(a, b []string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// offsets are the beginnings of all lines, and the end of the last one.
func offsets(lines []textLine) []int {
	at := make([]int, len(lines)+1)
	for i, l := range lines {
		at[i+1] = at[i] + len(l.text) + len(l.end)
	}
	return at
}

// withEnds joins lines that replace lines[from:to], with the ends of those.
func withEnds(lines []textLine, from, to int, added []string) string {
	var b strings.Builder
	for i, line := range added {
		b.WriteString(line)
		// If the last line of the file has no newline, it keeps none.
		if i < len(added)-1 || from == to || lines[to-1].end != "" {
			b.WriteString(endAt(lines, replacing(i, from, to)))
		}
	}
	return b.String()
}
