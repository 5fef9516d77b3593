package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/launcher"
	"podd/internal/guard/sandbox"
	"podd/internal/testing/programs"
)

// launched is the podd-launch of all tests.
var launched *launcher.Launcher

func TestMain(m *testing.M) {
	sandbox.Main()
	if attack := os.Getenv("PODD_TEST_ATTACK"); attack != "" {
		attackMain(attack)
	}
	dir, err := os.MkdirTemp("", "podd-sandbox-test-")
	if err == nil {
		err = launch(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(closing{m, dir})
}

// launch opens a podd-launch, which may be built in a directory.
func launch(dir string) error {
	path, err := programs.Build(dir, launcher.Name)
	if err != nil {
		return err
	}
	launched, err = launcher.Open(context.Background(), path)
	return err
}

// closing runs the tests, and then removes what they were started with.
type closing struct {
	*testing.M
	dir string
}

func (c closing) Run() int {
	defer os.RemoveAll(c.dir)
	defer launched.Close()
	return c.M.Run()
}
