//go:build integrations

package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// A pod that moves to another directory leaves its checkout on the old node.
func TestNodesCheckout(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(0, nil)), c.node("n2", steps(0, nil))
	n1.Start()
	n2.Start()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", n1.Workspace}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	n1.Podctl("create", "one", "--worktree", "--dir", n1.Workspace)
	if said := n1.Podctl("show", "one"); !strings.Contains(said, "checkout") {
		t.Fatalf("podctl show said %q", said)
	}
	n1.Podctl("move", "one", "n2", "--dir", n2.Workspace)
	if said := n2.Podctl("show", "one"); strings.Contains(said, "checkout") {
		t.Errorf("after the move podctl show said %q", said)
	}
	fails(t, n2, "pod one has no checkout", "land", "one")
	other := t.TempDir()
	n2.Podctl("update", "one", "--dir", other)
}

// The checkpoints of a pod stay on the node that made them: after a move, undo and diff name that
// node, and what the pod changes on the new one is taken back there.
func TestNodesCheckpoints(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(1, nil)), c.node("n2", steps(3, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "-f", "go")
	lines := func(w *rig.World) string {
		b, _ := os.ReadFile(filepath.Join(w.Workspace, "lines"))
		return string(b)
	}
	if got := lines(n1); got != "0\n" {
		t.Fatalf("lines at n1: %q", got)
	}
	n1.Stop()
	n2.Podctl("move", "one", "n2", "--dir", n2.Workspace)
	const away = "move pod one to node n1, which has the checkpoints of these changes, then "
	fails(t, n2, away+"take them back", "undo", "one")
	fails(t, n2, away+"look at them", "diff", "one")
	if err := os.WriteFile(filepath.Join(n2.Workspace, "lines"), []byte("a person's\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n2.Podctl("submit", "-p", "one", "-f", "go on")
	if got := lines(n2); got != "a person's\n2\n" {
		t.Fatalf("lines at n2: %q", got)
	}
	fails(t, n2, away+"take them back", "rewind", "one", "1", "--files")
	n2.Podctl("undo", "one")
	if got := lines(n2); got != "a person's\n" {
		t.Errorf("after the undo, lines at n2: %q", got)
	}
	n1.Start()
	fails(t, n1, away+"look at them", "diff", "one", "--turn", "1")
	n2.Stop()
	n1.Podctl("move", "one", "n1", "--dir", n1.Workspace)
	if said := n1.Podctl("diff", "one", "--turn", "1"); !strings.Contains(said, "+0") {
		t.Errorf("podctl diff at n1 said %q", said)
	}
}
