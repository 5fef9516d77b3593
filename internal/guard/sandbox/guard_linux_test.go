package sandbox_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"podd/internal/guard/sandbox"
)

// What a guard costs a command: the check before it, the watch, and the check after it.
// In a large workspace the bounds on the checks are reached.
func BenchmarkGuard(b *testing.B) {
	for _, c := range []struct {
		name         string
		dirs, inEach int
	}{{"small", 5, 10}, {"large", 2000, 20}} {
		b.Run(c.name, func(b *testing.B) {
			h := newHouse(b)
			for i := range c.dirs {
				dir := h.path(fmt.Sprintf("work/%d/%d", i%40, i))
				if err := os.MkdirAll(dir, 0o700); err != nil {
					b.Fatal(err)
				}
				for j := range c.inEach {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o600); err != nil {
						b.Fatal(err)
					}
				}
			}
			s := h.sandbox(sandbox.Bwrap)
			scope, done := h.scope()
			defer done()
			b.ReportAllocs()
			for b.Loop() {
				g, err := s.Guard(scope, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := g.Note(); err != nil {
					b.Fatal(err)
				}
				g.Watch(func() (string, error) { return h.path("temp"), nil }, slog.New(slog.DiscardHandler))
				g.End()
			}
		})
	}
}
