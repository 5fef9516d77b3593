package attach

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/clients/cells"
	"podd/pkg/item"
)

func written(text string) *editor {
	var e editor
	e.insert(text)
	return &e
}

func TestEditor(t *testing.T) {
	e := written("one two\nthree")
	for _, step := range []struct {
		key  keyKind
		text string
		at   int
	}{
		{keyHome, "one two\nthree", 8},
		{keyBackspace, "one twothree", 7},
		{keyNewline, "one two\nthree", 8},
		{keyWordLeft, "one two\nthree", 4},
		{keyDeleteToEnd, "one \nthree", 4},
		{keyDeleteWord, "\nthree", 0},
		{keyBackspace, "\nthree", 0},
		{keyDelete, "three", 0},
		{keyWordRight, "three", 5},
		{keyRight, "three", 5},
		{keyDeleteToStart, "", 0},
		{keyDelete, "", 0},
	} {
		e.press(key{kind: step.key})
		if e.text() != step.text || e.at != step.at {
			t.Fatalf("key %d leaves %q at %d, want %q at %d", step.key, e.text(), e.at, step.text, step.at)
		}
	}
}

// Pasted text begins no @path: several lines stay one segment, and so does the @ of one line.
func TestPastes(t *testing.T) {
	e := written("see ")
	e.press(key{keyPaste, "@a.txt\n"})
	e.press(key{keyPaste, "x\n@b\n"})
	e.insert("!")
	want := []item.Segment{item.TextSegment{Text: "see "}, item.PasteSegment{Text: "@"}, item.TextSegment{Text: "a.txt"}, item.PasteSegment{Text: "x\n@b\n"}, item.TextSegment{Text: "!"}}
	if got := e.segments(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	rows, _, _ := e.rows("> ", 80)
	if len(rows) != 1 || rows[0] != "> see @a.txt[pasted: 2 lines]!" {
		t.Errorf("it shows %q", rows)
	}
	e.press(key{kind: keyLeft})
	e.press(key{kind: keyBackspace})
	if got := e.segments(); len(got) != 3 {
		t.Errorf("a paste goes as one: %+v", got)
	}
}

func TestReference(t *testing.T) {
	for text, want := range map[string]string{
		"@": "", "see @cmd/m": "cmd/m", `(@x`: "x", `@"a b`: `"a b`,
		"a@b": "-", "no": "-", "@a b": "-", `@"a" b`: "-", "@a\n": "-",
	} {
		prefix, _, ok := written(text).reference()
		if !ok {
			prefix = "-"
		}
		if prefix != want {
			t.Errorf("%q has %q, want %q", text, prefix, want)
		}
	}
	e := written("see @cm now")
	e.at = 7
	_, from, _ := e.reference()
	e.complete(from, "cmd/")
	if e.text() != "see @cmd/ now" || e.at != 9 {
		t.Errorf("%q at %d", e.text(), e.at)
	}
}

// What a person sees as one character is one cell: it is drawn whole, and removed whole.
func TestCharactersOfSeveralRunes(t *testing.T) {
	for _, character := range []string{"👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "é", "❤️"} {
		var e editor
		for _, r := range "a" + character + "b" {
			e.press(key{keyText, string(r)})
		}
		rows, _, _ := e.rows("> ", 40)
		if len(e.cells) != 3 || e.text() != "a"+character+"b" || rows[0] != "> a"+character+"b" {
			t.Errorf("%q has %d cells and is shown as %q", character, len(e.cells), rows)
		}
		e.press(key{kind: keyLeft})
		e.press(key{kind: keyBackspace})
		if e.text() != "ab" {
			t.Errorf("without %q it is %q", character, e.text())
		}
	}
}

// Any text fits the screen, with the cursor on it, and is safe.
func TestEditorRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("ab \n\x1b\u202e漢😀")))).Draw(t, "text")
		columns := rapid.IntRange(20, 100).Draw(t, "columns")
		e := written(text)
		e.at = rapid.IntRange(0, len(e.cells)).Draw(t, "at")
		rows, row, column := e.rows("> ", columns)
		if row < 0 || row >= len(rows) || column < 0 || column >= columns {
			t.Fatalf("the cursor is at %d, %d of %d rows", row, column, len(rows))
		}
		for _, r := range rows {
			if cells.Width(r) > columns || strings.ContainsAny(r, "\x1b\n\u202e") {
				t.Fatalf("row %q", r)
			}
		}
	})
}

// What was pasted stays so wherever the draft goes: into the history of a later view, through
// an editor, into the arguments of a prompt, and back from podd.
func TestPastedForGood(t *testing.T) {
	var sent editor
	sent.insert("see @a.txt and ")
	sent.pasted("@.env")
	sent.pasted("one\n@.env\n")
	sent.insert(" please")
	want := sent.segments()
	ways := map[string]func() editor{
		"a later view": func() editor {
			p := pastFile(func(string) string { return t.TempDir() })
			p.path = filepath.Join(t.TempDir(), "history.jsonl")
			if err := p.add(pastPrompt{Parts: pastParts(sent)}); err != nil {
				t.Fatal(err)
			}
			return p.read("")[0].editor
		},
		"an editor": func() editor { return sent.edited(sent.whole()) },
		"podd": func() editor { // It has made the typed @a.txt a reference.
			list := append([]item.Segment{item.TextSegment{Text: "see "}, item.FileRef{Path: "a.txt"}, item.TextSegment{Text: " and "}}, want[1:]...)
			return draftOf(list, byPaste)
		},
	}
	for name, way := range ways {
		e := way()
		if got := e.segments(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v, want %+v", name, got, want)
		}
	}
}

// Where a pasted text was edited in an editor, its paths are still no references; what was
// written there is one.
func TestPastedAndEdited(t *testing.T) {
	var e editor
	e.pasted("one\n@.env\nthree\n")
	e.pasted("@key.pem")
	for text, want := range map[string][]item.Segment{
		"one\n@.env.\n4":   {item.TextSegment{Text: "one\n"}, item.PasteSegment{Text: "@"}, item.TextSegment{Text: ".env.\n4"}},
		"(@.env:2) @a.go":  {item.TextSegment{Text: "("}, item.PasteSegment{Text: "@"}, item.TextSegment{Text: ".env:2) @a.go"}},
		`see @"key.pem" x`: {item.TextSegment{Text: "see "}, item.PasteSegment{Text: "@"}, item.TextSegment{Text: `"key.pem" x`}},
	} {
		draft := e.edited(text)
		if got := draft.segments(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives %+v, want %+v", text, got, want)
		}
	}
}

// A line of a history that does not say what was pasted begins no @path.
func TestPastOfBefore(t *testing.T) {
	old := pastPrompt{Text: "see @.env"}.prompt()
	if got := old.segments(); len(got) != 3 || old.whole() != "see @.env" {
		t.Errorf("%+v", got)
	}
}
