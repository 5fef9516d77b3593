package scopefs_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"podd/pkg/scopefs"
)

// A file is the same, whatever path leads to it.
func TestReadTracking(t *testing.T) {
	f, dir := workspace(t, map[string]string{"sub/a": "a"})
	must(t, os.Symlink("sub/a", filepath.Join(dir, "link")))
	must(t, os.Symlink("sub", filepath.Join(dir, "dir")))
	if _, ok := f.LastRead("sub/a"); ok {
		t.Error("a file that was never read is known")
	}
	first, second := scopefs.Digest([]byte("a")), scopefs.Digest([]byte("b"))
	f.NoteRead("link", first)
	for _, path := range []string{"sub/a", "./sub/../sub/a", "link", "dir/a", filepath.Join(dir, "sub/a")} {
		if got, ok := f.LastRead(path); !ok || got != first {
			t.Errorf("LastRead(%q) = %x, %t", path, got, ok)
		}
	}
	f.NoteRead("dir/a", second)
	if got, _ := f.LastRead("sub/a"); got != second {
		t.Error("a later read does not count")
	}
	must(t, f.Rename(t.Context(), "sub/a", "b"))
	if _, ok := f.LastRead("sub/a"); ok {
		t.Error("a path whose file was renamed is still known")
	}
	if got, ok := f.LastRead("b"); !ok || got != second {
		t.Error("a renamed file is not known under its new path")
	}
	must(t, f.Remove(t.Context(), "b"))
	if _, ok := f.LastRead("b"); ok {
		t.Error("a removed file is still known")
	}
	f.NoteRead("../outside", first)
	if _, ok := f.LastRead("../outside"); !ok {
		t.Error("a path outside the scope is not kept apart like any other")
	}
}

// The memory of reads is bounded; the newest is always known.
func TestReadTrackingIsBounded(t *testing.T) {
	f, _ := workspace(t, nil)
	const bound = 8192
	for i := range bound + 100 {
		f.NoteRead(strconv.Itoa(i), scopefs.Digest(nil))
	}
	known := 0
	for i := range bound + 100 {
		if _, ok := f.LastRead(strconv.Itoa(i)); ok {
			known++
		}
	}
	if _, ok := f.LastRead(strconv.Itoa(bound + 99)); !ok || known != bound {
		t.Errorf("%d files are known, want %d and the last among them", known, bound)
	}
}
