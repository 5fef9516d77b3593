// Package programs has podd's own programs for tests that start them.
//
// Rank 0; not part of podd.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

// Dir is the variable with the directory where `make test` has built the programs, once for
// all tests. Without it each package builds what it needs.
const Dir = "PODD_TEST_BIN"

// Build returns the path of a program below cmd/. Without PODD_TEST_BIN it builds the
// program in dir, podd with the race detector if the test has it.
func Build(dir, name string) (string, error) {
	if built := os.Getenv(Dir); built != "" {
		path := filepath.Join(built, name)
		// The go command sees the look at the file, and runs the test again when it changes.
		_, err := os.Stat(path)
		return path, err
	}
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "podd/cmd/"+name)
	if name == "podd" && raceDetected() {
		cmd.Args = slices.Insert(cmd.Args, 2, "-race")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s cannot be built: %w: %s", name, err, out)
	}
	return path, nil
}

// Launcher is the path of podd-launch.
func Launcher(t *testing.T) string {
	t.Helper()
	path, err := Build(t.TempDir(), "podd-launch")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// raceDetected says whether the tests run under the race detector.
func raceDetected() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
