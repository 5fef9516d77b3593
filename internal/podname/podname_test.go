package podname_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/podname"
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

func TestNameFor(t *testing.T) {
	for dir, want := range map[string]string{
		"my-project": "my-project", "My Project": "my-project", "a.b_c": "a-b-c", "--x--": "x",
		"ünïcode": "n-code", "…": "pod", "": "pod", "/": "pod", strings.Repeat("x", 80): strings.Repeat("x", 63),
	} {
		if got := podname.For(dir); got != want {
			t.Errorf("For(%q) = %q, want %q", dir, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		base := podname.For(rapid.String().Draw(t, "dir"))
		n := rapid.IntRange(1, 200).Draw(t, "n")
		if name := podname.Numbered(base, n); !validName.MatchString(name) || n > 1 && !strings.HasSuffix(name, fmt.Sprint("-", n)) {
			t.Fatalf("%q is no name", name)
		}
	})
}
