package scopefs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/scopefs"
)

// walked are the entries that a walk finds, one per word: the path, "/" after a
// directory, "@" after a link.
func walked(t testing.TB, f *scopefs.FS, dir string, opt scopefs.WalkOptions) string {
	t.Helper()
	var all []string
	must(t, f.Walk(context.Background(), dir, opt, func(e scopefs.Entry) error {
		name := e.Path
		switch {
		case e.IsDir():
			name += "/"
		case e.Type == fs.ModeSymlink:
			name += "@"
		}
		if e.Err != nil {
			t.Errorf("%s: %v", e.Path, e.Err)
		}
		all = append(all, name)
		return nil
	}))
	return strings.Join(all, " ")
}

func TestWalk(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"b": "", "a/z": "", "a/b/c": "", "a-b": "", "empty/": "", ".hidden": "", ".git/config": "", "a/.git": "gitdir: x", "Z": "",
	})
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	must(t, os.Symlink("..", filepath.Join(dir, "a/loop")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, tt := range []struct {
		dir  string
		opt  scopefs.WalkOptions
		want string
	}{
		{"", scopefs.WalkOptions{}, ".hidden Z a/ a/b/ a/b/c a/loop@ a/z a-b b empty/ link@ pipe"},
		{".", scopefs.WalkOptions{MaxDepth: 1}, ".hidden Z a/ a-b b empty/ link@ pipe"},
		{".", scopefs.WalkOptions{MaxDepth: 2, Ignored: true}, ".hidden Z a/ a/b/ a/loop@ a/z a-b b empty/ link@ pipe"},
		{"a", scopefs.WalkOptions{}, "a/b/ a/b/c a/loop@ a/z"},
		{dir + "/a/b", scopefs.WalkOptions{}, "a/b/c"},
		{"link", scopefs.WalkOptions{}, "link/b/ link/b/c link/loop@ link/z"},
		{"a/z", scopefs.WalkOptions{}, "a/z"},
		{"empty", scopefs.WalkOptions{}, ""},
	} {
		if got := walked(t, f, tt.dir, tt.opt); got != tt.want {
			t.Errorf("walking %q with %+v\n got %s\nwant %s", tt.dir, tt.opt, got, tt.want)
		}
	}
	for path, want := range map[string]scopefs.Kind{"none": scopefs.NotFound, "..": scopefs.OutOfScope, "pipe": scopefs.NotRegular} {
		err := f.Walk(context.Background(), path, scopefs.WalkOptions{}, func(scopefs.Entry) error { return nil })
		wantKind(t, err, want)
	}
}

func TestWalkEntries(t *testing.T) {
	other := t.TempDir()
	plant(t, other, map[string]string{"sub/file": "hello"})
	f := open(t, scopefs.Config{Dir: t.TempDir(), Read: []string{other}})
	var got []string
	must(t, f.Walk(context.Background(), other, scopefs.WalkOptions{}, func(e scopefs.Entry) error {
		info, err := os.Stat(e.Path)
		must(t, err)
		if !e.ModTime.Equal(info.ModTime()) || !e.IsDir() && e.Size != info.Size() {
			t.Errorf("entry %+v of a file with %v, %d bytes", e, info.ModTime(), info.Size())
		}
		got = append(got, fmt.Sprint(e.Path, " ", e.Depth))
		return nil
	}))
	want := []string{filepath.Join(other, "sub") + " 1", filepath.Join(other, "sub/file") + " 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWalkEndsWhenTold(t *testing.T) {
	f, _ := workspace(t, map[string]string{"a/1": "", "a/2": "", "b/1": "", "b/2": "", "b/3": "", "c": ""})
	boom := errors.New("boom")
	for _, tt := range []struct {
		at   string
		with error
		want string
		err  error
	}{
		{"a", fs.SkipDir, "a b b/1 b/2 b/3 c", nil},
		{"b/1", fs.SkipDir, "a a/1 a/2 b b/1 c", nil},
		{"c", fs.SkipDir, "a a/1 a/2 b b/1 b/2 b/3 c", nil},
		{"b", fs.SkipAll, "a a/1 a/2 b", nil},
		{"b/2", fs.SkipAll, "a a/1 a/2 b b/1 b/2", nil},
		{"b/2", boom, "a a/1 a/2 b b/1 b/2", boom},
	} {
		var got []string
		err := f.Walk(context.Background(), ".", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
			got = append(got, e.Path)
			if e.Path == tt.at {
				return tt.with
			}
			return nil
		})
		if strings.Join(got, " ") != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v at %s: walked %s with %v, want %s with %v", tt.with, tt.at, got, err, tt.want, tt.err)
		}
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	f, _ := workspace(t, map[string]string{"a/1": "", "a/2": ""})
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	boom := errors.New("boom")
	visited := 0
	err := f.Walk(ctx, ".", scopefs.WalkOptions{}, func(scopefs.Entry) error {
		visited++
		cancel(boom)
		return nil
	})
	if !errors.Is(err, boom) || visited != 1 {
		t.Errorf("the walk visited %d entries and ended with %v", visited, err)
	}
}

// The walk reports a directory that cannot be entered, and continues.
func TestWalkOfATreeWithoutEnd(t *testing.T) {
	f, dir := workspace(t, map[string]string{"z": ""})
	must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 250)), 0o755))
	deepest, failed, last := 0, 0, ""
	must(t, f.Walk(context.Background(), ".", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
		deepest = max(deepest, e.Depth)
		if e.Err != nil {
			wantKind(t, e.Err, scopefs.TooLarge)
			failed++
		}
		last = e.Path
		return nil
	}))
	if deepest != 200 || failed != 1 || last != "z" {
		t.Errorf("walked to depth %d with %d errors, and %s last", deepest, failed, last)
	}
}

func TestWalkOfAnUnreadableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	f, dir := workspace(t, map[string]string{"closed/a": "", "open/b": ""})
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	defer os.Chmod(filepath.Join(dir, "closed"), 0o755)
	var got []string
	must(t, f.Walk(context.Background(), ".", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
		if e.Path == "closed" {
			wantKind(t, e.Err, scopefs.IO)
		}
		got = append(got, e.Path)
		return nil
	}))
	if want := "closed open open/b"; strings.Join(got, " ") != want {
		t.Errorf("walked %s, want %s", got, want)
	}
}

func TestGlob(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"main.go": "", "main_test.go": "", "pkg/a/a.go": "", "pkg/a/a.md": "", "pkg/b.go": "", "dir.go/x": "",
		".gitignore": "vendor/\n", "vendor/v.go": "", "odd[1].go": "", ".hidden/h.go": "",
	})
	for _, tt := range []struct {
		pattern string
		most    int
		want    string
		more    bool
	}{
		{"*.go", 0, "main.go main_test.go odd[1].go", false},
		{"**/*.go", 0, ".hidden/h.go main.go main_test.go odd[1].go pkg/a/a.go pkg/b.go", false},
		{"**/*.go", 2, ".hidden/h.go main.go", true},
		{"**/*.go", 6, ".hidden/h.go main.go main_test.go odd[1].go pkg/a/a.go pkg/b.go", false},
		{"pkg/**", 0, "pkg/a/a.go pkg/a/a.md pkg/b.go", false},
		{"pkg/*/*.{go,md}", 0, "pkg/a/a.go pkg/a/a.md", false},
		{"pkg/{a/a,b}.go", 0, "pkg/a/a.go pkg/b.go", false},
		{"./pkg/../pkg/b.go", 0, "pkg/b.go", false},
		{"main.go", 0, "main.go", false},
		{"main.go/*", 0, "", false},
		{`odd\[1\].go`, 0, "odd[1].go", false},
		{"ma?n.go", 0, "main.go", false},
		{"[!m]*.go", 0, "odd[1].go", false},
		{dir + "/pkg/*.go", 0, "pkg/b.go", false},
		{"vendor/*.go", 0, "vendor/v.go", false},
		{"*.none", 0, "", false},
	} {
		got, more, err := f.Glob(context.Background(), tt.pattern, tt.most)
		if strings.Join(got, " ") != tt.want || more != tt.more || err != nil {
			t.Errorf("Glob(%q, %d) = %q, %t, %v, want %q, %t", tt.pattern, tt.most, got, more, err, tt.want, tt.more)
		}
	}
}

func TestGlobErrors(t *testing.T) {
	f, _ := workspace(t, nil)
	_, _, err := f.Glob(context.Background(), "../*", 0)
	wantKind(t, err, scopefs.OutOfScope)
	_, _, err = f.Glob(context.Background(), "none/*", 0)
	wantKind(t, err, scopefs.NotFound)
	for _, pattern := range []string{"[a", "{a,b", "a\\"} {
		if _, _, err = f.Glob(context.Background(), pattern, 0); err == nil || !strings.Contains(err.Error(), "malformed") {
			t.Errorf("Glob(%q) gives %v", pattern, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plant(t, f.Dir(), map[string]string{"a": ""})
	if _, _, err := f.Glob(ctx, "*", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Glob gives %v", err)
	}
}
