package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/launcher"
	"podd/internal/guard/sandbox"
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

// launch builds podd-launch in a directory and opens it.
func launch(dir string) error {
	path := filepath.Join(dir, launcher.Name)
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "podd/cmd/podd-launch").CombinedOutput(); err != nil {
		return fmt.Errorf("podd-launch cannot be built: %w: %s", err, out)
	}
	var err error
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
