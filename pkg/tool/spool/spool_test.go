package spool_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/tool/spool"
)

// clock is a clock that does not move between the steps of a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Now()} }

func open(t testing.TB, c spool.Config) *spool.Spool {
	t.Helper()
	s, err := spool.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func folder(t testing.TB, s *spool.Spool, pod string) *spool.Folder {
	t.Helper()
	f, err := s.Folder(pod)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func keep(t testing.TB, f *spool.Folder, tool, full string) string {
	t.Helper()
	path, err := f.Keep(tool, full)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "spool")
	s := open(t, spool.Config{Dir: dir})
	f := folder(t, s, "pod_1")
	if f.Dir() != filepath.Join(dir, "pod_1") {
		t.Errorf("folder %s", f.Dir())
	}
	for tool, want := range map[string]string{
		"search": `^search-[A-Z2-7]{12}\.out$`, "../x": `^tool-[A-Z2-7]{12}\.out$`, "": `^tool-`, "a\n": `^tool-`,
	} {
		path := keep(t, f, tool, "the text of "+tool)
		if filepath.Dir(path) != f.Dir() || !regexp.MustCompile(want).MatchString(filepath.Base(path)) {
			t.Errorf("tool %q is kept in %s", tool, path)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "the text of "+tool {
			t.Errorf("tool %q: %q, %v", tool, data, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	for _, d := range []string{dir, f.Dir()} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v", d, info.Mode(), err)
		}
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	s := open(t, spool.Config{Dir: t.TempDir(), MaxBytes: 100})
	a, b := folder(t, s, "a"), folder(t, s, "b")
	first := keep(t, a, "x", strings.Repeat("1", 40))
	second := keep(t, b, "x", strings.Repeat("2", 40))
	third := keep(t, a, "x", strings.Repeat("3", 20))
	if !exists(first) || !exists(second) || !exists(third) || s.Bytes() != 100 {
		t.Fatalf("something is gone within the quota, %d bytes", s.Bytes())
	}
	fourth := keep(t, b, "x", "4")
	if exists(first) || !exists(second) || !exists(third) || !exists(fourth) || s.Bytes() != 61 {
		t.Errorf("not the oldest alone went, %d bytes", s.Bytes())
	}
	if _, err := a.Keep("x", strings.Repeat("5", 101)); err == nil || !exists(second) {
		t.Errorf("a text over the quota: %v", err)
	}
}

func TestAge(t *testing.T) {
	c := newClock()
	s := open(t, spool.Config{Dir: t.TempDir(), MaxAge: time.Hour, Now: c.Now})
	f := folder(t, s, "p")
	old := keep(t, f, "x", "old")
	c.now = c.now.Add(time.Hour)
	young := keep(t, f, "x", "young")
	if !exists(old) {
		t.Error("a file went before its time")
	}
	c.now = c.now.Add(time.Nanosecond)
	folder(t, s, "q")
	if exists(old) || !exists(young) {
		t.Error("asking for a folder does not remove what is too old, and that alone")
	}
	c.now = c.now.Add(time.Hour)
	next := keep(t, f, "x", "next")
	if exists(young) || !exists(next) {
		t.Error("adding a file does not remove what is too old, and that alone")
	}
}

// A file that is being written is not removed, however old and large it is.
func TestRunningFilesStay(t *testing.T) {
	c := newClock()
	s := open(t, spool.Config{Dir: t.TempDir(), MaxBytes: 10, MaxAge: time.Minute, Now: c.Now})
	f := folder(t, s, "p")
	running, err := f.Create("shell")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.WriteString("0123456789abc"); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Hour)
	kept := keep(t, f, "x", "0123456789")
	s.Clean()
	if !exists(running.Name()) || s.Bytes() != 10 {
		t.Fatalf("the running file counts: %d bytes", s.Bytes())
	}
	running.Keep()
	if !exists(running.Name()) || exists(kept) || s.Bytes() != 13 {
		t.Error("the newest file does not push out the older one")
	}
	discarded, err := f.Create("shell")
	if err != nil {
		t.Fatal(err)
	}
	discarded.Discard()
	if exists(discarded.Name()) || !exists(running.Name()) {
		t.Error("Discard did not remove its file alone")
	}
}

// Existing files count from the start, whichever process left them.
func TestOpenTakesStock(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	write := func(name string, size int, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ancient := write("p/ancient", 1, 8*24*time.Hour)
	second := write("q/second", 60, time.Hour)
	first := write("p/first", 60, 2*time.Hour)
	ahead := write("p/ahead", 1, -24*time.Hour)
	c := &clock{now}
	s := open(t, spool.Config{Dir: dir, MaxBytes: 100, Now: c.Now})
	if exists(ancient) || exists(first) || !exists(second) || !exists(ahead) || s.Bytes() != 61 {
		t.Errorf("ancient %v, first %v, second %v, ahead %v, %d bytes", exists(ancient), exists(first), exists(second), exists(ahead), s.Bytes())
	}
	c.now = c.now.Add(7*24*time.Hour + 1)
	s.Clean()
	if exists(ahead) || s.Bytes() != 0 {
		t.Error("a file from the future stays for ever")
	}
}

func TestRemove(t *testing.T) {
	s := open(t, spool.Config{Dir: t.TempDir()})
	a, b := folder(t, s, "a"), folder(t, s, "ab")
	keep(t, a, "x", "12345")
	other := keep(t, b, "x", "123")
	if err := s.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if exists(a.Dir()) || !exists(other) || s.Bytes() != 3 {
		t.Errorf("%d bytes are left", s.Bytes())
	}
	if _, err := a.Keep("x", "1"); err == nil || s.Bytes() != 3 {
		t.Errorf("a folder that is gone keeps: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		if _, err := spool.Open(spool.Config{Dir: dir}); err == nil {
			t.Errorf("Open(%q) succeeded", dir)
		}
	}
}

// Whatever is kept in any order: the sum is the size of the files and within the quota,
// no file that is too old remains, and another Open finds the same.
func TestBoundsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // each draw needs a directory of its own
		if err != nil {
			rt.Fatal(err)
		}
		c := newClock()
		config := spool.Config{Dir: dir, MaxBytes: 50, MaxAge: time.Hour, Now: c.Now}
		s := open(t, config)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			c.now = c.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
			f := folder(t, s, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "pod"))
			path := keep(t, f, "x", strings.Repeat("x", rapid.IntRange(0, 50).Draw(rt, "size")))
			if err := os.Chtimes(path, c.now, c.now); err != nil {
				rt.Fatal(err)
			}
			sum := int64(0)
			files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil {
				rt.Fatal(err)
			}
			for _, name := range files {
				info, err := os.Stat(name)
				if err != nil {
					rt.Fatal(err)
				}
				sum += info.Size()
				if c.now.Sub(info.ModTime()) > time.Hour {
					rt.Fatalf("%s is too old", name)
				}
			}
			if sum != s.Bytes() || sum > 50 || !exists(path) {
				rt.Fatalf("%d bytes in files, %d counted", sum, s.Bytes())
			}
		}
		if again := open(t, config); again.Bytes() != s.Bytes() {
			rt.Fatalf("opened again: %d bytes, before %d", again.Bytes(), s.Bytes())
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	s := open(t, spool.Config{Dir: t.TempDir(), MaxBytes: 200})
	var wg sync.WaitGroup
	for _, pod := range []string{"a", "b", "c", "a"} {
		wg.Go(func() {
			for range 20 {
				f, err := s.Folder(pod)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := f.Keep("x", "0123456789"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s.Bytes() != 200 {
		t.Errorf("%d bytes are kept", s.Bytes())
	}
}

// The two ends of a text can be read only from its own folder.
func TestEnds(t *testing.T) {
	s := open(t, spool.Config{Dir: t.TempDir()})
	f, other := folder(t, s, "a"), folder(t, s, "b")
	path, err := f.Keep("x", "0123456789")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][2]string{0: {"", ""}, 3: {"012", "789"}, 7: {"0123456", "3456789"}, 10: {"0123456789", "0123456789"}, 99: {"0123456789", "0123456789"}} {
		if head, tail, err := f.Ends(path, n); err != nil || head != want[0] || tail != want[1] {
			t.Errorf("%d: %q, %q, %v", n, head, tail, err)
		}
	}
	if _, _, err := other.Ends(path, 3); err == nil {
		t.Error("another folder reads it")
	}
	if _, _, err := f.Ends(path+"x", 3); err == nil {
		t.Error("a file that is missing is read")
	}
}
