package attach

import (
	"context"
	"strings"
	"testing"
)

// Paths are offered while an @path is written. Up and Down choose, Tab takes, Esc closes,
// and Enter sends what stands there.
func TestPathOffers(t *testing.T) {
	a := here(t, t.TempDir())
	var asked []string
	a.prompt.paths.find = func(_ context.Context, prefix string) ([]string, error) {
		asked = append(asked, prefix)
		switch {
		case strings.HasPrefix(prefix, "dir/"):
			return []string{"dir/x"}, nil
		case prefix == "none":
			return nil, nil
		case strings.HasPrefix(prefix, "one"):
			return []string{"one.go"}, nil
		}
		return []string{"a.go", "dir/", "c.go"}, nil
	}
	answered := func() {
		for a.prompt.paths.asking {
			(<-a.do)()
		}
	}
	types := func(text string) {
		for _, r := range text {
			a.press(key{keyText, string(r)})
			answered()
		}
	}
	offered := func() string { return strings.Join(a.prompt.paths.rows(10), " ") }
	expect := func(what, draft, rows string) {
		t.Helper()
		if a.prompt.draft.text() != draft || offered() != rows {
			t.Fatalf("%s: the draft is %q with %q, want %q with %q", what, a.prompt.draft.text(), offered(), draft, rows)
		}
	}
	types("see @x")
	expect("typed", "see @x", "> @a.go   @dir/   @c.go")
	a.press(key{kind: keyUp})
	expect("up", "see @x", "  @a.go   @dir/ > @c.go")
	a.press(key{kind: keyDown})
	a.press(key{kind: keyDown})
	expect("down", "see @x", "  @a.go > @dir/   @c.go")
	a.press(key{kind: keyTab})
	answered()
	expect("a directory goes on", "see @dir/", "> @dir/x")
	a.press(key{kind: keyEscape})
	expect("closed", "see @dir/", "")
	n := len(asked)
	a.press(key{kind: keyPageUp})
	if len(asked) != n {
		t.Errorf("a key that changes nothing asks for %q", asked[n:])
	}
	a.press(key{kind: keyTab})
	answered()
	expect("a single one", "see @dir/x ", "")
	types("@none")
	a.press(key{kind: keyTab})
	answered()
	if a.said != "no such path" {
		t.Errorf("without any: %q", a.said)
	}
	a.prompt.draft.clear()
	// Enter waits for the completion before it, and for a choice if there is one.
	for _, r := range "@x" {
		a.press(key{keyText, string(r)})
	}
	a.press(key{kind: keyTab})
	a.press(key{kind: keyEnter})
	answered()
	expect("entered before the paths came", "@x", "> @a.go   @dir/   @c.go")
	a.prompt.draft.clear()
	// What was typed while podd was asked counts.
	for _, r := range "@one" {
		a.press(key{keyText, string(r)})
	}
	answered()
	expect("typed at once", "@one", "> @one.go")
	types(".go")
	expect("typed in full", "@one.go", "")
	if rows := (&pathOffers{list: []string{"a", "b", "c"}, at: 2}).rows(2); strings.Join(rows, "") != "  @b> @c" {
		t.Errorf("two rows of three: %q", rows)
	}
}
