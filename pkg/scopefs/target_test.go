package scopefs_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"podd/pkg/scopefs"
)

// A target names what a path leads to by links, of directories and of the file itself.
func TestTargetsFollowLinks(t *testing.T) {
	f, dir := workspace(t, map[string]string{"real/f": "f", "real/sub/g": "g"})
	must(t, os.Symlink("real", filepath.Join(dir, "m")))
	must(t, os.Symlink("m/f", filepath.Join(dir, "l")))
	for path, want := range map[string][]string{
		"real/f": nil, "m/f": {"real/f"}, "m/new/x": {"real/new/x"}, "l": {"real/f"}, "m": {"real"},
		"m/../m/sub": {"real/sub"}, ".": nil, filepath.Join(dir, "m/f"): {"real/f"}, "/etc/passwd": nil,
	} {
		if got := f.Target(path).Leads(); !slices.Equal(got, want) {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
	if f.Target("m/f").Seal() == f.Target("real/f").Seal() || f.Target("m/f").Seal() != f.Target("./m/f").Seal() {
		t.Error("seals do not tell paths apart")
	}
}

// Both names of a root appear.
func TestTargetsOfARootWithTwoNames(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/": "", "lib/x": "x"})
	must(t, os.Symlink("lib", filepath.Join(base, "named")))
	f := open(t, scopefs.Config{Dir: filepath.Join(base, "work"), Read: []string{filepath.Join(base, "named")}})
	for from, to := range map[string]string{"named/x": "lib/x", "lib/x": "named/x"} {
		if got := f.Target(filepath.Join(base, from)).Leads(); !slices.Equal(got, []string{filepath.Join(base, to)}) {
			t.Errorf("%s is also %q, want %s", from, got, to)
		}
	}
}

// A change applies to where the path led when it was decided on: a path that leads
// elsewhere by now is not written, created, moved or removed, and nothing is left behind.
func TestBoundChangesStayWhereTheyWereDecided(t *testing.T) {
	swaps := map[string]func(dir string) error{
		"a link to a directory": func(dir string) error {
			return errorsOf(os.Rename(dir+"/a/b", dir+"/a/old"), os.Symlink("../other", dir+"/a/b"))
		},
		"a link further up": func(dir string) error {
			return errorsOf(os.Rename(dir+"/a", dir+"/old"), os.Symlink("other", dir+"/a"))
		},
		"another directory": func(dir string) error {
			return errorsOf(os.Rename(dir+"/a/b", dir+"/a/old"), os.Rename(dir+"/other", dir+"/a/b"))
		},
		"no directory": func(dir string) error { return os.Rename(dir+"/a/b", dir+"/a/old") },
	}
	doors := map[string]func(f *scopefs.FS) error{
		"write":     func(f *scopefs.FS) error { return write(f, "a/b/f", []byte("new")) },
		"create":    func(f *scopefs.FS) error { return write(f, "a/b/new", []byte("new")) },
		"make":      func(f *scopefs.FS) error { return write(f, "a/b/c/new", []byte("new")) },
		"remove":    func(f *scopefs.FS) error { return f.Remove(t.Context(), "a/b/f") },
		"move":      func(f *scopefs.FS) error { return f.Rename(t.Context(), "a/b/f", "g") },
		"move into": func(f *scopefs.FS) error { return f.Rename(t.Context(), "plain", "a/b/g") },
		"read":      func(f *scopefs.FS) error { _, err := f.ReadFile("a/b/f", 0); return err },
		"list":      func(f *scopefs.FS) error { _, err := f.ReadDir("a/b"); return err },
	}
	paths := []string{"a/b", "a/b/f", "a/b/new", "a/b/c/new", "a/b/g", "g", "plain"}
	for what, swap := range swaps {
		for door, do := range doors {
			f, dir := workspace(t, map[string]string{"a/b/f": "f", "a/b/g/": "", "other/f": "other", "other/b/f": "other", "plain": "p"})
			must(t, os.Remove(filepath.Join(dir, "a/b/g")))
			one := f.Bound(targets(f, paths...))
			must(t, swap(dir))
			before := tree(t, dir)
			want := scopefs.Changed
			if what == "no directory" && door == "list" {
				want = scopefs.NotFound
			}
			wantKind(t, do(one), want)
			if after := tree(t, dir); !slices.Equal(before, after) {
				t.Errorf("%s, %s: %q, before %q", what, door, after, before)
			}
		}
	}
	for door, do := range doors {
		f, _ := workspace(t, map[string]string{"a/b/f": "f", "plain": "p"})
		if err := do(f.Bound(targets(f, paths...))); err != nil {
			t.Errorf("%s of an unchanged path: %v", door, err)
		}
	}
}

// Only what was decided on changes.
func TestBoundChangesNothingElse(t *testing.T) {
	f, dir := workspace(t, map[string]string{"sub/f": "f"})
	one := f.Bound(targets(f, "sub"))
	if write(one, "sub/f", []byte("x")) == nil || one.Remove(t.Context(), "sub/f") == nil || content(t, filepath.Join(dir, "sub/f")) != "f" {
		t.Error("a file below a path was changed")
	}
	if got, err := one.ReadFile("sub/f", 0); err != nil || string(got.Data) != "f" {
		t.Errorf("a file below a path: %q, %v", got.Data, err)
	}
}

// Directories that were missing may exist by now, because the writes of one step create
// them; but one with something protected in it may be a repository.
func TestBoundMakesDirectories(t *testing.T) {
	f, dir := workspace(t, map[string]string{"repo/.git/hooks/": ""})
	ctx := scopefs.Approved(t.Context())
	one := f.Bound(targets(f, "new/a", "new/b", "sub/.husky/a", "sub/.husky/b"))
	for _, path := range []string{"new/a", "new/b", "sub/.husky/a", "sub/.husky/b"} {
		if _, err := one.WriteFile(ctx, path, []byte("x")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	one = f.Bound(targets(f, "later/a", "moved/.git/hooks/x", "bare/hooks/x"))
	must(t, os.Mkdir(filepath.Join(dir, "later"), 0o755))
	must(t, write(one, "later/a", nil))
	must(t, os.Rename(filepath.Join(dir, "repo"), filepath.Join(dir, "moved")))
	_, err := one.WriteFile(ctx, "moved/.git/hooks/x", nil)
	wantKind(t, err, scopefs.Changed)
	must(t, os.Rename(filepath.Join(dir, "moved/.git"), filepath.Join(dir, "bare")))
	plant(t, dir, map[string]string{"bare/HEAD": "", "bare/objects/": "", "bare/refs/": ""})
	_, err = one.WriteFile(ctx, "bare/hooks/x", nil)
	wantKind(t, err, scopefs.Changed)
}

// A target stays the same as long as it leads to the same place.
func TestTargetsGoOn(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a/": "", "b/": "", "store/objects/": ""})
	must(t, os.Symlink("a", filepath.Join(dir, "m")))
	before := map[string]scopefs.Target{}
	for _, path := range []string{"m/x", "m/new/x", "new/.husky/x", "b/x", "store/config"} {
		before[path] = f.ChangeTarget(path)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "a/new"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "new/.husky"), 0o755))
	plant(t, dir, map[string]string{"store/HEAD": "", "store/refs/": ""})
	must(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")))
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
	want := map[string]bool{"m/x": true, "m/new/x": true}
	for path, target := range before {
		if got := f.ChangeTarget(path).Still(target); got != want[path] {
			t.Errorf("%s goes on: %v", path, got)
		}
	}
}

// A walk below a path that was decided on reaches what is there, and does not read a file
// that has become a link.
func TestBoundReadsBelow(t *testing.T) {
	f, dir := workspace(t, map[string]string{"real/sub/f": "f", "secret/f": "secret"})
	must(t, os.Symlink("real", filepath.Join(dir, "m")))
	one := f.Bound(targets(f, "m"))
	var found []string
	must(t, one.Walk(t.Context(), "m", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
		found = append(found, e.Path)
		return nil
	}))
	if !slices.Equal(found, []string{"m/sub", "m/sub/f"}) {
		t.Errorf("found %q", found)
	}
	if got, err := one.ReadFile("m/sub/f", 0); err != nil || string(got.Data) != "f" {
		t.Errorf("read %q, %v", got.Data, err)
	}
	must(t, os.Rename(filepath.Join(dir, "real/sub"), filepath.Join(dir, "real/old")))
	must(t, os.Symlink("../secret", filepath.Join(dir, "real/sub")))
	if got, err := one.ReadFile("m/sub/f", 0); err == nil {
		t.Errorf("read %q through a link that came later", got.Data)
	}
	must(t, os.Remove(filepath.Join(dir, "m")))
	must(t, os.Symlink("secret", filepath.Join(dir, "m")))
	err := one.Walk(t.Context(), "m", scopefs.WalkOptions{}, func(scopefs.Entry) error { return nil })
	wantKind(t, err, scopefs.Changed)
}

// However often a directory is swapped for a link while it is written to, nothing is
// written elsewhere.
func TestSwapRaceOfBoundWrites(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a/": "", "guarded/": ""})
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "old"))
			_ = os.Symlink("guarded", filepath.Join(dir, "a"))
			_ = os.Remove(filepath.Join(dir, "a"))
			_ = os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "a"))
		}
	})
	for range 500 {
		target := f.ChangeTarget("a/x")
		if len(target.Leads()) > 0 {
			continue // It would be decided on as its target.
		}
		_ = write(f.Bound([]scopefs.Target{target}), "a/x", []byte("x"))
	}
	close(stop)
	swapping.Wait()
	if got := names(t, filepath.Join(dir, "guarded")); got != "" {
		t.Errorf("written elsewhere: %s", got)
	}
}

func targets(f *scopefs.FS, paths ...string) []scopefs.Target {
	var all []scopefs.Target
	for _, path := range paths {
		all = append(all, f.ChangeTarget(path))
	}
	return all
}

// tree is everything below dir, with the content of files.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			path += "=" + content(t, path)
		}
		all = append(all, path)
		return err
	}))
	return all
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Reads need no approval: they do not consider protection, and give no way to a change.
func TestTargetsOfReads(t *testing.T) {
	f, dir := workspace(t, map[string]string{".git/config": "c", "plain": "p"})
	if _, protected := f.ChangeTarget(".git/config").Protected(); !protected {
		t.Error("a change of a protected path needs no approval")
	}
	read := f.Target(".git/config")
	if why, protected := read.Protected(); protected {
		t.Errorf("a read is protected: %s", why)
	}
	one := f.Bound([]scopefs.Target{read})
	if got, err := one.ReadFile(".git/config", 0); err != nil || string(got.Data) != "c" {
		t.Errorf("read %q, %v", got.Data, err)
	}
	_, err := one.WriteFile(scopefs.Approved(t.Context()), ".git/config", []byte("x"))
	wantKind(t, err, scopefs.Changed)
	if content(t, filepath.Join(dir, ".git/config")) != "c" {
		t.Error("a call that only reads changed a protected file")
	}
}
