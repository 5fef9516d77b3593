package scratch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/tool/scratch"
)

// shelf is where caches are, with workspaces.
type shelf struct {
	t   *testing.T
	all *scratch.Caches
	dir string
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	dir := t.TempDir()
	return &shelf{t, &scratch.Caches{Dir: filepath.Join(dir, "caches")}, dir}
}

// workspace makes a workspace.
func (s *shelf) workspace(name string) (path string) {
	s.t.Helper()
	path = filepath.Join(s.dir, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// use uses the cache of a workspace.
func (s *shelf) use(workspace string) (*scratch.Cache, error) {
	s.t.Helper()
	dir, err := os.Open(workspace)
	if err != nil {
		s.t.Fatal(err)
	}
	defer dir.Close()
	cache, file, err := s.all.Use(workspace, dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if there, err := os.Stat(cache.Path); err != nil || there.Mode().Perm() != 0o700 || file.Name() != cache.Path {
		s.t.Errorf("%s is %s: %v, %v", cache.Path, file.Name(), there, err)
	}
	return cache, nil
}

// cached is a file of so many bytes in the cache of a workspace, last used so long ago.
func (s *shelf) cached(workspace string, bytes int, ago time.Duration) (file string) {
	s.t.Helper()
	cache, err := s.use(workspace)
	if err != nil {
		s.t.Fatal(err)
	}
	file = filepath.Join(cache.Path, "closed", "file")
	then := time.Now().Add(-ago)
	for _, err := range []error{
		os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, make([]byte, bytes), 0o600), os.Chmod(filepath.Dir(file), 0o500), //nolint:gosec // As Go does.
		os.Chtimes(filepath.Join(s.all.Dir, cache.Name, "workspace"), then, then),
	} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return file
}

// clean is what a later podd does, which uses none of the caches.
func (s *shelf) clean(most int64) {
	s.t.Helper()
	if err := (&scratch.Caches{Dir: s.all.Dir, MaxBytes: most}).Clean(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// A cache is that of a directory and its path: the pods of one workspace share it, a directory
// that was put in place of another has its own.
func TestACacheIsThatOfADirectory(t *testing.T) {
	s := newShelf(t)
	one, two := s.workspace("one"), s.workspace("two")
	var names []string
	for _, dir := range []string{one, two, one} {
		cache, err := s.use(dir)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, cache.Name)
	}
	if names[0] == names[1] || names[0] != names[2] {
		t.Errorf("the names are %q", names)
	}
	// The file system gives its inode to the next one.
	for range 20 {
		if err := os.Remove(one); err != nil {
			t.Fatal(err)
		}
		cache, err := s.use(s.workspace("one"))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(names, cache.Name) {
			t.Fatal("another directory has a cache that there was")
		}
		names = append(names, cache.Name)
	}
}

// A link in place of a directory of the caches is not followed.
func TestNoLinkInPlaceOfACache(t *testing.T) {
	for _, place := range []string{".", "NAME", "NAME/files"} {
		s := newShelf(t)
		work := s.workspace("work")
		cache, err := s.use(work)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(s.all.Dir, strings.Replace(place, "NAME", cache.Name, 1))
		moved := filepath.Join(s.dir, "moved")
		if err := errors.Join(os.Rename(dir, moved), os.Symlink(moved, dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.use(work); err == nil {
			t.Errorf("a link at %q is followed", place)
		}
		if err := s.all.Clean(t.Context()); (err == nil) != (place != ".") || !exists(t, moved) {
			t.Errorf("with a link at %q: %v, what it leads to is there: %v", place, err, exists(t, moved))
		}
	}
}

// If all take too much, whole caches go, the least recently used first.
func TestTheCachesThatAreUnusedLongestGo(t *testing.T) {
	s := newShelf(t)
	old := s.cached(s.workspace("old"), 4<<20, 3*time.Hour)
	last := s.cached(s.workspace("last"), 4<<20, time.Hour)
	oldest := s.cached(s.workspace("oldest"), 4<<20, 5*time.Hour)
	there := func() (all []bool) {
		for _, file := range []string{oldest, old, last} {
			all = append(all, exists(t, file))
		}
		return all
	}
	for _, c := range []struct {
		most int64
		left []bool
	}{{100 << 20, []bool{true, true, true}}, {9 << 20, []bool{false, true, true}}, {5 << 20, []bool{false, false, true}}, {1 << 20, []bool{false, false, false}}} {
		if s.clean(c.most); !slices.Equal(there(), c.left) {
			t.Errorf("with %d MiB: %v", c.most>>20, there())
		}
	}
	if left, err := os.ReadDir(s.all.Dir); err != nil || len(left) > 0 {
		t.Errorf("left is %v, %v", left, err)
	}
}

// A cache goes that nobody has used for a month, one whose workspace is gone or another
// directory, and what a killed podd was removing.
func TestUselessCachesGo(t *testing.T) {
	s := newShelf(t)
	gone, replaced := s.workspace("gone"), s.workspace("replaced")
	stay := []string{s.cached(s.workspace("used"), 1, 29*24*time.Hour)}
	go1 := []string{
		s.cached(s.workspace("unused"), 1, 31*24*time.Hour), s.cached(gone, 1, 2*time.Hour), s.cached(replaced, 1, 2*time.Hour),
		filepath.Join(s.all.Dir, "removed-0123456789abcdef0123456789abcdef", "files"),
	}
	if err := errors.Join(os.Remove(gone), os.Remove(replaced), os.MkdirAll(go1[3], 0o700)); err != nil {
		t.Fatal(err)
	}
	s.workspace("replaced")
	s.clean(0)
	for _, file := range stay {
		if !exists(t, file) {
			t.Errorf("%s is gone", file)
		}
	}
	for _, file := range go1 {
		if exists(t, file) {
			t.Errorf("%s is there", file)
		}
	}
}

// What a command uses stays, also if an earlier podd started it.
func TestACacheInUseStays(t *testing.T) {
	s := newShelf(t)
	work := s.workspace("work")
	file := s.cached(work, 4<<20, 40*24*time.Hour)
	s.all.MaxBytes = 1
	if err := s.all.Clean(t.Context()); err != nil || !exists(t, file) {
		t.Errorf("removed in use: %v", err)
	}
	cache, err := s.use(work)
	if err != nil {
		t.Fatal(err)
	}
	later := &scratch.Caches{Dir: s.all.Dir, MaxBytes: 1}
	if again := later.Resume(cache.Name); again == nil || again.Path != cache.Path {
		t.Fatalf("resumed: %+v", again)
	}
	if err := later.Clean(t.Context()); err != nil || !exists(t, file) {
		t.Errorf("removed in use of a resumed command: %v", err)
	}
	for _, name := range []string{"", "..", "../x", cache.Name + "/files", "removed-" + cache.Name} {
		if later.Resume(name) != nil {
			t.Errorf("%q is the name of a cache", name)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&scratch.Caches{Dir: s.all.Dir, MaxBytes: 1}).Clean(ended); !errors.Is(err, context.Canceled) || !exists(t, file) {
		t.Errorf("cancelled: %v", err)
	}
}
