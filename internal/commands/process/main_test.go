package process_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if script := os.Getenv("PODD_TEST_START"); script != "" {
		startAndDie(script)
	}
	if os.Getenv("PODD_TEST_GROUP") != "" {
		tellGroup()
	}
	goleak.VerifyTestMain(m)
}
