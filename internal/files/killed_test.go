package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"podd/internal/files"
	"podd/pkg/item"
)

func (d *desk) repo() string {
	found, err := filepath.Glob(filepath.Join(d.stores.Dir, "*.git"))
	d.must(err)
	return found[0]
}

// inPacks counts the files of packs by the ends of their names.
func (d *desk) inPacks(end string) int {
	found, err := filepath.Glob(filepath.Join(d.repo(), "objects", "pack", "*"+end))
	d.must(err)
	return len(found)
}

// tenTaken has ten checkpoints after the first one.
func tenTaken(t *testing.T) *desk {
	d := open(t)
	d.write("sub/a", "a")
	d.take(files.Look{})
	for i := range 10 {
		d.write("sub/a", fmt.Sprint(i))
		d.take(files.Look{Agent: true})
	}
	return d
}

// Wherever a checkpoint is cut off, by a kill or a power failure, those before it are there, and the next ones follow
// them.
func TestKilledTake(t *testing.T) {
	for name, cut := range map[string]func(d *desk, pack string) error{
		"in the pack": func(_ *desk, pack string) error {
			return errors.Join(os.Rename(pack+".pack", filepath.Dir(pack)+"/tmp_pack_1"), os.Truncate(filepath.Dir(pack)+"/tmp_pack_1", 30), os.Remove(pack+".idx"))
		},
		"before the name": func(_ *desk, pack string) error {
			return errors.Join(os.Rename(pack+".pack", filepath.Dir(pack)+"/tmp_pack_1"), os.Remove(pack+".idx"))
		},
		"in the syncs": func(_ *desk, pack string) error {
			return errors.Join(os.Truncate(pack+".pack", 30), os.Remove(pack+".idx"))
		},
		"before the bytes": func(_ *desk, pack string) error {
			return errors.Join(os.Truncate(pack+".pack", 0), os.Remove(pack+".idx"))
		},
		"without the pack": func(_ *desk, pack string) error { return os.Remove(pack + ".pack") },
	} {
		t.Run(name, func(t *testing.T) {
			d := tenTaken(t)
			before, err := filepath.Glob(filepath.Join(d.repo(), "objects/pack/*.pack"))
			d.must(err)
			d.write("sub/a", "more")
			d.take(files.Look{Agent: true})
			after, err := filepath.Glob(filepath.Join(d.repo(), "objects/pack/*.pack"))
			d.must(err)
			last := slices.DeleteFunc(after, func(p string) bool { return slices.Contains(before, p) })
			d.must(d.w.Rest())
			d.must(cut(d, last[0][:len(last[0])-len(".pack")]))
			// The next checkpoint is another one: it has another time.
			d.stores = files.NewStores(files.StoreConfig{Dir: d.stores.Dir, Now: func() time.Time { return time.Now().Add(time.Hour) }})
			d.w = d.stores.Of(d.dir)

			// The log does not have the checkpoint.
			lost := d.line[len(d.line)-1]
			if _, err := d.w.Steps([]item.Checkpoint{lost}); !errors.Is(err, files.ErrUnknown) {
				t.Errorf("the lost checkpoint: %v", err)
			}
			d.line = d.line[:len(d.line)-1]
			if taken := d.take(files.Look{Agent: true}); len(taken) != 1 || taken[0].Changed != 1 {
				t.Errorf("taken again: %+v", taken)
			}
			if n := d.inPacks("tmp_pack_*"); n > 0 {
				t.Errorf("%d unfinished packs are left", n)
			}
			if _, conflicts := d.undo(0); len(conflicts) > 0 {
				t.Errorf("conflicts: %v", conflicts)
			}
			d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/a": "-rw-r--r-- a"}, "after the undo")
		})
	}
}

// A power failure can lose the index of a pack, not the pack: it gets its index again.
func TestLostIndex(t *testing.T) {
	for name, lose := range map[string]func(index string) error{
		"none":  os.Remove,
		"half":  func(index string) error { return os.Truncate(index, 30) },
		"empty": func(index string) error { return os.Truncate(index, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			d := tenTaken(t)
			d.must(d.w.Rest())
			for _, pack := range d.packs() {
				d.must(lose(pack + ".idx"))
			}
			d.w = d.stores.Of(d.dir)
			if _, conflicts := d.undo(5); len(conflicts) > 0 {
				t.Errorf("conflicts: %v", conflicts)
			}
			d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/a": "-rw-r--r-- 4"}, "after the undo")
			if packs, indexes := d.inPacks(".pack"), d.inPacks(".idx"); packs != indexes {
				t.Errorf("%d packs have %d indexes", packs, indexes)
			}
		})
	}
}

// A disk that takes no pack costs the checkpoint, and none of those before it.
func TestFailedPack(t *testing.T) {
	d := tenTaken(t)
	packs := filepath.Join(d.repo(), "objects", "pack")
	d.must(os.Rename(packs, packs+".gone"))
	d.write("sub/a", "more")
	if _, err := d.w.Take(t.Context(), files.Look{After: d.line[10].Commit, Agent: true, Branch: "pod"}); err == nil {
		t.Error("a pack was written to a directory that is gone")
	}
	d.must(os.Rename(packs+".gone", packs))
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Errorf("conflicts: %v", conflicts)
	}
	d.same(map[string]string{"sub": "drwxr-xr-x ", "sub/a": "-rw-r--r-- a"}, "after the undo")
}
