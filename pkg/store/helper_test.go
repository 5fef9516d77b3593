package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// The environment of a helper: its verb and its database.
const (
	helperVerb = "PODD_STORE_TEST_HELPER"
	helperPath = "PODD_STORE_TEST_PATH"
)

// helpers are the verbs of this test binary when a test starts it as a process. Each
// prints what the test needs, one line at a time.
var helpers = map[string]func(ctx context.Context, path string) error{
	"append": helperAppend,
	"fill":   helperFill,
	"check":  helperCheck,
}

func runHelper(verb string) int {
	run := helpers[verb]
	if run == nil {
		run = platformHelpers[verb]
	}
	if err := run(context.Background(), os.Getenv(helperPath)); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// helper is this test binary as a process that runs a verb. It dies with the test.
func helper(t *testing.T, verb, path string, wrapper ...string) *exec.Cmd {
	t.Helper()
	args := append(wrapper, os.Args[0])
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	// The race detector delays the end of a process by a second.
	cmd.Env = append(os.Environ(), helperVerb+"="+verb, helperPath+"="+path, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}
