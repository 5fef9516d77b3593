package scopefs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// A root must be in one of the directories of Within, and no link below may lead to it,
// even one that was a directory when it was checked.
func TestRootsWithin(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "other", "a/.config"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"a/up": "..", "a/side": "b", "a/out": "/", "a/b/abs": filepath.Join(top, "other")} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	within := []string{filepath.Join(top, "a", "b"), filepath.Join(top, "a")}
	for dir, want := range map[string]string{
		"a": "", "a/b/c": "", "other": "outside of what may be used", ".": "outside", "a/side": "by a link", "a/side/c": "by a link",
		"a/up/other": "cannot be opened", "a/out": "cannot be opened", "a/b/abs": "cannot be opened", "a/none": "does not exist",
	} {
		f, err := scopefs.Open(scopefs.Config{Dir: filepath.Join(top, dir), Within: within})
		if err == nil {
			_ = f.Close()
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", dir, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || item.ReasonOf(err) != "BAD_DIR"):
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// Protection starts at the outer directory: a root inside of it does not remove the first
// name.
func TestProtectedWithin(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, ".config")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := scopefs.Open(scopefs.Config{Dir: dir, Within: []string{top}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, protected := f.Protected("git/config"); !protected {
		t.Error("git/config in .config is not protected")
	}
	if _, protected := f.Protected("other"); protected {
		t.Error("other is protected")
	}
}
