package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"podd/internal/workspace/checkpoint"
)

// killed copies the checkpoints as a killed podd leaves them.
func (d *desk) killed(t *testing.T) *desk {
	state := filepath.Join(t.TempDir(), "checkpoints")
	d.must(os.CopyFS(state, os.DirFS(d.stores.Dir)))
	copied := newDesk(t, d.dir, state)
	copied.line = slices.Clone(d.line)
	return copied
}

func (d *desk) repo() string {
	found, err := filepath.Glob(filepath.Join(d.stores.Dir, "*.git"))
	d.must(err)
	return found[0]
}

// tenJournaled has ten checkpoints after the first one, which no pack has.
func tenJournaled(t *testing.T) *desk {
	d := open(t)
	d.write("sub/a", "a")
	d.take(checkpoint.Look{})
	d.reopen()
	for i := range 10 {
		d.write("sub/a", fmt.Sprint(i))
		d.take(checkpoint.Look{Agent: true})
	}
	return d
}

// A power failure may leave any beginning of a journal. The checkpoints in it are there, and the
// next ones follow them.
func TestCutJournal(t *testing.T) {
	d := tenJournaled(t)
	whole, err := os.ReadFile(filepath.Join(d.repo(), "journal"))
	d.must(err)
	end := len(whole)
	for whole[end-1] == 0 {
		end--
	}
	known := 0
	for cut := 0; cut <= end; cut += 97 {
		after := d.killed(t)
		garbled := append(append([]byte(nil), whole[:cut]...), "not an object"...)
		d.must(os.WriteFile(filepath.Join(after.repo(), "journal"), garbled, 0o600))
		n := 0
		for _, m := range d.line[1:] {
			switch _, err := after.w.Steps([]checkpoint.Mark{m}); {
			case err == nil:
				n++
			case !errors.Is(err, checkpoint.ErrUnknown):
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
		if n < known {
			t.Fatalf("cut at %d: %d checkpoints, and %d in less", cut, n, known)
		}
		known = n
		after.line = after.line[:1+n]
		after.take(checkpoint.Look{Agent: true})
		d.must(after.w.Rest())
		if steps, err := after.w.Steps(after.line); err != nil || len(steps) != 1 {
			t.Errorf("cut at %d: %d paths changed: %v", cut, len(steps), err)
		}
		d.must(after.w.Rest())
		fsck(t, after.stores.Dir)
	}
	if known < 9 {
		t.Errorf("%d checkpoints are in a journal that lacks its last bytes", known)
	}
}

// Stock git rescues what a killed podd left in a journal; the next use makes it an ordinary pack
// and branch.
func TestRescuedJournal(t *testing.T) {
	d := tenJournaled(t)
	after := d.killed(t)
	read := func() string {
		out, _ := exec.Command("git", "--git-dir", after.repo(), "cat-file", "blob", d.line[5].To+":sub/a").CombinedOutput()
		return string(out)
	}
	journal, err := os.Open(filepath.Join(after.repo(), "journal"))
	d.must(err)
	defer journal.Close()
	unpack := exec.Command("git", "--git-dir", after.repo(), "unpack-objects", "-r", "-q")
	unpack.Stdin = journal
	_ = unpack.Run() // A journal has no end, which git says.
	if got := read(); got != "4" {
		t.Errorf("rescued: %q", got)
	}
	after = d.killed(t)
	if _, err := after.w.Steps(d.line[1:]); err != nil {
		t.Error(err)
	}
	d.must(after.w.Rest())
	fsck(t, after.stores.Dir)
	if got := read(); got != "4" {
		t.Errorf("after the next use: %q", got)
	}
	head, err := os.ReadFile(filepath.Join(after.repo(), "refs/heads/pod"))
	if last := d.line[len(d.line)-1].To + "\n"; err != nil || string(head) != last {
		t.Errorf("the branch is %q, want %q: %v", head, last, err)
	}
}

// A journal whose pack cannot be written stays.
func TestFailedPack(t *testing.T) {
	d := tenJournaled(t)
	packs := filepath.Join(d.repo(), "objects", "pack")
	d.must(os.Rename(packs, packs+".gone"))
	if err := d.w.Rest(); err == nil {
		t.Error("a pack was written to a directory that is gone")
	}
	d.must(os.Rename(packs+".gone", packs))
	d.w = d.stores.Of(d.dir)
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Errorf("conflicts: %v", conflicts)
	}
	d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/a": "-rw-r--r-- a"}, "after the undo")
}
