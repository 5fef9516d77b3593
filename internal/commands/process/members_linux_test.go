package process

import (
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
