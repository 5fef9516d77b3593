package prompts

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/pkg/item"
)

// with is a prompt with arguments that were typed, as text.
func with(p Prompt, typed string) (string, error) {
	list, err := p.With([]item.Segment{item.TextSegment{Text: typed}})
	text := ""
	for _, s := range list {
		text += s.(item.TextSegment).Text
	}
	return text, err
}

func TestPrompts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"review.md": "---\ndescription: \"reviews a file\"\nargs: [file, focus]\n---\nReview $FILE for $2; all: $ARGUMENTS. $$1 $HOME\n",
		"Bad.md":    "upper case", "no.txt": "no", "binary.md": "\xff", "long.md": strings.Repeat("x", mostBytes+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	list := in(dir)
	if len(list) != 1 || list[0].Name != "review" || list[0].About != "reviews a file" || !slices.Equal(list[0].Args, []string{"file", "focus"}) || list[0].Arguments() != "file focus" {
		t.Fatalf("%+v", list)
	}
	got, err := with(list[0], `'a b.go' speed`)
	if want := "Review a b.go for speed; all: 'a b.go' speed. $1 $HOME"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for typed, want := range map[string]string{"": "needs file", "one": "needs argument 2", `"open`: "open \""} {
		if _, err := with(list[0], typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", typed, err, want)
		}
	}
}

// Prompts that a person wrote for other agents are there too, and those of the workspace.
func TestPromptsOfOtherAgents(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		home + "/.config/podd/prompts/review.md": "podd's", home + "/.claude/commands/review.md": "Claude's", home + "/.claude/commands/ship.md": "---\nargument-hint: [where]\n---\nShip it.",
		home + "/.codex/prompts/plan-it.md": "Plan.", work + "/.claude/commands/ship.md": "The workspace's", work + "/.claude/commands/lint.md": "Lint.", work + "/.agents/commands/bad.md": "Li\u202ent.",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	names := func(workspace string) (list []string) {
		for _, p := range Own([]string{home + "/.config/podd/prompts", home + "/.claude/commands", home + "/.codex/prompts"}, workspace) {
			filled, err := with(p, "to 'the moon'")
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p.Name+": "+filled)
		}
		return list
	}
	want := []string{"review: podd's\n\nto 'the moon'", "ship: Ship it.\n\nto 'the moon'", "plan-it: Plan.\n\nto 'the moon'", "lint: Lint.\n\nto 'the moon'"}
	if got := names(work); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := names(t.TempDir()); !slices.Equal(got, want[:3]) {
		t.Errorf("%q without those of the workspace", got)
	}
}

// Whatever a prompt and its arguments are, an argument stays as it was typed.
func FuzzPrompt(f *testing.F) {
	f.Add("---\nargs: a\n---\n$A $1 $$ $ARGUMENTS", `x "y z" \q`)
	f.Add("---\n---\n", "'")
	f.Fuzz(func(t *testing.T, text, typed string) {
		filled, err := with(parse("p", text), typed)
		if err == nil && utf8.ValidString(text) && utf8.ValidString(typed) && !utf8.ValidString(filled) {
			t.Errorf("%q with %q gives %q", text, typed, filled)
		}
		if got, err := with(Prompt{Text: "<$ARGUMENTS>"}, typed); err == nil && utf8.ValidString(typed) && got != "<"+strings.TrimSpace(typed)+">" {
			t.Errorf("%q became %q", typed, got)
		}
	})
}

// A paste without a name is an argument and stays a paste. What else comes with the prompt stays behind it. The result is bounded.
func TestSegments(t *testing.T) {
	p := parse("p", "Look at $1, then $2.\n")
	paste, file := item.PasteSegment{Text: "x @y\n"}, item.FileRef{Path: "a.go"}
	got, err := p.With([]item.Segment{item.TextSegment{Text: "it "}, paste, file, item.TextSegment{Text: "@more"}})
	want := []item.Segment{item.TextSegment{Text: "Look at it, then "}, paste, item.TextSegment{Text: ".\n"}, file, item.TextSegment{Text: "@more"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v, want %#v", got, err, want)
	}
	if _, err := with(Prompt{Name: "p", Text: strings.Repeat("$1", 1000)}, strings.Repeat("x", 10_000)); err == nil || !strings.Contains(err.Error(), "/p has more than 1048576 bytes") {
		t.Errorf("too much: %v", err)
	}
}

// A slash that begins no name begins text.
func TestCalled(t *testing.T) {
	for text, want := range map[string]string{"/a-b": "a-b|", "/a x\ny": "a|x\ny", "/a\nx": "a|x", " /a": "|", "/etc/hosts is": "|", "/A": "|", "/": "|", "": "|"} {
		if name, typed, _ := Called(text); name+"|"+typed != want {
			t.Errorf("%q: %q, %q, want %q", text, name, typed, want)
		}
	}
}
