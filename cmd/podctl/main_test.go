package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"podd/internal/testing/programs"
)

// poddPath is the podd that the tests run, built once.
var poddPath string

func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"podctl": main, "tickets": mcpServer, "browser": browserProgram, "onterminal": terminalProgram})
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
	if err == nil && os.Getenv(programs.Dir) != "" {
		err = useBuilt(dir)
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

// useBuilt puts the built podctl in the place of the copy of this test that is run as podctl:
// it starts sooner than one with the race detector.
func useBuilt(dir string) error {
	path, err := programs.Build(dir, "podctl")
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	copied, err := exec.LookPath("podctl")
	if err != nil {
		return err
	}
	if err := os.Remove(copied); err != nil {
		return err
	}
	return os.WriteFile(copied, program, 0o755)
}
