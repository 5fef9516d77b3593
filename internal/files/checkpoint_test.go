package files_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"podd/internal/files"
	"podd/pkg/item"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(restoreIn); dir != "" {
		restoreAndDie(dir)
	}
	goleak.VerifyTestMain(m)
}

// tb is a test, a benchmark or a property.
type tb interface {
	Fatal(args ...any)
	Errorf(format string, args ...any)
	Context() context.Context
}

// desk is a directory with its checkpoints.
type desk struct {
	t      tb
	dir    string
	stores *files.Stores
	w      *files.Workspace
	line   []item.Checkpoint
	// branch is the pod's; empty means "pod".
	branch string
}

func newDesk(t tb, dir, state string) *desk {
	s := files.NewStores(files.StoreConfig{Dir: state})
	return &desk{t: t, dir: dir, stores: s, w: s.Of(dir)}
}

func open(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"))
	t.Cleanup(func() {
		d.must(d.w.Rest())
		fsck(t, d.stores.Dir)
	})
	return d
}

// reopen ends the use of the directory, as the end of a turn does, and begins another one.
func (d *desk) reopen() {
	d.must(d.w.Rest())
	d.w = d.stores.Of(d.dir)
}

// fsck lets stock git check all repositories.
func fsck(t testing.TB, dir string) {
	t.Helper()
	repos, err := filepath.Glob(filepath.Join(dir, "*.git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, repo := range repos {
		if out, err := exec.Command("git", "--git-dir", repo, "fsck", "--full", "--no-dangling").CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
			t.Errorf("git fsck %s: %v\n%s", repo, err, out)
		}
	}
}

func (d *desk) path(rel string) string { return filepath.Join(d.dir, rel) }

func (d *desk) write(rel, text string) {
	d.must(os.MkdirAll(filepath.Dir(d.path(rel)), 0o755))
	d.must(os.WriteFile(d.path(rel), []byte(text), 0o644))
}

func (d *desk) must(err error) {
	if err != nil {
		d.t.Fatal(err)
	}
}

// take makes the checkpoints that are due.
func (d *desk) take(l files.Look) []item.Checkpoint {
	if n := len(d.line); n > 0 {
		l.After = d.line[n-1].Commit
	}
	l.Branch, l.Message = cmp.Or(d.branch, "pod"), "test"
	taken, err := d.w.Take(d.t.Context(), l)
	d.must(err)
	d.line = append(d.line, taken...)
	return taken
}

// all are the absolute paths.
func all(path func(string) string, rels []string) (out []string) {
	for _, rel := range rels {
		out = append(out, path(rel))
	}
	return out
}

// contents has everything in the directory: bytes, links, modes.
func contents(t tb, dir string) map[string]string {
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + " "
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(data)
		case info.Mode().Type() == fs.ModeSymlink:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += to
		}
		rel, err := filepath.Rel(dir, path)
		all[rel] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *desk) same(want map[string]string, what string) {
	if got := contents(d.t, d.dir); !maps.Equal(got, want) {
		d.t.Errorf("%s: the directory has\n%q\nwant\n%q", what, got, want)
	}
}

// undo takes back all that the agent did since the checkpoint at from.
func (d *desk) undo(from int) (files.Restored, []files.Conflict) {
	steps, err := d.w.Steps(d.line[from+1:])
	d.must(err)
	todo, conflicts, err := d.w.Plan(d.t.Context(), steps)
	d.must(err)
	if len(conflicts) > 0 {
		return files.Restored{}, conflicts
	}
	done, err := d.w.Restore(d.t.Context(), todo)
	d.must(err)
	return done, nil
}

// What a command did to files, links, modes and directories is taken back, and taken back again.
func TestUndo(t *testing.T) {
	d := open(t)
	odd := "odd \xff\n name"
	d.write("kept", "kept")
	d.write("changed", "before")
	d.write("mode", "x")
	d.write("gone/deep/file", "text")
	d.write("file-then-dir", "was a file")
	d.write("dir-then-file/a", "a")
	d.write("dir-then-file/b", "b")
	d.write(odd, "odd")
	d.write("nested/.git/HEAD", "no checkpoint has this")
	d.write("nested/in", "in")
	d.must(os.Mkdir(d.path("empty"), 0o700))
	d.must(os.Symlink("changed", d.path("link")))
	d.must(os.Chmod(d.path("mode"), 0o640))
	before := contents(t, d.dir)
	if taken := d.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].Partial || taken[0].LeftOut != 0 {
		t.Fatalf("first: %+v", taken)
	}
	if taken := d.take(files.Look{Agent: true}); taken != nil {
		t.Errorf("a checkpoint without a change: %+v", taken)
	}

	d.write("changed", "after, and longer")
	d.write("made/new/file", "new")
	d.must(os.RemoveAll(d.path("gone")))
	d.must(os.Chmod(d.path("mode"), 0o755))
	d.must(os.Remove(d.path("file-then-dir")))
	d.write("file-then-dir/in", "in")
	d.must(os.RemoveAll(d.path("dir-then-file")))
	d.write("dir-then-file", "now a file")
	d.write(odd, "still odd")
	d.write("nested/in", "changed")
	d.write("nested/.git/HEAD", "moved")
	d.must(os.Remove(d.path("empty")))
	d.must(os.Mkdir(d.path("empty-too"), 0o755))
	d.must(os.Remove(d.path("link")))
	d.must(os.Symlink("kept", d.path("link")))
	after := contents(t, d.dir)
	if taken := d.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].By != item.ByAgent {
		t.Fatalf("the agent's: %+v", taken)
	}
	before["nested/.git/HEAD"] = after["nested/.git/HEAD"]

	done, conflicts := d.undo(0)
	if len(conflicts)+len(done.Conflicts) > 0 {
		t.Fatalf("conflicts: %v %v", conflicts, done.Conflicts)
	}
	d.same(before, "after the undo")
	if taken := d.take(files.Look{Restored: true, Paths: all(d.path, done.Paths)}); len(taken) != 1 || taken[0].By != item.ByRestore {
		t.Fatalf("the restore's: %+v", taken)
	}
	if done, _ = d.undo(2); len(done.Paths) > 0 {
		t.Errorf("an undo of nothing wrote %q", done.Paths)
	}
	if _, conflicts := d.undo(1); len(conflicts) > 0 {
		t.Fatalf("conflicts of the second undo: %v", conflicts)
	}
	d.same(after, "after the undo of the undo")
}

// What a person wrote stays, wherever in the history it was written.
func TestPersonsFilesStay(t *testing.T) {
	d := open(t)
	d.write("both", "1")
	d.write("mine", "1")
	d.write("later", "1")
	d.take(files.Look{Agent: true})
	d.write("both", "agent")
	d.write("later", "agent")
	d.write("made", "agent")
	d.take(files.Look{Agent: true})
	d.write("both", "person")
	d.write("mine", "person")
	if taken := d.take(files.Look{}); len(taken) != 1 || taken[0].By != item.ByPerson || taken[0].Changed != 2 {
		t.Fatalf("the person's: %+v", taken)
	}
	d.write("both", "agent again")
	d.take(files.Look{Agent: true})
	d.write("later", "person, and no checkpoint")
	d.must(os.Remove(d.path("made")))
	before := contents(t, d.dir)
	_, conflicts := d.undo(0)
	if len(conflicts) != 1 || conflicts[0].Path != "later" {
		t.Fatalf("conflicts: %v", conflicts)
	}
	d.same(before, "after a refused undo")
	d.write("later", "agent")
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	for rel, want := range map[string]string{"both": "person", "mine": "person", "later": "1"} {
		if got, err := os.ReadFile(d.path(rel)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", rel, got, err, want)
		}
	}
}

// In the step of a file tool only its file is the agent's.
func TestToolsChangeTheirFilesAlone(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.take(files.Look{})
	d.write("a", "2")
	d.write("b", "person")
	d.write("new/tool", "agent")
	d.write("new/person", "person")
	taken := d.take(files.Look{Paths: []string{d.path("a"), d.path("new/tool"), "/elsewhere"}})
	if len(taken) != 2 || taken[0].By != item.ByAgent || taken[1].By != item.ByPerson {
		t.Fatalf("taken: %+v", taken)
	}
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	got := slices.Sorted(maps.Keys(contents(t, d.dir)))
	if want := []string{"a", "b", "new", "new/person"}; !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
}

// What checkpoints leave out is named, and neither read nor removed.
func TestLeftOut(t *testing.T) {
	d := open(t)
	d.write(".gitignore", "out/\n.env\n*.big\n")
	d.write("out/x", "x")
	d.write(".env", "secret")
	d.write("a.big", strings.Repeat("x", 2<<20))
	d.write("huge", "")
	d.must(os.Truncate(d.path("huge"), 17<<20))
	taken := d.take(files.Look{})
	left, err := d.w.LeftOut(t.Context())
	if want := []string{"a.big", "huge", "out/"}; err != nil || !slices.Equal(slices.Sorted(slices.Values(left)), want) || taken[0].LeftOut != 3 {
		t.Errorf("left out: %q, %v, %+v; want %q", left, err, taken, want)
	}
	d.write(".env", "changed")
	d.write("out/x", "y")
	d.take(files.Look{Agent: true})
	if done, conflicts := d.undo(0); len(conflicts) > 0 || !slices.Equal(done.Paths, []string{".env"}) {
		t.Errorf("undone: %+v, %v", done, conflicts)
	}
}

// Stamps are found again by another podd, and a file that was changed in the same instant is
// seen.
func TestChangesAreFound(t *testing.T) {
	d := open(t)
	for i := range 50 {
		d.write(fmt.Sprintf("d%d/f", i%7), fmt.Sprint(i))
		d.write(fmt.Sprintf("d%d.f", i%7), "x")
	}
	d.take(files.Look{})
	for i := range 40 {
		d.write("d3/f", fmt.Sprint(i%2)) // of one size
		if taken := d.take(files.Look{Agent: true}); len(taken) != 1 {
			t.Fatalf("change %d was not seen", i)
		}
		if i%10 == 0 {
			d.must(d.w.Rest())
			again := newDesk(t, d.dir, d.stores.Dir)
			d.stores, d.w = again.stores, again.w
			if taken := d.take(files.Look{Agent: true}); taken != nil {
				t.Fatalf("a checkpoint without a change: %+v", taken)
			}
		}
	}
}

// In a directory beyond the bounds, and in the home directory, the files of tools are covered.
func TestNamedFilesAlone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	s := files.NewStores(files.StoreConfig{Dir: state, Home: dir})
	d := &desk{t: t, dir: dir, stores: s, w: s.Of(dir)}
	d.write("a", "1")
	d.write("other", "1")
	taken := d.take(files.Look{Named: []string{d.path("a"), d.path("sub/new")}})
	if len(taken) != 1 || !taken[0].Partial {
		t.Fatalf("taken: %+v", taken)
	}
	d.write("a", "2")
	d.write("sub/new", "new")
	d.write("other", "2")
	d.take(files.Look{Paths: []string{d.path("a"), d.path("sub/new")}, Named: []string{d.path("a"), d.path("sub/new")}})
	if done, conflicts := d.undo(0); len(conflicts) > 0 || !slices.Equal(done.Paths, []string{"a", "sub", "sub/new"}) {
		t.Errorf("undone: %+v, %v", done, conflicts)
	}
	if got := contents(t, dir); len(got) != 2 || !strings.HasSuffix(got["a"], " 1") || !strings.HasSuffix(got["other"], " 2") {
		t.Errorf("the directory has %q", got)
	}
	fsck(t, state)
}

// A file that changes between the plan and the restore stays, and so does one that a killed
// restore had taken out of its place.
func TestChangedUnderTheRestore(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.write("b", "1")
	d.take(files.Look{})
	d.write("a", "agent")
	d.write("b", "agent")
	d.write("c", "agent")
	d.take(files.Look{Agent: true})
	steps, err := d.w.Steps(d.line[1:])
	d.must(err)
	todo, conflicts, err := d.w.Plan(t.Context(), steps)
	if err != nil || len(conflicts) > 0 {
		t.Fatal(conflicts, err)
	}
	d.write("a", "person")
	d.write("c", "person")
	done, err := d.w.Restore(t.Context(), todo)
	if err != nil || len(done.Conflicts) != 2 || !slices.Equal(done.Paths, []string{"b"}) {
		t.Errorf("restored: %+v, %v", done, err)
	}
	for rel, want := range map[string]string{"a": "person", "b": "1", "c": "person"} {
		if got, err := os.ReadFile(d.path(rel)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", rel, got, err, want)
		}
	}
}

// restoreIn makes the test a process that restores a directory and then waits to be killed.
const restoreIn = "PODD_TEST_RESTORE_IN"

func restoreAndDie(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	w := files.NewStores(files.StoreConfig{Dir: os.Getenv("PODD_TEST_STATE")}).Of(dir)
	steps, err := w.Steps([]item.Checkpoint{{Parent: os.Getenv("PODD_TEST_FROM"), Commit: os.Getenv("PODD_TEST_TO"), By: item.ByAgent}})
	fail(err)
	fmt.Println("begins")
	_, err = w.Restore(context.Background(), merging(steps))
	fail(err)
	fmt.Println("restored")
	time.Sleep(time.Hour) // A select without cases is a deadlock to the runtime.
}

// back counts the files that have what they had before the agent.
func back(got map[string]string) (n int) {
	for i := range 60 {
		if text := strings.Repeat(fmt.Sprintln("before", i), 200); strings.HasSuffix(got[fmt.Sprintf("d%d/f%d", i%7, i)], " "+text) {
			n++
		}
	}
	return n
}

// Wherever a restore is killed, another one ends it: nothing is lost, nothing lies about, and
// what a person wrote stays.
func TestKilledRestore(t *testing.T) {
	middle := 0
	for round := range 25 {
		if testing.Short() && round%5 > 0 {
			continue
		}
		d := open(t)
		for i := range 60 {
			d.write(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat(fmt.Sprintln("before", i), 200))
		}
		d.write("person", "before")
		for i := range 20 {
			d.write(fmt.Sprintf("d%d/m%d", i%7, i), twoLines("before", "before"))
		}
		d.take(files.Look{})
		for i := range 20 {
			d.write(fmt.Sprintf("d%d/m%d", i%7, i), twoLines("agent", "before"))
		}
		for i := range 60 {
			switch path := fmt.Sprintf("d%d/f%d", i%7, i); i % 3 {
			case 0:
				d.must(os.Remove(d.path(path)))
			case 1:
				d.write(path, fmt.Sprint("agent", i))
			case 2:
				d.write(path+".new", fmt.Sprint("agent", i))
			}
		}
		d.write("person", "agent")
		d.take(files.Look{Agent: true})
		d.write("person", "person")
		for i := range 20 {
			d.write(fmt.Sprintf("d%d/m%d", i%7, i), twoLines("agent", "person"))
		}
		before := d.line[1].Parent

		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), restoreIn+"="+d.dir, "PODD_TEST_STATE="+d.stores.Dir, "PODD_TEST_FROM="+before, "PODD_TEST_TO="+d.line[1].Commit)
		out, err := cmd.StdoutPipe()
		d.must(err)
		d.must(cmd.Start())
		word := make([]byte, len("begins\n"))
		_, err = io.ReadFull(out, word)
		d.must(err)
		// The kill comes as soon as one more of the deleted files is back.
		var deleted []string
		for i := 0; i < 60; i += 3 {
			deleted = append(deleted, d.path(fmt.Sprintf("d%d/f%d", i%7, i)))
		}
		slices.Sort(deleted)
		for _, err := os.Lstat(deleted[round%20]); err != nil; _, err = os.Lstat(deleted[round%20]) {
			runtime.Gosched()
		}
		d.must(cmd.Process.Kill())
		_ = cmd.Wait()
		if n := back(contents(t, d.dir)); n > 20 && n < 60 {
			middle++
		}

		steps, err := d.w.Steps(d.line[1:])
		d.must(err)
		done, err := d.w.Restore(t.Context(), merging(steps))
		if err != nil || len(done.Conflicts) != 1 || done.Conflicts[0].Path != "person" {
			t.Fatalf("round %d: %+v, %v", round, done, err)
		}
		got := contents(t, d.dir)
		for i := range 20 {
			if name := fmt.Sprintf("d%d/m%d", i%7, i); !strings.HasSuffix(got[name], " "+twoLines("before", "person")) {
				t.Errorf("round %d: %s is %q", round, name, got[name])
			}
		}
		if back(got) != 60 || len(got) != 60+20+7+1 || !strings.HasSuffix(got["person"], " person") {
			t.Errorf("round %d: the directory has %q", round, slices.Sorted(maps.Keys(got)))
		}
	}
	t.Logf("%d were killed in the middle", middle)
}

// What no log needs any more goes; what one needs can still be taken back.
func TestCollect(t *testing.T) {
	d := open(t)
	other := newDesk(t, t.TempDir(), d.stores.Dir)
	other.write("a", "1")
	other.take(files.Look{})
	d.must(other.w.Rest())
	for i := range 100 {
		d.write("a", fmt.Sprint(i))
		d.write(fmt.Sprintf("sub%d/b", i%3), fmt.Sprint("b", i))
		d.take(files.Look{Agent: true})
		if i%10 == 0 {
			d.reopen()
		}
	}
	packs := func() int {
		found, err := filepath.Glob(filepath.Join(d.stores.Dir, "*.git", "objects", "pack", "*.pack"))
		d.must(err)
		return len(found)
	}
	if n := packs(); n < 3 || n > 64 {
		t.Fatalf("%d packs of 101 checkpoints", n)
	}
	var keep []string
	for _, m := range d.line[90:] {
		keep = append(keep, m.Parent, m.Commit)
	}
	d.must(d.stores.Collect(t.Context(), map[string]files.Needed{d.dir: {}}, time.Now().Add(-time.Hour)))
	if _, err := d.w.Steps(d.line[1:]); err != nil {
		t.Errorf("what was made in the last hour is gone: %v", err)
	}
	d.must(d.stores.Collect(t.Context(), map[string]files.Needed{d.dir: {Commits: keep}}, time.Now().Add(time.Hour)))
	if n := packs(); n != 1 {
		t.Errorf("%d packs are left", n)
	}
	fsck(t, d.stores.Dir)
	if _, err := d.w.Steps(d.line[50:]); !errors.Is(err, files.ErrUnknown) {
		t.Errorf("what is not kept: %v", err)
	}
	if _, conflicts := d.undo(89); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	if got, err := os.ReadFile(d.path("a")); err != nil || string(got) != "89" {
		t.Errorf("a is %q, %v", got, err)
	}
	d.write("sub1/b", "more")
	d.take(files.Look{Agent: true})
	d.must(d.stores.Collect(t.Context(), nil, time.Now()))
	if left, _ := filepath.Glob(filepath.Join(d.stores.Dir, "*")); len(left) != 1 {
		t.Errorf("%q are left; one is in use", left)
	}
}

// A file that the agent brings into checkpoints, because it changed the rules or the size, is not the
// agent's: an undo does not delete it. So it is after a kill in the step, too.
func TestWhatWasLeftOutStays(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d := open(t)
		d.must(os.Mkdir(d.path(".git"), 0o700))
		d.write(".gitignore", "data/\n*.log\n")
		d.write("data/sub/mine", "mine")
		d.write("sub/data/mine", "mine")
		d.write("sub/deep/x", "x")
		for _, name := range []string{"big", "sub/deep/big"} {
			d.write(name, "")
			d.must(os.Truncate(d.path(name), 17<<20))
		}
		d.write("a.log", "")
		d.must(os.Truncate(d.path("a.log"), 2<<20))
		d.take(files.Look{})
		// A look at one directory alone keeps what others have.
		d.write("sub/deep/x", "y")
		d.take(files.Look{})
		from := len(d.line) - 1
		if killed {
			d.stores = files.NewStores(files.StoreConfig{Dir: d.stores.Dir})
			d.must(d.w.Rest())
			d.w = d.stores.Of(d.dir)
		}
		d.must(os.Remove(d.path(".gitignore")))
		for _, name := range []string{"big", "sub/deep/big", "a.log"} {
			d.must(os.Truncate(d.path(name), 5))
		}
		d.write("made", "by the agent")
		d.write("sub/deep/made", "by the agent")
		d.take(files.Look{Agent: true})
		if _, conflicts := d.undo(from); len(conflicts) > 0 {
			t.Error(conflicts)
		}
		for _, name := range []string{".gitignore", "data/sub/mine", "sub/data/mine", "big", "sub/deep/big", "a.log"} {
			if _, err := os.Lstat(d.path(name)); err != nil {
				t.Errorf("killed %v: %v", killed, err)
			}
		}
		for _, name := range []string{"made", "sub/deep/made"} {
			if _, err := os.Lstat(d.path(name)); err == nil {
				t.Errorf("killed %v: %s is still there", killed, name)
			}
		}
	}
}

// The oldest go when they have too many bytes, also when few of the files do.
func TestLargeCheckpoints(t *testing.T) {
	d := open(t)
	for i := range 200 {
		d.write(fmt.Sprint("small", i), fmt.Sprint(i))
	}
	for i := range 4 {
		large := make([]byte, 1<<20)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(large)
		d.write("large", string(large))
		d.take(files.Look{Agent: true})
	}
	need := files.Needed{}
	for _, m := range d.line {
		need.Commits = append(need.Commits, m.Commit)
	}
	need.Always = need.Commits[2:]
	keep := map[string]files.Needed{d.dir: need}
	future := time.Now().Add(time.Hour)
	d.must(d.stores.Collect(t.Context(), keep, future))
	if _, err := d.w.Steps(d.line[1:]); err != nil {
		t.Errorf("there was room: %v", err)
	}
	d.stores.Room = 3 << 20
	d.must(d.stores.Collect(t.Context(), keep, future))
	if _, err := d.w.Steps(d.line[1:]); !errors.Is(err, files.ErrUnknown) {
		t.Errorf("there was no room: %v", err)
	}
	if _, conflicts := d.undo(2); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.stores.Room = 1
	d.must(d.stores.Collect(t.Context(), keep, future))
	if _, err := d.w.Steps(d.line[3:]); err != nil {
		t.Errorf("the last turns stay however large they are: %v", err)
	}
}

// No name hides a file from checkpoints: an agent can give all of them.
func TestNoNameHides(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.take(files.Look{})
	names := []string{".podd-U7C65JVITCFZCCFMMBKQRMAS5B.tmp", ".podd-restore-a", ".podd-restore-b/in", ".podd-restore-0123456789abcdef", ".podd-moved-x", "sub/.podd-restore-c", "a.podd-saved"}
	for _, name := range names {
		d.write(name, "agent")
	}
	d.take(files.Look{Agent: true, Named: []string{d.path(names[0])}})
	steps, err := d.w.Changes(d.line[1:], item.ByAgent)
	d.must(err)
	for _, name := range names {
		if !slices.ContainsFunc(steps, func(s files.Step) bool { return s.Path == name }) {
			t.Errorf("%s is not in the diff", name)
		}
	}
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(map[string]string{"a": "-rw-r--r-- 1"}, "after the undo")
}

// What an agent lays under names that look like a restore's neither stops an undo nor leads it to another
// file.
func TestNamesOfARestore(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.write("victim", "mine")
	d.write(".podd-restore-b/in", "in the way")
	sum := sha256.Sum256([]byte("a"))
	names := []string{".podd-restore-a", ".podd-restore-" + hex.EncodeToString(sum[:8])}
	for _, name := range names {
		d.must(os.Symlink("victim", d.path(name)))
	}
	d.take(files.Look{})
	before := contents(t, d.dir)
	d.write("a", "2")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(before, "after the undo")
}

// What somebody makes of the file beside its place after a kill does not stop the next restore.
func TestSettledRestoreOfOtherThings(t *testing.T) {
	for name, plant := range map[string]func(d *desk, at string) error{
		"directory": func(d *desk, at string) error { return os.MkdirAll(filepath.Join(at, "full"), 0o755) },
		"pipe":      func(_ *desk, at string) error { return syscall.Mkfifo(at, 0o600) },
		"link":      func(_ *desk, at string) error { return os.Symlink("victim", at) },
		"nothing":   func(*desk, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.write("a", "1")
			d.write("victim", "mine")
			d.take(files.Look{})
			d.write("a", "2")
			d.take(files.Look{Agent: true})
			steps, err := d.w.Steps(d.line[1:])
			d.must(err)
			temp, err := d.w.Killed(steps[0], "")
			d.must(err)
			d.must(plant(d, d.path(temp)))
			if taken := d.take(files.Look{}); taken != nil {
				t.Errorf("a look takes what the killed restore left: %+v", taken)
			}
			_, err = d.w.Restore(t.Context(), steps)
			d.must(err)
			if got := contents(t, d.dir); got["a"] != "-rw-r--r-- 1" || got["victim"] != "-rw-r--r-- mine" {
				t.Errorf("the directory has %v", got)
			}
		})
	}
}

// However many checkpoints there are, there are few packs, with all that was kept.
func TestManyCheckpoints(t *testing.T) {
	d := open(t)
	d.write("large", strings.Repeat("x", 1<<20))
	most, many := 0, 200
	if testing.Short() {
		many = 100
	}
	for i := range many {
		d.write(fmt.Sprintf("d%d/f", i%5), fmt.Sprint(i))
		d.take(files.Look{Agent: true})
		d.reopen()
		found, err := filepath.Glob(filepath.Join(d.stores.Dir, "*.git", "objects", "pack", "*.pack"))
		d.must(err)
		most = max(most, len(found))
	}
	if most > 64 {
		t.Errorf("there were %d packs", most)
	}
	fsck(t, d.stores.Dir)
	if steps, err := d.w.Steps(d.line[1:]); err != nil || len(steps) != 9 {
		t.Errorf("%d paths changed: %v", len(steps), err)
	}
	if _, conflicts := d.undo(many/2 - 1); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	if got, err := os.ReadFile(d.path("d4/f")); err != nil || string(got) != fmt.Sprint(many/2-1) {
		t.Errorf("d4/f is %q, %v", got, err)
	}
	d.must(d.w.Rest())
}

func TestMissingDirectory(t *testing.T) {
	d := open(t)
	d.must(os.RemoveAll(d.dir))
	if _, err := d.w.Take(t.Context(), files.Look{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// Whatever an agent and a person do to files, an undo gives back what the agent changed last,
// to what the person had, and refuses as soon as the person changed such a file since.
func TestUndoOfAnyHistory(t *testing.T) {
	state := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(state, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, dir, filepath.Join(state, "checkpoints"))
		paths := []string{"a", "b", "x/a", "x/b", "x/y/a"}
		act := func(who string) {
			for range rapid.IntRange(0, 3).Draw(t, who) {
				p := rapid.SampledFrom(paths).Draw(t, "path")
				if rapid.Bool().Draw(t, "write") {
					d.write(p, rapid.SampledFrom([]string{"1", "2", "3", who}).Draw(t, "text"))
				} else if err := os.Remove(d.path(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
		}
		texts := func() map[string]string {
			all := contents(t, dir)
			maps.DeleteFunc(all, func(_, text string) bool { return strings.HasPrefix(text, "d") })
			return all
		}
		act("before")
		d.take(files.Look{})
		// want is what each path gets, left what the agent left, of paths that the agent changed.
		type end struct{ want, left string }
		ends := make(map[string]*end)
		shut := make(map[string]bool)
		now := texts()
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			who := rapid.SampledFrom([]string{"person", "agent"}).Draw(t, "who")
			before := now
			act(who)
			d.take(files.Look{Agent: who == "agent"})
			now = texts()
			for _, p := range paths {
				switch {
				case before[p] == now[p]:
				case who == "person":
					shut[p] = true
				case ends[p] == nil || shut[p]:
					ends[p], shut[p] = &end{before[p], now[p]}, false
				default:
					ends[p].left = now[p]
				}
			}
		}
		act("late")
		now = texts()
		want, conflicts := maps.Clone(now), 0
		for p, e := range ends {
			switch {
			case e.left == e.want || now[p] == e.want:
			case now[p] != e.left:
				conflicts++
			case e.want == "":
				delete(want, p)
			default:
				want[p] = e.want
			}
		}
		_, found := d.undo(0)
		if len(found) != conflicts {
			t.Fatalf("conflicts: %v, want %d", found, conflicts)
		}
		if conflicts > 0 {
			want = now
		}
		if got := texts(); !maps.Equal(got, want) {
			t.Fatalf("after the undo %q, want %q", got, want)
		}
	})
	fsck(t, filepath.Join(state, "checkpoints"))
}

// A look at a directory without a change, and with ten changes.
func BenchmarkTake(b *testing.B) {
	d := newDesk(b, b.TempDir(), b.TempDir())
	for i := range 10_000 {
		d.write(fmt.Sprintf("d%d/e%d/f%d.go", i%10, i/10%100, i), strings.Repeat("line\n", i%100))
	}
	d.take(files.Look{})
	time.Sleep(50 * time.Millisecond)
	d.write("d0/e0/f0.go", "first")
	d.take(files.Look{})
	time.Sleep(50 * time.Millisecond)
	d.take(files.Look{})
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if taken := d.take(files.Look{}); taken != nil {
				b.Fatal(taken)
			}
		}
	})
	b.Run("ten", func(b *testing.B) {
		n := 0
		for b.Loop() {
			b.StopTimer()
			for i := range 10 {
				n++
				d.write(fmt.Sprintf("d%d/e%d/f%d.go", i, i, i+i*10), fmt.Sprint(n))
			}
			b.StartTimer()
			d.take(files.Look{Agent: true})
		}
	})
}
