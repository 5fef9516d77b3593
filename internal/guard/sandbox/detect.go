package sandbox

import (
	"context"
	"os"
	"strings"
)

// Detect tries the sandboxes that c allows, with real commands, and returns the first
// that works. It never fails: Why says what does not work.
func Detect(ctx context.Context, c Config) *Sandbox {
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.MaxMemory == 0 {
		c.MaxMemory = memory() / 2
	}
	s := &Sandbox{hiding: hiding{Config: c}, mode: None}
	s.divide()
	if c.Mode == Off {
		s.why = "turned off by [sandbox] mode"
		return s
	}
	var failed []string
	for _, mode := range []Mode{Bwrap, Landlock} {
		if c.Mode != "" && c.Mode != Auto && c.Mode != mode {
			continue
		}
		s.mode = mode
		if err := s.try(ctx); err != nil {
			failed = append(failed, mode+": "+err.Error())
			continue
		}
		s.why = strings.Join(failed, "; ")
		return s
	}
	s.mode, s.why = None, strings.Join(failed, "; ")
	return s
}
