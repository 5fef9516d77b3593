package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seekHole finds the first block that a file does not have: lseek(2).
const seekHole = 4

// A commit finds the blocks that it needs behind the last page, also after large ones, after a
// compaction and in a database that is opened again.
func TestPreallocates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	s := open(t, path)
	allocated := func(after string) {
		t.Helper()
		// The writer preallocates before it looks whether to compact.
		var used int64
		if _, _, err := s.Compact(t.Context(), func(_, size int64) bool { used = size; return false }); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if hole, err := file.Seek(0, seekHole); err != nil || hole < used+32<<10 || hole > used+1<<20 {
			t.Errorf("after %s: %d bytes are used, %d are allocated, %v", after, used, hole, err)
		}
	}
	epoch := newPod(t, s, "small")
	allocated("a pod was made")
	for range 100 {
		mustAppend(t, s, "small", epoch, strings.Repeat("x", 10<<10))
		allocated("a commit")
	}
	grown(t, s)
	allocated("large commits")
	if _, _, err := s.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	newPod(t, s, "after")
	allocated("a compaction")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	newPod(t, s, "again")
	allocated("it was opened again")
}
