package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// A resolver says of every path what following its links says, in whatever order it is asked.
func TestResolver(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "a/b/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link": "a/b", "a/up": "../a", "whole": filepath.Join(top, "a"), "nowhere": "missing", "loop": "loop", "a/b/named": "file",
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := resolver{}
	for range 2 {
		for _, path := range []string{
			"a", "a/b", "a/b/file", "link", "link/file", "link/..", "link/../b", "a/up", "a/up/b/file", "whole/b/named", "whole/up/up/b",
			"nowhere", "nowhere/below", "loop", "missing", "a/b/file/below", "a//b/", ".",
		} {
			path = top + "/" + path
			want, err := filepath.EvalSymlinks(path)
			if err != nil {
				want = ""
			}
			if got := r.resolve(path); got != want {
				t.Errorf("%s leads to %q, not to %q", path, got, want)
			}
		}
	}
	if got := r.resolve("/"); got != "/" {
		t.Errorf("/ leads to %q", got)
	}
	paths := r.add(r.add(r.add(nil, filepath.Join(top, "link")), filepath.Join(top, "a/b")), "relative")
	if len(paths) != 1 || paths[0] != filepath.Join(top, "a/b") {
		t.Errorf("it adds %q", paths)
	}
}
