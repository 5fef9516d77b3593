package podname_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/podname"
	"podd/pkg/item"
)

func TestNameFor(t *testing.T) {
	for dir, want := range map[string]string{
		"my-project": "my-project", "My Project": "my-project", "a.b_c": "a-b-c", "--x--": "x",
		"ünïcode": "n-code", "…": "pod", "": "pod", "/": "pod", strings.Repeat("x", 80): strings.Repeat("x", 63),
		"2024": "pod-2024", "1-2": "pod-1-2", strings.Repeat("7", 63): "pod-" + strings.Repeat("7", 59),
	} {
		if got := podname.For(dir); got != want {
			t.Errorf("For(%q) = %q, want %q", dir, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		base := podname.For(rapid.String().Draw(t, "dir"))
		n := rapid.IntRange(1, 200).Draw(t, "n")
		if name := podname.Numbered(base, n); !item.ValidPodName(name) || n > 1 && !strings.HasSuffix(name, fmt.Sprint("-", n)) {
			t.Fatalf("%q is no name", name)
		}
	})
}
