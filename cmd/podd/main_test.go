package main

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/confine"
	"podd/internal/commands/shim"
	"podd/internal/web"
)

// runAsPodd makes the test binary act as podd: tests start it as a separate process, to
// kill it.
const runAsPodd = "PODD_TEST_RUN_AS_PODD"

func TestMain(m *testing.M) {
	// It starts its commands by this binary too, without a variable.
	confine.Main()
	shim.Main()
	if os.Getenv(runAsPodd) != "" || len(os.Args) > 1 && (os.Args[1] == checkVerb || os.Args[1] == web.ChildVerb) {
		main()
		return
	}
	// A configuration that a group can write is refused.
	syscall.Umask(0o022)
	goleak.VerifyTestMain(m)
}
