package store_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or, in a process that a test started, the part of that test
// that must be able to crash.
func TestMain(m *testing.M) {
	if verb := os.Getenv(helperVerb); verb != "" {
		os.Exit(runHelper(verb))
	}
	goleak.VerifyTestMain(m)
}
