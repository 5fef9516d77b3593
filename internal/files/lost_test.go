package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/files"
)

// packs are those of the repository, without the ends of their names.
func (d *desk) packs() (names []string) {
	found, err := filepath.Glob(filepath.Join(d.repo(), "objects", "pack", "*.pack"))
	d.must(err)
	for _, name := range found {
		names = append(names, strings.TrimSuffix(name, ".pack"))
	}
	return names
}

// settle lets looks find the file until they know that it is unchanged without reading it: the repository's index has it.
func (d *desk) settle(rel string) {
	for {
		d.reopen()
		if taken := d.take(files.Look{}); len(taken) > 0 {
			d.t.Fatal(taken)
		}
		d.must(d.w.Rest())
		known, err := os.ReadFile(filepath.Join(d.repo(), "index"))
		d.must(err)
		d.w = d.stores.Of(d.dir)
		if bytes.Contains(known, []byte(rel)) {
			return
		}
	}
}

// holed is a desk whose repository no git checks: history has a hole.
func holed(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"))
	t.Cleanup(func() { d.must(d.w.Rest()) })
	return d
}

// The first checkpoint after packs were lost has the bytes of unchanged files, too.
func TestLostPacks(t *testing.T) {
	for name, lose := range map[string]func(pack string) error{
		"half a pack":    func(pack string) error { return errors.Join(os.Truncate(pack+".pack", 30), os.Remove(pack+".idx")) },
		"without a pack": func(pack string) error { return os.Remove(pack + ".pack") },
	} {
		t.Run(name, func(t *testing.T) {
			d := holed(t)
			d.write("sub/settled", "1")
			d.take(files.Look{})
			d.write("sub/settled", "2")
			d.take(files.Look{Agent: true})
			d.settle("sub/settled")
			d.must(d.w.Rest())
			for _, pack := range d.packs() {
				d.must(lose(pack))
			}
			d.w = d.stores.Of(d.dir)
			if _, err := d.w.Take(t.Context(), files.Look{After: d.line[1].Commit, Branch: "pod"}); !errors.Is(err, files.ErrUnknown) {
				t.Fatalf("after a lost checkpoint: %v", err)
			}
			d.line = nil
			d.take(files.Look{})
			d.write("sub/settled", "3")
			d.take(files.Look{Agent: true})
			if _, conflicts := d.undo(0); len(conflicts) > 0 {
				t.Error(conflicts)
			}
			d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/settled": "-rw-r--r-- 2"}, "after the undo")
		})
	}
}

// A look writes again what a lost pack had of a directory that is in a later checkpoint, too.
func TestLostDirectory(t *testing.T) {
	d := holed(t)
	d.write("sub/settled", "1")
	d.write("other", "1")
	d.take(files.Look{})
	first := d.packs()
	d.write("other", "2")
	d.take(files.Look{Agent: true})
	d.settle("sub/settled")
	d.must(d.w.Rest())
	d.must(os.Remove(first[0] + ".pack"))
	d.w = d.stores.Of(d.dir)
	if taken := d.take(files.Look{}); len(taken) > 0 {
		t.Errorf("a checkpoint without a change: %+v", taken)
	}
	from := len(d.line) - 1
	d.write("sub/settled", "2")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(from); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/settled": "-rw-r--r-- 1", "other": "-rw-r--r-- 2"}, "after the undo")
}

// A checkpoint that the system does not let podd read now is not a lost one: no other line of checkpoints begins.
func TestRefusedPack(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.take(files.Look{})
	d.reopen()
	pack := d.packs()[0] + ".pack"
	d.must(os.Rename(pack, pack+".aside"))
	d.must(os.Mkdir(pack, 0o700)) // Reading it is an error of the system.
	look := files.Look{After: d.line[0].Commit, Branch: "pod"}
	if _, err := d.w.Take(t.Context(), look); err == nil || errors.Is(err, files.ErrUnknown) {
		t.Errorf("a pack that cannot be read: %v", err)
	}
	d.must(errors.Join(os.Remove(pack), os.Rename(pack+".aside", pack)))
	if taken := d.take(files.Look{}); len(taken) > 0 {
		t.Errorf("a checkpoint without a change: %+v", taken)
	}
}

// A damaged pack does not keep the others from becoming one, and stays for whoever can mend it.
func TestGatheringWithADamagedPack(t *testing.T) {
	d := holed(t)
	d.write("a", "first")
	d.take(files.Look{})
	damaged := d.packs()[0]
	d.must(os.Truncate(damaged+".pack", 20))
	for i := range 70 {
		d.write("a", fmt.Sprint(i))
		d.take(files.Look{Agent: true})
	}
	if packs := d.packs(); len(packs) > 20 || !slices.Contains(packs, damaged) {
		t.Errorf("%d packs are left, the damaged one: %v", len(packs), slices.Contains(packs, damaged))
	}
	if _, conflicts := d.undo(1); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(map[string]string{"a": "-rw-r--r-- 0"}, "after the undo")
}

// Packs that a person's git put into another one are found there, also by what makes one of many.
func TestPacksOfAnotherGit(t *testing.T) {
	d := open(t)
	for i := range 60 {
		d.write("a", fmt.Sprint(i))
		d.take(files.Look{Agent: true})
	}
	if out, err := exec.Command("git", "--git-dir", d.repo(), "repack", "-a", "-d", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git repack: %v\n%s", err, out)
	}
	for i := range 10 {
		d.write("a", fmt.Sprint("more", i))
		d.take(files.Look{Agent: true})
	}
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(map[string]string{"a": "-rw-r--r-- 0"}, "after the undo")
}

// Nothing that a kill, or an earlier podd, left in the repository stays there.
func TestSweptRepository(t *testing.T) {
	d := open(t)
	d.write("a", "1")
	d.take(files.Look{})
	d.must(d.w.Rest())
	pack := d.packs()[0]
	left := []string{filepath.Join(filepath.Dir(pack), "pack-0.idx"), filepath.Join(filepath.Dir(pack), "tmp_pack_1"), filepath.Join(d.repo(), "journal")}
	for _, name := range left {
		d.must(os.WriteFile(name, []byte("x"), 0o600))
	}
	d.w = d.stores.Of(d.dir)
	d.take(files.Look{})
	for _, name := range left {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Lstat(pack + ".idx"); err != nil {
		t.Error(err)
	}
}
