//go:build integrations

package rig

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

// raced says whether the tests run under the race detector; podd and podctl then do too.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Races is the environment with which podd and podctl report data races to the test, which then
// fails at its end. A podd that is killed has reported them too.
func Races(t testing.TB) []string {
	t.Helper()
	if !raced() {
		return nil
	}
	dir := t.TempDir()
	t.Cleanup(func() {
		reports, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Error(err)
		}
		for _, path := range reports {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			t.Errorf("data races:\n%s", text)
		}
	})
	return []string{"GORACE=log_path=" + filepath.Join(dir, "race")}
}
