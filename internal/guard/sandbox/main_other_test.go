//go:build !linux

package sandbox_test

import (
	"testing"

	"go.uber.org/goleak"

	"podd/internal/guard/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDetect(t *testing.T) {
	s := sandbox.Detect(t.Context(), sandbox.Config{Required: true})
	if s.Mode() != sandbox.None || s.Refuses() == "" {
		t.Errorf("%s, %q", s.Mode(), s.Why())
	}
}
