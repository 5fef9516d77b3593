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
	temp := f.Temp().Path
	for range 2 {
		if err := f.Temp().Make(); err != nil {
			t.Fatal(err)
		}
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
