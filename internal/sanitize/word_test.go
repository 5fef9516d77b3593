package sanitize_test

import (
	"os/exec"
	"testing"

	"podd/internal/sanitize"
)

// A shell takes a word for the text itself, also once it was made safe to show.
func TestWord(t *testing.T) {
	for _, s := range []string{
		"build1", "me@build1", "/home/ada/src", "", " ", "a b", "$(id)", "`id`", "a;id", "a'b", "'", `a\b`, `a"b`, "a\nb",
		"~", "~/x", "*", "{a,b}", "!x", "#x", "a#b", "(x)", "<x", "&", "|", "$HOME", "é",
	} {
		out, err := exec.Command("sh", "-c", "printf %s "+sanitize.Word(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q as %s: a shell reads %q, %v", s, sanitize.Word(s), out, err)
		}
		shown := sanitize.Line(s)
		out, err = exec.Command("sh", "-c", "printf %s "+sanitize.Line(sanitize.Word(s))).Output()
		if err != nil || string(out) != shown {
			t.Errorf("%q shown as %s: a shell reads %q, %v", s, sanitize.Line(sanitize.Word(s)), out, err)
		}
	}
	for _, s := range []string{"build1", "me@build1", "/home/ada/src/x-1.go", "refs/podd/a"} {
		if got := sanitize.Word(s); got != s {
			t.Errorf("%q is quoted: %s", s, got)
		}
	}
}
