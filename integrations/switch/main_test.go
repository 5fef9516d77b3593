//go:build integrations && switch

// Package switches does what docs/coming-from.md says with Claude Code, with Codex and with podd.
package switches

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
