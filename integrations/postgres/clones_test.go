//go:build integrations

package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// A node removes the clones that its pods left, also of deleted pods, but none that a fork works in.
func TestNodesKeepClonesOfForks(t *testing.T) {
	_, n1, n2, url := twoInClones(t, open())
	// podd tidies when it starts, in the order of names.
	first := map[string]string{}
	for _, name := range []string{"a", "aa", "ab", "b", "c", "d"} {
		n1.Podctl("create", name, "--git", url)
		first[name] = dirOf(t, n1, name)
	}
	is := func(name string) bool { _, err := os.Stat(first[name]); return err == nil }
	leave := func(name string) {
		t.Helper()
		if !strings.Contains(n2.Podctl("show", name), "n2; movable") {
			n2.Podctl("move", name, "n2") // Otherwise it moved when n1 stopped.
		}
		n2.Podctl("submit", "-f", "-p", name, "go")
	}
	restart := func(last string) {
		t.Helper()
		leave(last)
		n1.Stop()
		n1.Start()
		rig.Await(t, "the removal of the clone of "+last, func() bool { return !is(last) })
	}
	n1.Podctl("fork", "a", "fork")
	if dir := dirOf(t, n1, "fork"); dir != first["a"] {
		t.Errorf("the fork works in %s", dir)
	}
	leave("a")
	restart("b")
	n1.Podctl("submit", "-f", "-p", "fork", "go")
	n2.Podctl("delete", "fork")
	restart("c")
	n1.Podctl("restore", "fork")
	n1.Podctl("submit", "-f", "-p", "fork", "go")
	if !is("a") {
		t.Error("the clone is gone in which the fork works")
	}
	n2.Podctl("delete", "fork", "--now")
	n2.Podctl("delete", "a")
	leave("aa")
	n2.Podctl("delete", "aa", "--now")
	n1.Podctl("delete", "ab", "--now")
	restart("d")
	if is("a") || is("aa") {
		t.Error("the clone of a deleted pod stays, which had another one")
	}
	if !is("ab") {
		t.Error("the last clone of a pod went, which was deleted without it")
	}
}

// A fork at a node that the pod has not worked at yet makes the clone.
func TestNodesForkInNewClone(t *testing.T) {
	_, n1, n2, url := twoInClones(t, open())
	n1.Podctl("create", "p", "--git", url)
	n1.Podctl("submit", "-f", "-p", "p", "steps")
	first := dirOf(t, n1, "p")
	n1.Podctl("move", "p", "n2")
	n1.Podctl("fork", "p", "fork")
	dir := dirOf(t, n1, "fork")
	if dir == first || dir != dirOf(t, n1, "p") {
		t.Errorf("the fork works in %s", dir)
	}
	wantText(t, filepath.Join(dir, "lines"), "0\n1\n2\n3\n")
	n2.Podctl("submit", "-f", "-p", "fork", "go")
	n2.Podctl("submit", "-f", "-p", "p", "go")
	if log := n2.Podctl("tail", "p", "--after", "0"); !strings.Contains(log, "goes on in a new clone of "+url) {
		t.Errorf("the log of the pod:\n%s", log)
	}
}

// What a pod did in an earlier clone can be seen where that is, and not taken back: the pod would not see it.
func TestNodesUndoInClones(t *testing.T) {
	_, n1, n2, url := twoInClones(t, open())
	n1.Podctl("create", "p", "--git", url)
	n1.Podctl("submit", "-f", "-p", "p", "steps")
	first := dirOf(t, n1, "p")
	const earlier = "pod p made these changes in an earlier clone, "
	for _, n := range []string{"n2", "n1"} {
		n2.Podctl("move", "p", n)
		n2.Podctl("submit", "-f", "-p", "p", "go")
		fails(t, n2, earlier+first, "undo", "p")
		fails(t, n2, earlier+first, "rewind", "p", "1", "--files")
		if n == "n2" {
			fails(t, n2, "move pod p to node n1, which has the checkpoints of these changes, then look at them", "diff", "p")
		}
	}
	if diff := n2.Podctl("diff", "p"); !strings.Contains(diff, "lines") {
		t.Errorf("podctl diff at n1: %q", diff)
	}
	wantText(t, filepath.Join(first, "lines"), "0\n1\n2\n3\n")
	n2.Podctl("submit", "-f", "-p", "p", "steps")
	n2.Podctl("undo", "p")
	wantText(t, filepath.Join(dirOf(t, n2, "p"), "lines"), "0\n1\n2\n3\n")

	// While the pod's node is down, and no other one may clone.
	n2.Stop()
	n1.Kill()
	config, err := os.ReadFile(n2.Config())
	if err != nil {
		t.Fatal(err)
	}
	n2.Configure(strings.TrimSuffix(string(config), "git = true\n"))
	n2.Start()
	rig.Await(t, "the end of the lease", func() bool { return nodes(t, n2)["n1"] == "away" })
	fails(t, n2, "node n1", "cancel", "p")
	fails(t, n2, "node n2 makes no clones: set git = true in [node]", "move", "p", "n2", "--force")
	n2.Podctl("move", "p", "n2", "--force", "--dir", n2.Workspace)
	n2.Podctl("submit", "-f", "-p", "p", "steps")
	wantText(t, filepath.Join(n2.Workspace, "lines"), "0\n1\n2\n3\n")
	if shown := n2.Podctl("show", "p"); strings.Contains(shown, "checkout") {
		t.Errorf("podctl show p:\n%s", shown)
	}
}

// A store that moves to a database of nodes and back takes pods in clones along. They go on where they are,
// with what could not be pushed.
func TestMigrateClones(t *testing.T) {
	remote, c := newRemote(t), newCluster(t)
	w := c.node("n1", ordered(open()))
	alone := "ask = \"never\"\n"
	w.Configure(alone)
	w.Start()
	w.Podctl("create", "p", "--git", remote)
	clone := dirOf(t, w, "p")
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.StateDir(), "podd.db")
	goesOn := func(lines string) {
		t.Helper()
		w.Podctl("submit", "-f", "-p", "p", "steps")
		if now := dirOf(t, w, "p"); now != clone {
			t.Errorf("the pod works in %s, and worked in %s", now, clone)
		}
		wantText(t, filepath.Join(clone, "lines"), lines)
	}
	migrate := func(to, config string) {
		t.Helper()
		w.Stop()
		if out, err := w.Command("podd", "migrate", "--to", to).CombinedOutput(); err != nil {
			t.Fatalf("podd migrate: %v: %s", err, out)
		}
		w.Configure(config)
		w.Start()
	}
	goesOn("0\n1\n2\n3\n")
	migrate(c.server.URL(), c.config("n1", c.ca.Node("n1"))+"git = true\n")
	goesOn("0\n1\n2\n3\n0\n1\n2\n3\n")
	if err := os.Rename(file, file+".old"); err != nil {
		t.Fatal(err)
	}
	migrate(file, alone)
	goesOn("0\n1\n2\n3\n0\n1\n2\n3\n0\n1\n2\n3\n")
	if err := os.Rename(remote+".away", remote); err != nil {
		t.Fatal(err)
	}
	w.Podctl("submit", "-f", "-p", "p", "go")
	rig.Await(t, "the push", func() bool { return git(t, remote, "ls-tree", "--name-only", "refs/podd/p") == "lines" })
}
