package spool_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"podd/pkg/tool/spool"
)

// Temporary files are not outputs: they use no quota, and are removed by age and with the
// folder.
func TestTemp(t *testing.T) {
	dir, now := t.TempDir(), newClock()
	s := open(t, spool.Config{Dir: dir, Now: now.Now})
	f := folder(t, s, "p")
	temp, err := f.Temp()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Temp(); err != nil || again != temp {
		t.Errorf("asked again: %s, %v", again, err)
	}
	if info, err := os.Stat(temp); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for _, name := range []string{"old/sub", "new", "used/sub"} {
		if err := os.MkdirAll(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, name, "file"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := now.now.Add(-spool.DefaultMaxAge - time.Hour)
	for _, name := range []string{"old/sub/file", "old/sub", "old", "used/sub", "used"} {
		if err := os.Chtimes(filepath.Join(temp, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	// As the Go module cache does.
	for _, name := range []string{"old/sub", "old"} {
		if err := os.Chmod(filepath.Join(temp, name), 0o555); err != nil { //nolint:gosec // It is what this is about.
			t.Fatal(err)
		}
	}
	s.CleanTemps()
	if !exists(filepath.Join(temp, "used", "sub", "file")) {
		t.Error("a directory in use was removed")
	}
	if err := os.Chmod(filepath.Join(temp, "used", "sub"), 0o555); err != nil { //nolint:gosec // See above.
		t.Fatal(err)
	}
	if s.Bytes() != 0 || exists(filepath.Join(temp, "old")) || !exists(filepath.Join(temp, "new", "file")) {
		t.Errorf("%d bytes count; old %v, new %v", s.Bytes(), exists(filepath.Join(temp, "old")), exists(filepath.Join(temp, "new", "file")))
	}
	if err := s.Remove("p"); err != nil || exists(temp) {
		t.Errorf("removed: %v, there: %v", err, exists(temp))
	}
}

// Temporary files are removed wherever they are, and their directory stays.
func TestEmptyTemp(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	if err := f.EmptyTemp(); err != nil {
		t.Errorf("of a pod without: %v", err)
	}
	temp, err := f.Temp()
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "file")
	deep := filepath.Join(temp, "closed", "a", "b")
	for _, err := range []error{
		os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "file"), nil, 0o600), os.WriteFile(outside, nil, 0o600),
		os.Symlink(outside, filepath.Join(temp, "link")), os.Symlink(filepath.Dir(outside), filepath.Join(temp, "dir")),
		os.Chmod(deep, 0), os.Chmod(filepath.Join(temp, "closed"), 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(temp)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.EmptyTemp(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(temp)
	after, err2 := os.Stat(temp)
	if err != nil || err2 != nil || len(left) > 0 || !os.SameFile(before, after) || !exists(outside) {
		t.Errorf("left %v, %v, %v, the file outside %v", left, err, err2, exists(outside))
	}
	if next, err := f.CheckTemp(t.Context(), nil); err != nil || next <= 0 {
		t.Errorf("afterwards: %v, %v", next, err)
	}
}
