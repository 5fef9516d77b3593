package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/guard/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if attack := os.Getenv("PODD_TEST_ATTACK"); attack != "" {
		attackMain(attack)
	}
	goleak.VerifyTestMain(m)
}
