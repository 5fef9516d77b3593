package process

import (
	"os/exec"
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
		if got := hasNone(statOf(sleep.Process.Pid)); got != c.none {
			t.Errorf("%s: hasNone is %v", name, got)
		}
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}
}
