package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/files"
)

// tree is what the last checkpoint has.
func (d *desk) tree() string {
	tree, err := d.w.Tree(d.line[len(d.line)-1].Commit)
	d.must(err)
	return tree
}

// read is what a look that knows nothing finds.
func (d *desk) read() string {
	state, err := os.MkdirTemp("", "checkpoints")
	d.must(err)
	defer os.RemoveAll(state)
	fresh := newDesk(d.t, d.dir, state)
	fresh.take(files.Look{})
	defer func() { d.must(fresh.w.Rest()) }()
	return fresh.tree()
}

// Whatever happens to files and directories between looks, the next one finds what one that
// reads everything finds.
func TestWatchedLooks(t *testing.T) {
	state := t.TempDir()
	names := []string{"a", "b", "c"}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(state, fmt.Sprint(n))
		d := newDesk(t, dir, filepath.Join(state, fmt.Sprint("checkpoints", n)))
		d.must(os.Mkdir(dir, 0o755))
		defer func() { d.must(d.w.Rest()) }()
		draw := func(what string) string {
			p := dir
			for range rapid.IntRange(1, 3).Draw(t, what+" depth") {
				p = filepath.Join(p, rapid.SampledFrom(names).Draw(t, what))
			}
			return p
		}
		acts := map[string]func() error{
			"write": func() error {
				return os.WriteFile(draw("file"), []byte(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "text")), 0o644)
			},
			"ignore": func() error {
				return os.WriteFile(filepath.Join(draw("ignoring"), ".gitignore"), []byte(rapid.SampledFrom([]string{"a\n", "b/c\n", "*\n", ""}).Draw(t, "rules")), 0o644)
			},
			"swap": func() error {
				one, two := draw("one"), draw("two")
				return errors.Join(os.Rename(one, dir+"-aside"), os.Rename(two, one), os.Rename(dir+"-aside", two))
			},
			"mkdir":  func() error { return os.MkdirAll(draw("dir"), 0o755) },
			"remove": func() error { return os.RemoveAll(draw("gone")) },
			"rename": func() error { return os.Rename(draw("from"), draw("to")) },
			"link":   func() error { return os.Symlink("a", draw("link")) },
			"chmod": func() error {
				return os.Chmod(draw("mode"), rapid.SampledFrom([]fs.FileMode{0o700, 0o755, 0o750}).Draw(t, "bits"))
			},
			"above": func() error {
				return errors.Join(os.RemoveAll(dir+"-old"), os.Rename(dir, dir+"-old"), os.CopyFS(dir, os.DirFS(dir+"-old")), os.WriteFile(filepath.Join(dir, "a", "b", "a"), []byte("other"), 0o600))
			},
			"left out": func() error { _, err := d.w.LeftOut(t.Context()); return err },
			"nothing":  func() error { return nil },
		}
		kinds := slices.Sorted(maps.Keys(acts))
		for _, place := range []string{"a/b/c/a", "a/b/a", "a/c", "b/a/c", "b/b/c/b", "c/a/a", "c/b/a"} {
			d.write(place, place)
		}
		for range rapid.IntRange(1, 5).Draw(t, "looks") {
			for range rapid.IntRange(0, 3).Draw(t, "acts") {
				_ = acts[rapid.SampledFrom(kinds).Draw(t, "act")]() // What is not possible changes nothing.
			}
			d.take(files.Look{Agent: true})
			if got, want := d.tree(), d.read(); got != want {
				t.Fatalf("the watched look found tree %s, one that reads everything %s: %q", got, want, contents(t, dir))
			}
		}
	})
}

// Directories that take the place of others are read, with all below them.
func TestMovedDirectories(t *testing.T) {
	for name, act := range map[string]func(up, dir string) error{
		"swapped": func(up, dir string) error {
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			return errors.Join(os.Rename(a, up+"/aside"), os.Rename(b, a), os.Rename(up+"/aside", b))
		},
		"below": func(_, dir string) error {
			a, b := filepath.Join(dir, "a", "b"), filepath.Join(dir, "b", "b")
			return errors.Join(os.RemoveAll(a), os.Rename(b, a))
		},
		"above": func(up, dir string) error {
			return errors.Join(os.Rename(up, up+"-old"), os.CopyFS(up, os.DirFS(up+"-old")), os.WriteFile(filepath.Join(dir, "a/b/c"), []byte("other"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			up := filepath.Join(t.TempDir(), "up")
			d := newDesk(t, filepath.Join(up, "w"), filepath.Join(t.TempDir(), "checkpoints"))
			for _, place := range []string{"a/b/c", "a/b/d/e", "b/b/c", "b/b/d/e"} {
				d.write(place, place)
			}
			d.take(files.Look{})
			d.must(act(up, d.dir))
			d.take(files.Look{})
			if got, want := d.tree(), d.read(); got != want {
				t.Errorf("the watched look found tree %s, want %s", got, want)
			}
			d.must(d.w.Rest())
		})
	}
}

// More events than the system keeps do not hide a change.
func TestLostEvents(t *testing.T) {
	d := open(t)
	d.write("d/h", "1")
	d.write("e/f", "1")
	d.take(files.Look{})
	for i := range 9000 {
		d.write("d/g", fmt.Sprint(i))
		d.must(os.Rename(d.path("d/g"), d.path("d/h")))
	}
	d.write("e/f", "2")
	d.take(files.Look{Agent: true})
	if got, want := d.tree(), d.read(); got != want {
		t.Errorf("the look found tree %s, want %s", got, want)
	}
	d.must(d.w.Rest())
}

// What a look for one pod has found, the next look for another one finds too.
func TestLooksOfSeveralPods(t *testing.T) {
	d := open(t)
	other := &desk{t: t, dir: d.dir, stores: d.stores, w: d.stores.Of(d.dir), branch: "other"}
	pods := []*desk{d, other, d, d, other}
	for i, first := range pods {
		d.write("a", fmt.Sprint(i))
		first.take(files.Look{Agent: true})
		for _, pod := range pods[:2] {
			pod.take(files.Look{Agent: true})
			if got, want := pod.tree(), d.read(); got != want {
				t.Fatalf("%d: the last checkpoint has\n%s\nwant\n%s", i, got, want)
			}
			if taken := pod.take(files.Look{}); len(taken) > 0 {
				t.Errorf("%d: a checkpoint without a change: %v", i, taken)
			}
		}
	}
	d.must(other.w.Rest())
}
