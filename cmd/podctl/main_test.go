package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"podd/internal/testing/programs"
)

// poddPath is the podd that the tests run, built once.
var poddPath string

func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"podctl": main, "tickets": mcpServer, "browser": browserProgram})
}

// built runs the tests with a built podd, and checks for leaked goroutines.
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
	if _, err = programs.Build(dir, "podd-launch"); err == nil {
		poddPath, err = programs.Build(dir, "podd")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := b.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
