package ownprompts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

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
	if len(list) != 1 || list[0].Name != "review" || list[0].About != "reviews a file" || !slices.Equal(list[0].Args, []string{"file", "focus"}) || !list[0].Takes() {
		t.Fatalf("%+v", list)
	}
	got, err := list[0].With(`'a b.go' speed`)
	if want := "Review a b.go for speed; all: 'a b.go' speed. $1 $HOME"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for typed, want := range map[string]string{"": "needs file", "one": "needs argument 2", `"open`: "open \""} {
		if _, err := list[0].With(typed); err == nil || !strings.Contains(err.Error(), want) {
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
		for _, p := range Own(func(name string) string { return map[string]string{"HOME": home}[name] }, workspace) {
			filled, err := p.With("to 'the moon'")
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
	if got := names(""); !slices.Equal(got, want[:3]) {
		t.Errorf("%q of another machine", got)
	}
}

// Whatever a prompt and its arguments are, an argument stays as it was typed.
func FuzzPrompt(f *testing.F) {
	f.Add("---\nargs: a\n---\n$A $1 $$ $ARGUMENTS", `x "y z" \q`)
	f.Add("---\n---\n", "'")
	f.Fuzz(func(t *testing.T, text, typed string) {
		filled, err := parse("p", text).With(typed)
		if err == nil && utf8.ValidString(text) && utf8.ValidString(typed) && !utf8.ValidString(filled) {
			t.Errorf("%q with %q gives %q", text, typed, filled)
		}
		if got, err := (Prompt{Text: "<$ARGUMENTS>"}).With(typed); err == nil && got != "<"+typed+">" {
			t.Errorf("%q became %q", typed, got)
		}
	})
}
