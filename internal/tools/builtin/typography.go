package builtin

import (
	"slices"
	"strings"
	"unicode"

	udiff "github.com/aymanbagabas/go-udiff"
)

// The quotes that models confuse.
const (
	singleQuotes = "'‘’‚‛"
	doubleQuotes = "\"“”„‟"
)

// quoteKind is the first character of the quotes that one belongs to; 0 for another character.
func quoteKind(r rune) rune {
	for _, kind := range []string{singleQuotes, doubleQuotes} {
		if strings.ContainsRune(kind, r) {
			return rune(kind[0])
		}
	}
	return 0
}

// typography is how a file writes what a model wrote in other characters.
type typography struct {
	wrote string
	// style is the file's character for each one of wrote.
	style []rune
	// seen are the file's quotes of each kind.
	seen map[rune][]rune
}

// typographyOf compares lines of a file with those that a model wrote for them; nil if they have the
// same characters but for blanks around them.
func typographyOf(have []textLine, wrote []string) *typography {
	t := &typography{wrote: strings.Join(wrote, "\n"), seen: make(map[rune][]rune)}
	differs := false
	for i, line := range wrote {
		if i > 0 {
			t.style = append(t.style, '\n')
		}
		from := len(t.style)
		t.style = append(t.style, []rune(line)...)
		mine, theirs := []rune(trimmed(line)), []rune(trimmed(have[i].text))
		if len(mine) != len(theirs) {
			continue
		}
		from += len([]rune(indentation(line)))
		for j, r := range theirs {
			t.style[from+j] = r
			differs = differs || mine[j] != r
			if kind := quoteKind(r); kind != 0 && !slices.Contains(t.seen[kind], r) {
				t.seen[kind] = append(t.seen[kind], r)
			}
		}
	}
	if !differs {
		return nil
	}
	return t
}

// trimmed is a line without its indentation and the blanks at its end, which may be typographic.
func trimmed(line string) string {
	return strings.TrimRightFunc(line[len(indentation(line)):], func(r rune) bool { return unicode.IsSpace(r) })
}

// of is a text that replaces what the model wrote, in the characters of the file: what stays keeps
// them, and new quotes become like those around them. It fails if the file has quotes of both styles
// there, and the text has new ones.
func (t *typography) of(text string) (string, bool) {
	if t == nil {
		return text, true
	}
	var out []rune
	at, ok := 0, true // index in style
	rest := t.wrote
	add := func(r rune) {
		kind := quoteKind(r)
		if kind != 0 && len(t.seen[kind]) > 0 {
			var fits bool
			r, fits = directed(kind, t.seen[kind], out)
			ok = ok && fits
		}
		out = append(out, r)
	}
	keep := func(n int) {
		same := []rune(rest[:n])
		for i, r := range t.style[at : at+len(same)] {
			// A quote alone may be another one: between other characters, it opens or closes again.
			if len(same) == 1 && quoteKind(r) != 0 {
				add(same[i])
			} else {
				out = append(out, r)
			}
		}
		at, rest = at+len(same), rest[n:]
	}
	done := 0
	for _, e := range udiff.Strings(t.wrote, text) {
		keep(e.Start - done)
		gone := rest[:e.End-e.Start]
		at, rest, done = at+len([]rune(gone)), rest[len(gone):], e.End
		for _, r := range e.New {
			add(r)
		}
	}
	keep(len(rest))
	return string(out), ok
}

// directed is the quote of a kind that follows a text, in the style of the quotes that a file has; false
// if it has two styles.
func directed(kind rune, seen, before []rune) (rune, bool) {
	straight := slices.Contains(seen, kind)
	if straight {
		return kind, len(seen) == 1
	}
	open, closing := '‘', '’'
	if kind == '"' {
		open, closing = '“', '”'
	}
	if low := map[rune]rune{'\'': '‚', '"': '„'}[kind]; slices.Contains(seen, low) {
		// „Gänsefüßchen“
		if !slices.Contains(seen, closing) {
			closing = open
		}
		open = low
	}
	if len(before) == 0 {
		return open, true
	}
	last := before[len(before)-1]
	if unicode.IsSpace(last) || strings.ContainsRune("([{<—–-/=", last) || quoteKind(last) != 0 && quoteKind(last) != kind && !unicode.IsLetter(last) && opens(before) {
		return open, true
	}
	return closing, true
}

// opens says that the last quote of a text is an opening one.
func opens(text []rune) bool {
	return len(text) == 1 || unicode.IsSpace(text[len(text)-2]) || strings.ContainsRune("([{<", text[len(text)-2])
}

// restyled are lines that replace those that a model wrote for lines of the file, in the file's
// typography.
func restyled(have []textLine, wrote, lines []string) ([]string, bool) {
	t := typographyOf(have, wrote)
	if t == nil || len(lines) == 0 {
		return lines, true
	}
	text, ok := t.of(strings.Join(lines, "\n"))
	return strings.Split(text, "\n"), ok
}
