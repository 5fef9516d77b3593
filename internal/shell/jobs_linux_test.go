package shell_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A job can write what other commands can, during its call and after it.
func TestJobsStayInTheSandbox(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, nil, confined(t, mode))
			outside := filepath.Join(t.TempDir(), "escaped")
			try := "echo escaped >" + outside + "; echo tried >>tries; "
			b.start("c1", "command", try+"echo ready; until [ -e go ]; do sleep 0.01; done; "+try+"echo done; sleep 600")
			b.write("go", "")
			if out := b.job("action", "read", "id", "1", "after", 0, "until", "^done$"); out.IsError || b.read("tries") != "tried\ntried\n" {
				t.Errorf("the job says %+v", out)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it wrote outside of the workspace")
			}
			if a := b.tool("job").Access(object("action", "write", "id", "1", "input", "x")); !a.Confined {
				t.Error("typing into a job in the sandbox is not confined")
			}
		})
	}
}

// Typing into a job without a sandbox is a call without a sandbox.
func TestTypingIntoAJobOutsideTheSandboxAsks(t *testing.T) {
	b := newBench(t, nil, quickly)
	b.start("c1", "command", "sleep 600")
	if a := b.tool("job").Access(object("action", "write", "id", "1", "input", "x")); a.Confined || a.Note != `it types into the job "sleep 600"` {
		t.Errorf("access %+v", a)
	}
	for _, action := range []string{"read", "stop"} {
		if a := b.tool("job").Access(object("action", action, "id", "1")); !a.Confined {
			t.Errorf("%s asks: %+v", action, a)
		}
	}
}
