package files_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
		"half an index":    func(pack string) error { return os.Truncate(pack+".idx", 30) },
		"without an index": func(pack string) error { return os.Remove(pack + ".idx") },
		"without a pack":   func(pack string) error { return os.Remove(pack + ".pack") },
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
	d.must(os.Remove(first[0] + ".idx"))
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
