package extern_test

import (
	"strings"
	"testing"

	"podd/internal/extend/extern"
)

// Capture keeps the two ends of a stream, in memory that does not grow with it.
func TestCapture(t *testing.T) {
	for want, chunks := range map[string][]string{
		"":                  nil,
		"abcdef":            {"ab", "cdef"},
		"abcdefghijkl":      {"abcdefghijkl"},
		"abcd\n[cut]\nwxyz": {"abcdefghijklmnop", "uvwxyz"},
		"\n[cut]\n":         {strings.Repeat("a", 10), "b"},
	} {
		limit := 4
		if strings.HasPrefix(want, "\n") {
			limit = 0
		}
		if got, _ := extern.Capture(limit, chunks...); got != want {
			t.Errorf("%q leaves %q, want %q", chunks, got, want)
		}
	}
	chunk := strings.Repeat("x", 1000)
	var chunks []string
	for range 10_000 {
		chunks = append(chunks, chunk)
	}
	if _, kept := extern.Capture(1000, chunks...); kept > 20_000 {
		t.Errorf("10 MB of output hold %d bytes", kept)
	}
}
