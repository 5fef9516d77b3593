//go:build integrations

package postgres

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// make demo-nodes runs examples/nodes/demo.sh, each command of which works, and leaves nothing.
func TestDemoNodes(t *testing.T) {
	dir, err := os.MkdirTemp("", "demo") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// The user of the database must be able to enter it.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "run", "./internal/testing/demonodes", rig.Binaries(t))
	c.Dir, c.Env = rig.Root(), append(append(os.Environ(), "TMPDIR="+dir), rig.Races(t)...)
	out := rig.Run(t, c)
	for _, want := range []string{
		"n1 *away", "node n1, which has pod api, has not answered for", "moved pod api to n2:", "n1 (this)  up",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "I wrote a line."); n < 3 {
		t.Errorf("the answers are there %d times:\n%s", n, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
