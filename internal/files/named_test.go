package files_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/files"
	"podd/pkg/item"
)

// ignoring is a desk with an ignored directory.
func ignoring(t *testing.T) *desk {
	t.Helper()
	d := open(t)
	d.must(os.Mkdir(d.path(".git"), 0o700))
	d.write(".gitignore", "out/\n")
	d.write("out/sub/a", "person")
	d.write("out/b", "person")
	d.take(files.Look{})
	return d
}

// The earlier bytes of a left-out file are no change, even while podd takes all changes for a
// background command's. What a tool then writes there is the agent's.
func TestNamedLeftOutFiles(t *testing.T) {
	d := ignoring(t)
	odd := "out/odd \xff\n\"name"
	d.write(odd, "person")
	d.must(os.Chmod(d.path("out/sub"), 0o750))
	before := contents(t, d.dir)
	named := all(d.path, []string{"out/sub/a", "out/new", odd, "out/.git/config", ".git/config"})
	from := len(d.line)
	if taken := d.take(files.Look{Agent: true, Named: named}); len(taken) != 1 || taken[0].By != item.ByPerson {
		t.Fatalf("a tool is about to change files: %+v", taken)
	}
	for name, line := range map[string][]item.Checkpoint{"before": d.line[from:], "first": d.line} {
		for _, by := range []item.CheckpointBy{item.ByAgent, item.ByPerson} {
			if steps, err := d.w.Changes(line, by); err != nil || len(steps) > 0 {
				t.Errorf("%s: changes by %v: %+v, %v", name, by, steps, err)
			}
		}
	}
	if taken := d.take(files.Look{Named: named}); taken != nil {
		t.Errorf("a checkpoint without a change: %+v", taken)
	}
	d.write("out/sub/a", "agent")
	d.write("out/new", "agent")
	d.write(odd, "agent")
	d.write("out/b", "not covered")
	d.take(files.Look{Paths: named, Named: named})
	d.reopen()
	d.write("out/sub/a", "agent, by a command")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(from); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	before["out/b"] = contents(t, d.dir)["out/b"]
	d.same(before, "after the undo")
}

// A checkpoint does not cover a file whose path leads through a link.
func TestNamedThroughALink(t *testing.T) {
	d := ignoring(t)
	d.must(os.Symlink("out", d.path("link")))
	d.take(files.Look{})
	if taken := d.take(files.Look{Agent: true, Named: all(d.path, []string{"link/b", "link/new"})}); taken != nil {
		t.Errorf("a checkpoint without a change: %+v", taken)
	}
}

// Another pod in the directory does not take the files for its own work.
func TestNamedByAnotherPod(t *testing.T) {
	d := ignoring(t)
	other := &desk{t: t, dir: d.dir, stores: d.stores, w: d.w, branch: "other"}
	other.take(files.Look{})
	named := []string{d.path("out/new")}
	d.take(files.Look{Named: named})
	d.write("out/new", "agent")
	d.take(files.Look{Paths: named, Named: named})
	if taken := other.take(files.Look{Agent: true}); taken != nil {
		t.Errorf("the other pod: %+v", taken)
	}
	d.write("x", "1")
	if taken := other.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].Changed != 1 {
		t.Errorf("the other pod: %+v", taken)
	}
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	if _, err := os.Lstat(d.path("out/new")); err == nil {
		t.Error("out/new is still there")
	}
}

// The last named files are covered; a file that is dropped for them is not a deleted one.
func TestManyNamedFiles(t *testing.T) {
	d := ignoring(t)
	for i := range 12 {
		var named []string
		for j := range 20 {
			named = append(named, d.path(fmt.Sprintf("out/sub/f%d-%d", i, j)))
		}
		d.take(files.Look{Named: named})
		for _, path := range named {
			d.must(os.WriteFile(path, []byte("agent"), 0o644))
		}
		d.take(files.Look{Agent: true, Named: named})
	}
	if steps, err := d.w.Changes(d.line, item.ByPerson); err != nil || len(steps) > 0 {
		t.Errorf("%d changes of somebody else, %v", len(steps), err)
	}
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	if left, err := filepath.Glob(d.path("out/sub/*")); err != nil || len(left) != 1 { // a
		t.Errorf("%d are left, %v", len(left), err)
	}
	// git shows what a checkpoint covers.
	repos, err := filepath.Glob(filepath.Join(d.stores.Dir, "*.git"))
	d.must(err)
	d.reopen()
	out, err := exec.Command("git", "--git-dir", repos[0], "log", "--branches", "-1").Output()
	if err != nil || !strings.Contains(string(out), `covers "out/sub/f11-19"`) {
		t.Errorf("git log: %s, %v", out, err)
	}
}

// When podd begins to cover a whole directory of which it had only the files of tools, the others are not the agent's.
func TestFromAPartToTheWhole(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	s := files.NewStores(files.StoreConfig{Dir: state, Home: dir})
	d := &desk{t: t, dir: dir, stores: s, w: s.Of(dir)}
	d.write("a", "1")
	d.write("mine", "mine")
	d.take(files.Look{Named: []string{d.path("a")}})
	s.Home = ""
	d.write("a", "2")
	if taken := d.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].By != item.ByPerson || taken[0].Partial {
		t.Fatalf("taken: %+v", taken)
	}
	d.write("a", "3")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	d.same(map[string]string{"a": "-rw-r--r-- 2", "mine": "-rw-r--r-- mine"}, "after the undo")
	d.must(d.w.Rest())
	fsck(t, state)
}
