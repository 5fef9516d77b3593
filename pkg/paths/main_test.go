package paths_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// holdVariable names the state directory that this binary locks when the test runs it
// again.
const holdVariable = "PATHS_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		hold(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// hold locks a state directory, says so and waits for the end of its input.
func hold(dir string) {
	if _, err := paths.LockStateDir(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// wantError checks an error's kind, reason and a part of its sentence.
func wantError(t *testing.T, err error, kind item.ErrorKind, reason string, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", reason)
	}
	if item.KindOf(err) != kind || item.ReasonOf(err) != reason {
		t.Errorf("error %q is %s %s, want %s %s", err, item.KindOf(err), item.ReasonOf(err), kind, reason)
	}
	contains(t, err.Error(), parts...)
}
