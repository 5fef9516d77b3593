package fold

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCommonPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := make([]byte, rapid.IntRange(0, 200_000).Draw(t, "a"))
		b := make([]byte, rapid.IntRange(0, 200_000).Draw(t, "b"))
		want := min(len(a), len(b))
		if at := rapid.IntRange(0, 200_000).Draw(t, "differs"); at < len(a) {
			if a[at] = 1; at < want {
				want = at
			}
		}
		if got := commonPrefix(a, b); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
