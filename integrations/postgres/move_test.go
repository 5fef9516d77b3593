//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// kinds counts the entries of a kind.
func kinds(t *testing.T, w *rig.World, pod, kind string) (found int) {
	t.Helper()
	for _, e := range entries(t, w, pod) {
		if e[kind] != nil {
			found++
		}
	}
	return found
}

// A pod whose node is killed in the middle of a command moves by force. Its command is not
// started again, its submits run, and the earlier node leaves it alone. A stopped node needs
// no force.
func TestNodesMove(t *testing.T) {
	c := newCluster(t)
	long := func(_ context.Context, _ scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Call{ID: "c0", Name: "shell", Arguments: `{"command":"echo 0 >> lines; until [ -e stop ]; do sleep 0.05; done"}`})
	}
	n1, n2, n3 := c.node("n1", long), c.node("n2", steps(1, nil)), c.node("n3", steps(1, nil))
	for _, w := range []*rig.World{n1, n2, n3} {
		w.Start()
	}
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(n1.Workspace, "stop"), nil, 0o600) })
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the command", func() bool { b, _ := os.ReadFile(filepath.Join(n1.Workspace, "lines")); return len(b) > 0 })
	fails(t, n3, `no node named "n9"`, "move", "one", "n9")
	fails(t, n3, "node n1 is up: stop podd there first", "nodes", "rm", "n1")
	n1.Kill()
	rig.Await(t, "the end of the lease", func() bool { return nodes(t, n3)["n1"] == "away" })
	fails(t, n3, "be sure that its machine is off, then add --force", "move", "one", "n2")
	fails(t, n3, "nowhere\" can't be opened", "move", "one", "n2", "--force", "--dir", filepath.Join(n1.Dir, "nowhere"))
	fails(t, n3, "node n1 still has pods (1, with deleted ones)", "nodes", "rm", "n1")
	if said := n3.Podctl("move", "one", "n2", "--force"); !strings.Contains(said, "moved pod one to n2:"+n1.Workspace) {
		t.Errorf("podctl move said %q", said)
	}
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "one", "turn_ended") == 1 })
	if log := n3.Podctl("tail", "one", "--after", "0", "-o", "json"); !strings.Contains(log, "may have taken effect") {
		t.Errorf("the log does not say what is known of the command:\n%s", log)
	}
	wantLines(t, n1, 1)
	n1.Start()
	n1.Podctl("submit", "-p", "one", "again")
	rig.Await(t, "the second turn", func() bool { return kinds(t, n1, "one", "turn_ended") == 2 })
	wantLines(t, n1, 1)
	fails(t, n1, "pod one is already on node n2", "move", "one", "n2")
	n2.Stop()
	n1.Podctl("move", "one", "n3", "--dir", n3.Workspace)
	n1.Podctl("submit", "-p", "one", "third")
	rig.Await(t, "the third turn", func() bool { return kinds(t, n1, "one", "turn_ended") == 3 })
	if list := n1.Podctl("list"); !strings.Contains(list, "n3:"+n3.Workspace) {
		t.Errorf("podctl list:\n%s", list)
	}
	n1.Podctl("nodes", "rm", "n2")
	if got := nodes(t, n1); fmt.Sprint(got) != "map[n1:up n3:up]" {
		t.Errorf("the nodes: %v", got)
	}
}

// A node that was frozen while its pod moved appends nothing more to it, and ends with 1. It
// goes on with its other pods when it is started again. One that was removed ends too.
func TestNodesFenced(t *testing.T) {
	c := newCluster(t)
	gate := make(chan struct{})
	n1, n2 := c.node("n1", steps(2, gate)), c.node("n2", steps(2, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the second request", func() bool { return n1.Requests() >= 2 })
	n1.Podctl("create", "two", "--dir", n2.Workspace)
	n1.Signal(syscall.SIGSTOP)
	rig.Await(t, "the end of the lease", func() bool { return nodes(t, n2)["n1"] == "away" })
	n2.Podctl("move", "one", "n2", "--force")
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n2, "one", "turn_ended") == 1 })
	last := len(entries(t, n2, "one"))
	n1.Signal(syscall.SIGCONT)
	close(gate)
	ends(t, n1)
	n1.Start()
	n1.Podctl("submit", "-p", "two", "go")
	rig.Await(t, "the end of a turn at n1", func() bool { return kinds(t, n1, "two", "turn_ended") == 1 })
	if n := len(entries(t, n2, "one")); n != last {
		t.Errorf("the log has %d entries, %d before n1 went on", n, last)
	}
	wantLines(t, n1, 2)
	n1.Signal(syscall.SIGSTOP)
	rig.Await(t, "the end of the next lease", func() bool { return nodes(t, n2)["n1"] == "away" })
	n2.Podctl("nodes", "rm", "n1", "--force")
	n1.Signal(syscall.SIGCONT)
	ends(t, n1)
}

// ends awaits the end of a podd that lost its lease.
func ends(t *testing.T, w *rig.World) {
	t.Helper()
	if code := w.Ended(); code != 1 {
		t.Errorf("podd ended with %d:\n%s", code, w.Log())
	}
	if !strings.Contains(w.Log(), "this podd lost its lease: node n1 was removed, its pods were moved, or another podd runs as it") {
		t.Errorf("podd does not say why it ended:\n%s", w.Log())
	}
}

// A command of a pod that was moved ends as soon as its first podd wakes or starts again.
func TestNodesEndCommands(t *testing.T) {
	for _, frozen := range []bool{true, false} {
		t.Run(fmt.Sprintf("frozen %v", frozen), func(t *testing.T) {
			c := newCluster(t)
			holds := func(context.Context, scripted.Request) scripted.Reply {
				return scripted.Say(scripted.Call{ID: "c0", Name: "shell", Arguments: `{"command":"exec 9> held; flock 9; echo 0 >> lines; sleep 600"}`})
			}
			n1, n2 := c.node("n1", holds), c.node("n2", steps(1, nil))
			n1.Start()
			n2.Start()
			n1.Podctl("create", "one", "--dir", n1.Workspace)
			n1.Podctl("submit", "-p", "one", "go")
			rig.Await(t, "the command", func() bool { b, _ := os.ReadFile(filepath.Join(n1.Workspace, "lines")); return len(b) > 0 })
			if frozen {
				n1.Signal(syscall.SIGSTOP)
			} else {
				n1.Kill()
			}
			rig.Await(t, "the end of the lease", func() bool { return nodes(t, n2)["n1"] == "away" })
			n2.Podctl("move", "one", "n2", "--force")
			rig.Await(t, "the end of the turn", func() bool { return kinds(t, n2, "one", "turn_ended") == 1 })
			held, err := os.Open(filepath.Join(n1.Workspace, "held"))
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			over := func() bool { return syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
			if over() {
				t.Fatal("the command ended before its podd was back")
			}
			if frozen {
				n1.Signal(syscall.SIGCONT)
				ends(t, n1)
			} else {
				n1.Start()
			}
			rig.Await(t, "the end of the command", over)
			wantLines(t, n1, 1)
		})
	}
}
