//go:build integrations

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// git runs git and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@b"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRemote makes a repository with a commit, and returns where it is.
func newRemote(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"git", "bwrap"} {
		rig.Need(t, program)
	}
	dir := t.TempDir()
	work, remote := filepath.Join(dir, "work"), filepath.Join(dir, "app.git")
	git(t, dir, "init", "-q", "-b", "main", work)
	git(t, work, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, work, "clone", "-q", "--bare", work, remote)
	return remote
}

// twoInClones are two nodes that clone for pods, and a repository with a commit. gate is that of ordered.
func twoInClones(t *testing.T, gate <-chan struct{}) (c *cluster, n1, n2 *rig.World, url string) {
	t.Helper()
	url = "file://" + newRemote(t)
	c = newCluster(t)
	n1, n2 = c.node("n1", ordered(gate)), c.node("n2", ordered(gate))
	for name, w := range map[string]*rig.World{"n1": n1, "n2": n2} {
		w.Configure(c.config(name, c.ca.Node(name)) + "git = true\n")
		w.Start()
	}
	return c, n1, n2, url
}

// open is a gate that is open.
func open() <-chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// dirOf is the directory of a pod, as a node says.
func dirOf(t *testing.T, w *rig.World, pod string) string {
	t.Helper()
	var shown struct {
		Spec struct{ Dir string }
	}
	if err := json.Unmarshal([]byte(w.Podctl("show", pod, "-o", "json")), &shown); err != nil {
		t.Fatal(err)
	}
	return shown.Spec.Dir
}

// ordered is a model that works by the last order, whatever notes follow it: "steps" runs four commands,
// the third once gate is closed, "long" one that does not end.
func ordered(gate <-chan struct{}) scripted.Handler {
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		order, ran := "", 0
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == "tool" {
				ran++
			}
			if first := strings.Fields(m.Text); m.Role == "user" && len(first) > 0 && slices.Contains([]string{"steps", "long", "go"}, first[0]) {
				order = first[0]
				break
			}
		}
		call := func(command string) scripted.Reply {
			return scripted.Say(scripted.Call{ID: fmt.Sprintf("%s%d", order, ran), Name: "shell", Arguments: fmt.Sprintf(`{"command":%q}`, command)})
		}
		switch {
		case order == "steps" && ran < 4:
			if ran == 2 {
				select {
				case <-gate:
				case <-ctx.Done():
				}
			}
			return call(fmt.Sprintf("echo %d >> lines", ran))
		case order == "long" && ran == 0:
			return call("echo long >> lines; until [ -e stop ]; do sleep 0.05; done")
		}
		return scripted.Say(scripted.Text("done"))
	}
}

// Another node goes on with a pod in a clone, in a clone of its own: from the end of the turn before
// if its node was killed, with all files if that was stopped or the pod was moved.
func TestNodesGoOnInClones(t *testing.T) {
	gate := make(chan struct{})
	c, n1, n2, url := twoInClones(t, gate)
	remote := strings.TrimPrefix(url, "file://")
	n3 := c.node("n3", ordered(gate))
	n3.Start()
	fails(t, n3, "node n3 makes no clones: set git = true in [node]", "create", "p", "--git", remote)
	n1.Podctl("create", "p", "--git", url)
	if shown := n3.Podctl("show", "p"); !strings.Contains(shown, "n1; movable") {
		t.Errorf("podctl show p:\n%s", shown)
	}
	fails(t, n1, "node n3 makes no clones", "move", "p", "n3")
	// A pod in a directory of n1 stays there, and does not keep n1 from starting again.
	n1.Podctl("create", "here", "--dir", n1.Workspace)
	at := func(name string) bool { return strings.Contains(n3.Podctl("list"), name+":file://") }

	first := dirOf(t, n1, "p")
	n1.Podctl("submit", "-p", "p", "steps")
	two := func(dir string) func() bool {
		return func() bool { b, _ := os.ReadFile(filepath.Join(dir, "lines")); return string(b) == "0\n1\n" }
	}
	rig.Await(t, "two commands", two(first))
	n1.Kill()
	rig.Await(t, "the pod at n2", func() bool { return at("n2") })
	close(gate)
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "p", "turn_ended") == 1 })
	// The first two lines were never pushed.
	rig.Await(t, "the push", func() bool { return git(t, remote, "ls-tree", "--name-only", "refs/podd/p") == "lines" })
	if got := git(t, remote, "show", "refs/podd/p:lines"); got != "2\n3" {
		t.Errorf("pushed lines %q", got)
	}
	log := n3.Podctl("tail", "p", "--after", "0")
	if !strings.Contains(log, "goes on in a new clone of file://") || !strings.Contains(log, "on node n2") {
		t.Errorf("the log does not say what is lost:\n%s", log)
	}
	second := dirOf(t, n3, "p")
	if second == first {
		t.Errorf("both clones are in %s", first)
	}
	// The node that comes back pushes nothing over what the other one pushed.
	pushed := git(t, remote, "rev-parse", "refs/podd/p")
	if list := n3.Podctl("list"); !strings.Contains(list, "n1:"+n1.Workspace) {
		t.Errorf("podctl list at n3:\n%s", list)
	}
	n1.Start()
	if now := git(t, remote, "rev-parse", "refs/podd/p"); now != pushed {
		t.Errorf("refs/podd/p is %s, was %s", now, pushed)
	}

	// What a turn did until its node was stopped is pushed.
	if err := os.WriteFile(filepath.Join(second, "by hand"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n2.Podctl("submit", "-p", "p", "long")
	rig.Await(t, "the long command", func() bool {
		b, _ := os.ReadFile(filepath.Join(second, "lines"))
		return string(b) == "2\n3\nlong\n"
	})
	n2.Stop()
	rig.Await(t, "the pod at n1", func() bool { return at("n1") })
	rig.Await(t, "the end of the second turn", func() bool { return kinds(t, n3, "p", "turn_ended") == 2 })
	third := dirOf(t, n3, "p")
	wantText(t, filepath.Join(third, "lines"), "2\n3\nlong\n")
	wantText(t, filepath.Join(third, "by hand"), "x\n")

	// A move of a pod at rest.
	n2.Start()
	n3.Podctl("move", "p", "n2")
	n3.Podctl("submit", "-f", "-p", "p", "go")
	fourth := dirOf(t, n3, "p")
	if fourth == third || fourth == second {
		t.Errorf("the pod works in %s again", fourth)
	}
	wantText(t, filepath.Join(fourth, "lines"), "2\n3\nlong\n")
	// A node that has not worked in it yet deletes it, too.
	n3.Podctl("move", "p", "n1")
	if says := n3.Podctl("delete", "p", "--checkout"); !strings.Contains(says, "deleted pod p") || !strings.Contains(says, remote+" has its work as refs/podd/p") {
		t.Errorf("podctl delete says %q", says)
	}
	git(t, remote, "fsck", "--strict")
	if refs := git(t, remote, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\nrefs/podd/p" {
		t.Errorf("references %q", refs)
	}
}

// A node stops during a push, and another node takes the pod over. When the first node wakes, its push is refused.
// It keeps the work, and says where.
func TestNodePushesNoMoreInClones(t *testing.T) {
	_, n1, n2, url := twoInClones(t, open())
	remote, dir := strings.TrimPrefix(url, "file://"), t.TempDir()
	n1.Podctl("create", "p", "--git", url)
	// A push of n1 waits in the repository.
	hook := fmt.Sprintf("#!/bin/sh\n[ \"$HOME\" != %q ] || { touch %[2]s/began; until [ -e %[2]s/open ]; do sleep 0.05; done; echo >%[2]s/over; }\n", n1.Dir, dir)
	if err := os.WriteFile(filepath.Join(remote, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	letGo := func() { _ = os.WriteFile(filepath.Join(dir, "open"), nil, 0o600) }
	defer letGo()
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	}
	first := dirOf(t, n1, "p")
	n1.Podctl("submit", "-p", "p", "steps")
	rig.Await(t, "the push", exists("began"))
	n1.Signal(syscall.SIGSTOP)
	defer n1.Signal(syscall.SIGCONT)
	rig.Await(t, "the pod at n2", func() bool { return strings.Contains(n2.Podctl("list"), "n2:file://") })
	n2.Podctl("submit", "-f", "-p", "p", "go")
	rig.Await(t, "the note", func() bool {
		return strings.Contains(n2.Podctl("tail", "p", "--after", "0"), "goes on in a new clone of file://")
	})
	second := dirOf(t, n2, "p")
	now := func() string { return git(t, remote, "rev-parse", "refs/podd/p") }
	pushed := now()
	letGo()
	rig.Await(t, "the end of the old push", exists("over"))
	n1.Signal(syscall.SIGCONT)
	ends(t, n1)
	n1.Start()
	rig.Await(t, "an alert", func() bool {
		alerts := n2.Podctl("alerts")
		return strings.Contains(alerts, "the work of pod p is not pushed to file://"+remote) && strings.Contains(alerts, first)
	})
	if got := now(); got != pushed {
		t.Errorf("refs/podd/p is %s, was %s", got, pushed)
	}
	wantText(t, filepath.Join(first, "lines"), "0\n1\n2\n3\n")
	if second == first {
		t.Errorf("both clones are in %s", first)
	}
	n2.Podctl("submit", "-f", "-p", "p", "go")
	git(t, remote, "fsck", "--strict")
}
