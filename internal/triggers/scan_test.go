package triggers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// looked looks at the files of a directory after others of it were put there: the clock of files is coarse.
func looked(t *testing.T, dir, pattern string, known map[string]stamped) found {
	t.Helper()
	for until := time.Now().Add(2 * coarse); time.Now().Before(until); time.Sleep(time.Millisecond) {
		put(t, filepath.Join(dir, "clock"), "")
	}
	f, err := scan(t.Context(), dir, pattern, known)
	must(t, err)
	return f
}

// lines are changes, one after another.
func lines(all []change) string { return strings.ReplaceAll(told(all, maxData), "\n", ", ") }

// Content differs, also of the same size at the same time; size and time count of a file that is too large; the same content
// again does not differ.
func TestScanDigests(t *testing.T) {
	dir := t.TempDir()
	path, large := filepath.Join(dir, "in", "a"), filepath.Join(dir, "in", "large")
	put(t, path, "one")
	put(t, large, strings.Repeat("x", maxRead+1))
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	must(t, os.Chtimes(large, old, old))
	before := looked(t, dir, "in/*", nil)
	for _, step := range []struct {
		what string
		do   func()
		want string
	}{
		{"nothing", func() {}, ""},
		{"the same content later", func() { put(t, path, "one") }, ""},
		{"another content of the same size at the same time", func() {
			put(t, path, "two")
			must(t, os.Chtimes(path, old, old))
		}, "changed in/a, "},
		{"another file of the same size and time in its place", func() {
			put(t, filepath.Join(dir, "new"), "two")
			must(t, os.Chtimes(filepath.Join(dir, "new"), old, old))
			must(t, os.Rename(filepath.Join(dir, "new"), path))
		}, "changed in/a, "},
		{"what is far in a large file", func() {
			put(t, large, strings.Repeat("x", maxRead)+"y")
			must(t, os.Chtimes(large, old, old))
		}, "changed in/a, "},
		{"the time of a large file", func() { must(t, os.Chtimes(large, old, old.Add(time.Second))) }, "changed in/a, changed in/large, "},
		{"the size of a large file", func() {
			put(t, large, strings.Repeat("x", maxRead+2))
			must(t, os.Chtimes(large, old, old))
		}, "changed in/a, changed in/large, "},
		{"a removed one", func() { must(t, os.Remove(large)) }, "changed in/a, removed in/large, "},
	} {
		step.do()
		now := looked(t, dir, "in/*", before.prints)
		if got := lines(changes(before.digests(), now)); got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}

// A file that looks as it did is not read again, unless it was read so soon after it was written that another write could look
// the same.
func TestScanTrusts(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "one")
	root, err := scopefs.Open(scopefs.Config{Dir: dir})
	must(t, err)
	defer root.Close()
	p, ok := look(root, "a", nil, time.Now())
	if !ok {
		t.Fatal("it cannot be read")
	}
	read := p.digest
	p.digest = "as before"
	for late, want := range map[time.Duration]string{coarse: read, coarse + 1: "as before"} {
		if got, _ := look(root, "a", map[string]stamped{"a": p}, time.Unix(0, p.changed).Add(late)); got.digest != want {
			t.Errorf("%s after it was written: %s, want %s", late, got.digest, want)
		}
	}
}

// Only files count, and only within the directory: no link, no pipe, nothing behind a link, and no file in the place of the
// directory.
func TestScanOnlyFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, "a"), "one")
	inbox := filepath.Join(dir, "in")
	for what, tt := range map[string]struct {
		do   func()
		want string // A reason, in capitals, or the changes.
	}{
		"no directory":           {func() {}, ""},
		"a file in its place":    {func() { put(t, inbox, "one") }, ""},
		"a link in its place":    {func() { must(t, os.Symlink(outside, inbox)) }, "BAD_DIR"},
		"a link to a directory":  {func() { put(t, inbox+"/b", "one"); must(t, os.Symlink(outside, inbox+"/link")) }, "added in/b, "},
		"a link to a file":       {func() { put(t, inbox+"/b", "one"); must(t, os.Symlink("b", inbox+"/link")) }, "added in/b, "},
		"a directory of a name":  {func() { must(t, os.MkdirAll(inbox+"/a", 0o700)) }, ""},
		"a file below another":   {func() { put(t, inbox+"/d/e/f", "one") }, "added in/d/e/f, "},
		"a file nobody may read": {func() { put(t, inbox+"/b", "one"); put(t, inbox+"/c", "one"); must(t, os.Chmod(inbox+"/c", 0)) }, "added in/b, "},
	} {
		if strings.Contains(what, "may read") && os.Geteuid() == 0 {
			continue
		}
		must(t, os.RemoveAll(inbox))
		tt.do()
		now, err := scan(t.Context(), dir, "in/**", nil)
		if got := lines(changes(nil, now)) + item.ReasonOf(err); got != tt.want {
			t.Errorf("%s: %q, %v, want %q", what, got, err, tt.want)
		}
		if !slices.Contains(now.dirs, dir) {
			t.Errorf("%s: a change of the directory itself is not seen: %v", what, now.dirs)
		}
	}
}

// Too many files, directories or names are refused, one less is not.
func TestScanBounds(t *testing.T) {
	for what, make := range map[string]func(dir string, more int){
		"files":       func(dir string, more int) { many(t, dir, maxFiles+more, "%d") },
		"directories": func(dir string, more int) { many(t, dir, maxDirs-2+more, "%d/") }, // And the two above.
		"names":       func(dir string, more int) { many(t, dir, maxNames/256+more, "%0253d") },
	} {
		for more, want := range []string{"", "TOO_MANY_FILES"} {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "in"), 0o700))
			make(dir, more)
			if _, err := scan(t.Context(), dir, "in/**", nil); item.ReasonOf(err) != want {
				t.Errorf("%s, %d more: %v, want %q", what, more, err, want)
			}
		}
	}
}

func many(t *testing.T, dir string, n int, name string) {
	t.Helper()
	for i := range n {
		path := filepath.Join(dir, "in", fmt.Sprintf(name, i))
		if strings.HasSuffix(name, "/") {
			must(t, os.Mkdir(path, 0o700))
		} else {
			put(t, path, "")
		}
	}
}

// An event lists so many changes, within its size, and says how many more there are.
func TestTold(t *testing.T) {
	var all []change
	for n := range maxTold + 2 {
		all = append(all, change{name: fmt.Sprintf("%03d", n), what: "added"})
	}
	for most, want := range map[int]string{maxData: "added 099\nand 2 more\n", 25: "added 001\nand 100 more\n", 5: "and 102 more\n"} {
		if got := told(all, most); !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 1+strings.Count(got, "added") {
			t.Errorf("within %d bytes: %q, want %q at its end", most, got, want)
		}
	}
	if got := told(all[:maxTold], maxData); !strings.HasSuffix(got, "added 099\n") {
		t.Errorf("as many as fit: %q", got)
	}
}

// What differs counts once it has been as it is for half a second.
func TestQuiet(t *testing.T) {
	var v view
	begin, one, two := time.Now(), map[string]string{"a": "1"}, map[string]string{"a": "2"}
	for _, step := range []struct {
		after time.Duration
		files map[string]string
		want  bool
	}{
		{0, one, false}, {still - 1, one, false}, {still, two, false}, {2*still - 1, two, false}, {2*still + 1, one, false}, {4 * still, one, true},
	} {
		if got := v.quiet(step.files, begin.Add(step.after)); got != step.want {
			t.Errorf("after %s: %t", step.after, got)
		}
	}
}

// podd looks again, without an event, at files that it cannot watch, and on the next day if the budget is spent.
func TestWakeForFiles(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		what string
		set  func(t *trigger)
		want time.Time
		// looks says that podd looks then without an event.
		looks bool
	}{
		{"watched", func(*trigger) {}, time.Time{}, false},
		{"not watched", func(t *trigger) { t.view.blind = true }, now.Add(lookAgain), true},
		{"not read", func(t *trigger) { t.view.prints = nil }, time.Time{}, true},
		{"different", func(t *trigger) { t.view.differ = map[string]string{} }, time.Time{}, true},
		{"spent", func(t *trigger) { t.Budget, t.Spent = 1, 1 }, now.Add(12 * time.Hour), false},
		{"paused", func(t *trigger) { t.view.blind, t.Paused = true, "by a person" }, time.Time{}, true},
	} {
		made := &trigger{definition: definition{Spec: Spec{File: "*"}}, state: state{Day: "2026-11-28"}, zone: time.UTC, view: view{prints: map[string]stamped{}}}
		tt.set(made)
		if got := made.view.unsure(); got != tt.looks {
			t.Errorf("%s: it looks: %t", tt.what, got)
		}
		if got := made.wake(now); !got.Equal(tt.want) {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}
