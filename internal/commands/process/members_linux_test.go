package process

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// hasNone knows a process with an empty environment. It must not match one that has a variable.
func TestHasNone(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		none bool
	}{"none": {env: []string{}, none: true}, "one": {env: []string{"A=1"}}} {
		sleep := exec.Command("sleep", "600")
		sleep.Env = c.env
		if err := sleep.Start(); err != nil {
			t.Fatal(err)
		}
		// Start may return before the exec has set the environment.
		for !known(statOf(sleep.Process.Pid)) && t.Context().Err() == nil {
			runtime.Gosched()
		}
		if got := hasNone(statOf(sleep.Process.Pid)); got != c.none {
			t.Errorf("%s: hasNone is %v", name, got)
		}
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}
}

// known says whether a process has an environment, which may be empty.
func known(fields []string) bool {
	const envEnd = 51 - 3
	return len(fields) > envEnd && fields[envEnd] != "0"
}

// A process that has ended does not run, whether or not its parent has waited for it.
func TestRuns(t *testing.T) {
	if !runs(os.Getpid()) {
		t.Error("this process does not run")
	}
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended && t.Context().Err() == nil; runtime.Gosched() {
		_, still := inspect(cmd.Process.Pid)
		ended = !still
	}
	if runs(cmd.Process.Pid) {
		t.Error("a process runs that has ended")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if runs(cmd.Process.Pid) {
		t.Error("a process runs that was reaped")
	}
}
