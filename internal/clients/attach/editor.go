package attach

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"podd/internal/clients/cells"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/transcript"
)

// editor is the text being written: characters, pasted texts of several lines, and pictures. Each
// is one cell.
type editor struct {
	cells []cell
	at    int
}

// cell is one visible character, a pasted text, or a picture.
type cell struct {
	// g is the character: a grapheme.
	g string
	// paste is the pasted text, or a line that describes the picture.
	paste string
	// name says what the pasted text is, if it comes from a command.
	name string
	from origin
	// picture is a picture that podd has already.
	picture *transcript.Image
}

// depicts is the cell of a picture.
func depicts(i transcript.Image) cell { return cell{paste: view.Picture(i), picture: &i} }

// origin says who wrote a character.
type origin int

const (
	// byKey is typed here.
	byKey origin = iota
	// byView was put here, such as a prompt of before: it begins no command.
	byView
	// byPaste was pasted: it begins no command and no @path, wherever the draft goes.
	byPaste
)

func (e *editor) empty() bool { return len(e.cells) == 0 }

func (e *editor) clear() { *e = editor{} }

// insert puts typed text at the cursor.
func (e *editor) insert(text string) { e.write(text, byKey) }

// write puts text at the cursor. What belongs to the character before it joins it.
func (e *editor) write(text string, from origin) {
	if e.at > 0 && e.cells[e.at-1].joins(text) {
		text = e.cells[e.at-1].g + text
		e.cut(e.at-1, e.at)
	}
	for l := range strings.Lines(text) {
		body, ended := strings.CutSuffix(l, "\n")
		for g := range cells.Graphemes(body) {
			e.put(cell{g: g, from: from})
		}
		if ended {
			e.put(newline)
		}
	}
}

// mostLabel is how many columns say what a pasted text is.
const mostLabel = 30

var newline = cell{g: "\n"}

// joins says whether a text after this cell continues its character.
func (c cell) joins(text string) bool {
	if c.paste != "" || c == newline {
		return false
	}
	for g := range cells.Graphemes(c.g + text) {
		return len(g) > len(c.g)
	}
	return false
}

// pasted puts pasted text at the cursor: a single line as characters, more lines as one cell.
// The path of an image becomes an @path.
func (e *editor) pasted(text string) {
	if one := strings.TrimSuffix(text, "\n"); !strings.Contains(one, "\n") {
		if path, ok := imagePath(one); ok {
			e.write(scopefs.FormatRef(item.FileRef{Path: path})+" ", byView)
			return
		}
		e.write(one, byPaste)
		return
	}
	e.put(cell{paste: text})
}

// place puts characters and pasted texts at the cursor as they are.
func (e *editor) place(list []cell) {
	e.cells = slices.Insert(e.cells, e.at, list...)
	e.at += len(list)
}

func (e *editor) put(c cell) {
	e.cells = slices.Insert(e.cells, e.at, c)
	e.at++
}

// cut removes the cells between two positions.
func (e *editor) cut(from, to int) {
	e.cells = slices.Delete(e.cells, from, to)
	e.at = from
}

// press applies a key to the text, if it edits text.
func (e *editor) press(k key) {
	switch k.kind {
	case keyText:
		e.insert(k.text)
	case keyPaste:
		e.pasted(k.text)
	case keyNewline:
		e.put(newline)
	case keyBackspace:
		e.cut(max(e.at-1, 0), e.at)
	case keyDelete:
		e.cut(e.at, min(e.at+1, len(e.cells)))
	case keyDeleteWord:
		e.cut(e.wordLeft(), e.at)
	case keyDeleteToStart:
		e.cut(e.lineStart(), e.at)
	case keyDeleteToEnd:
		e.cut(e.at, e.lineEnd())
	case keyLeft:
		e.at = max(e.at-1, 0)
	case keyRight:
		e.at = min(e.at+1, len(e.cells))
	case keyWordLeft:
		e.at = e.wordLeft()
	case keyWordRight:
		e.at = e.wordRight()
	case keyHome:
		e.at = e.lineStart()
	case keyEnd:
		e.at = e.lineEnd()
	}
}

func (c cell) space() bool { return c.paste == "" && strings.TrimSpace(c.g) == "" }

// trimmed is a text without the blanks around it.
func trimmed(list []cell) []cell {
	for len(list) > 0 && list[0].space() {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].space() {
		list = list[:len(list)-1]
	}
	return slices.Clone(list)
}

func (e *editor) wordLeft() int {
	at := e.at
	for at > 0 && e.cells[at-1].space() {
		at--
	}
	for at > 0 && !e.cells[at-1].space() {
		at--
	}
	return at
}

func (e *editor) wordRight() int {
	at := e.at
	for at < len(e.cells) && e.cells[at].space() {
		at++
	}
	for at < len(e.cells) && !e.cells[at].space() {
		at++
	}
	return at
}

func (e *editor) lineStart() int {
	at := e.at
	for at > 0 && e.cells[at-1] != newline {
		at--
	}
	return at
}

func (e *editor) lineEnd() int {
	at := e.at
	for at < len(e.cells) && e.cells[at] != newline {
		at++
	}
	return at
}

// segments is the text as segments of a submit, in whose texts podd looks for @path. What was
// pasted stays out of them: a text of several lines, and the @ of a single one; so does a slash that begins no command.
func (e *editor) segments() (list []item.Segment) {
	var typed strings.Builder
	flush := func() {
		if typed.Len() > 0 {
			list = append(list, item.TextSegment{Text: typed.String()})
			typed.Reset()
		}
	}
	for i, c := range e.cells {
		first := i == 0 && c.from != byKey && c.g == "/"
		if c.paste == "" && !first && (c.from != byPaste || !strings.Contains(c.g, "@")) {
			typed.WriteString(c.g)
			continue
		}
		flush()
		if i := c.picture; i != nil {
			list = append(list, item.ImageSegment{Image: item.Image{Digest: i.Digest, MediaType: i.MediaType, Name: i.Name}})
			continue
		}
		list = append(list, item.PasteSegment{Text: c.paste + c.g, Name: c.name})
	}
	flush()
	return list
}

// draftOf is the draft that segments are sent from; text is who wrote their texts.
func draftOf(list []item.Segment, text origin) (e editor) {
	for _, s := range list {
		switch s := s.(type) {
		case item.TextSegment:
			e.write(s.Text, text)
		case item.FileRef:
			e.write(scopefs.FormatRef(s), byView)
		case item.PasteSegment:
			if s.Name == "" && !strings.Contains(s.Text, "\n") {
				e.write(s.Text, byPaste)
				continue
			}
			e.put(cell{paste: s.Text, name: s.Name})
		case item.ImageSegment:
			for _, i := range transcript.ImagesOf(item.UserMessage{Images: item.NewImages(s.Image)}) {
				e.put(depicts(i))
			}
		}
	}
	return e
}

// text is the typed text, without pasted texts.
func (e *editor) text() string { return plainText(e.cells) }

func plainText(list []cell) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.g)
	}
	return b.String()
}

// reference is the @path being written at the cursor, without the @, and its start.
func (e *editor) reference() (prefix string, from int, ok bool) {
	for at := e.at; at > 0; at-- {
		c := e.cells[at-1]
		if c.paste != "" || c == newline {
			return "", 0, false
		}
		if c.g == "@" && (at == 1 || opens(e.cells[at-2])) {
			text := plainText(e.cells[at:e.at])
			inQuotes := strings.HasPrefix(text, `"`) && strings.Count(text, `"`) == 1
			return text, at, inQuotes || !strings.ContainsFunc(text, unicode.IsSpace)
		}
	}
	return "", 0, false
}

// opens says whether an @ after this cell begins a reference.
func opens(c cell) bool {
	return c.paste != "" || c.space() || strings.Contains(`([{<"'`, c.g)
}

// complete replaces the reference that begins at from with a path. A pasted @ becomes one that
// the person has chosen.
func (e *editor) complete(from int, path string) {
	e.cells[from-1].from = byView
	e.cut(from, e.at)
	e.insert(path)
}

// shown is a cell as safe text.
func (c cell) shown() string {
	if c.picture != nil {
		return c.paste
	}
	if c.paste == "" {
		return sanitize.Line(c.g)
	}
	count := "1 line"
	if n := strings.Count(strings.TrimSuffix(c.paste, "\n"), "\n") + 1; n > 1 {
		count = view.Count(int64(n)) + " lines"
	}
	what := "pasted"
	if c.name != "" {
		what = sanitize.Line(c.name)
	}
	return fmt.Sprintf("[%s: %s]", cells.Fit(what, mostLabel), count)
}
