package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// poddPath is the podd that the tests run, built once.
var poddPath string

func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"podctl": main, "tickets": mcpServer, "browser": browserProgram})
}

// built runs the tests with a podd that is built first, and checks for leaked goroutines.
type built struct{ *testing.M }

// Run runs the tests.
func (b built) Run() int {
	// A configuration that a group can write is refused.
	syscall.Umask(0o022)
	dir, err := os.MkdirTemp("", "podd-built")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	poddPath = filepath.Join(dir, "podd")
	build := exec.Command("go", "build", "-o", dir+"/", "podd/cmd/podd", "podd/cmd/podd-launch")
	if raceDetected() {
		build.Args = slices.Insert(build.Args, 2, "-race")
	}
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "podd cannot be built: %v\n%s", err, out)
		return 1
	}
	code := b.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// raceDetected says whether the tests run under the race detector; podd then does too.
func raceDetected() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
