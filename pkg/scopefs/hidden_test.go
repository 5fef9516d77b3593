package scopefs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// home is a workspace with podd's files in it, like a home directory: a state directory
// with a token and a spool, a configuration directory, and a configuration file that does
// not exist yet.
func home(t *testing.T) (f *scopefs.FS, dir string) {
	t.Helper()
	dir = t.TempDir()
	plant(t, dir, map[string]string{
		"src/main.go": "package main", "state/podd/client.token": "secret", "state/podd/spool/own/out": "mine",
		"state/podd/spool/other/out": "secret", "state/other": "theirs", "config/podd/config.toml": "secret",
	})
	own := filepath.Join(dir, "state/podd/spool/own")
	return open(t, scopefs.Config{
		Dir: dir, Read: []string{own}, Shown: []string{own},
		Hidden: []string{filepath.Join(dir, "state/podd"), filepath.Join(dir, "config/podd"), filepath.Join(dir, "later/podd.toml")},
	}), dir
}

// reachesNothing tries every method on a path that must not be reached.
func reachesNothing(t *testing.T, f *scopefs.FS, path string) {
	t.Helper()
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "belongs to podd itself") && !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s of %s: %v", what, path, err)
		}
	}
	_, err := f.ReadFile(path, 0)
	refused("ReadFile", err)
	_, err = f.ReadFile(path+"/client.token", 0)
	refused("ReadFile below", err)
	_, err = f.Stat(path)
	refused("Stat", err)
	_, err = f.ReadDir(path)
	refused("ReadDir", err)
	_, err = f.ResolveRef(t.Context(), item.FileRef{Path: path}, scopefs.RefLimits{})
	refused("ResolveRef", err)
	refused("WriteFile", write(f, path, []byte("x")))
	refused("WriteFile below", write(f, path+"/new", []byte("x")))
	refused("WriteFile far below", write(f, path+"/a/b/new", []byte("x")))
	refused("Remove", f.Remove(t.Context(), path+"/client.token"))
	refused("Rename from", f.Rename(t.Context(), path+"/client.token", "stolen"))
	refused("Rename to", f.Rename(t.Context(), "src/main.go", path+"/planted"))
	refused("Walk", f.Walk(t.Context(), path, scopefs.WalkOptions{Ignored: true}, func(scopefs.Entry) error { return nil }))
	found, _ := f.Complete(t.Context(), f.List(t.Context()), path+"/", 0)
	for _, name := range found {
		// The way to the pod's own spool is the way to one of its roots.
		if !strings.HasSuffix(name, "/spool/own/") {
			t.Errorf("Complete of %s: %q", path, name)
		}
	}
}

// podd's own directories are out of reach, by their own name and by any other.
func TestHiddenIsOutOfReach(t *testing.T) {
	f, dir := home(t)
	must(t, os.Symlink("state/podd", filepath.Join(dir, "link")))
	must(t, os.Symlink("link", filepath.Join(dir, "chain")))
	must(t, os.Symlink("podd/../podd", filepath.Join(dir, "state/twist")))
	must(t, os.Symlink("../state/podd", filepath.Join(dir, "src/up")))
	for _, path := range []string{
		"state/podd", filepath.Join(dir, "state/podd"), "src/../state/./podd", "link", "chain", "state/twist", "src/up",
		"config/podd", "state/podd/spool/other",
	} {
		reachesNothing(t, f, path)
	}
	if got := names(t, filepath.Join(dir, "state/podd")); got != "client.token spool" {
		t.Errorf("in the state directory are now %q", got)
	}
	// Other directories beside them are not hidden, nor is the pod's own spool.
	for path, want := range map[string]string{
		"state/other": "theirs", filepath.Join(dir, "state/podd/spool/own/out"): "mine", "src/main.go": "package main",
	} {
		if file, err := f.ReadFile(path, 0); err != nil || string(file.Data) != want {
			t.Errorf("%s: %q, %v", path, file.Data, err)
		}
	}
	must(t, write(f, "state/new", []byte("x")))
}

// A hidden file stays hidden when it is replaced, and its name is reserved for podd while
// it does not exist.
func TestHiddenFile(t *testing.T) {
	f, dir := home(t)
	path := filepath.Join(dir, "later/podd.toml")
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for _, name := range []string{"later/podd.toml", "later/PODD.toml"} {
		wantKind(t, write(f, name, []byte("mode = \"off\"")), scopefs.OutOfScope)
		wantKind(t, f.Rename(t.Context(), "src/main.go", name), scopefs.OutOfScope)
	}
	must(t, os.WriteFile(path, []byte("secret"), 0o600))
	must(t, os.Rename(path, path+"~"))
	must(t, os.WriteFile(path, []byte("secret"), 0o600))
	reachesNothing(t, f, "later/podd.toml")
	must(t, write(f, "later/other.toml", []byte("x")))
}

// Another name of a hidden file, made with a hard link, is the hidden file.
func TestHardLinkToAHiddenFile(t *testing.T) {
	f, dir := home(t)
	must(t, os.Link(filepath.Join(dir, "state/podd/client.token"), filepath.Join(dir, "src/notes")))
	_, err := f.ReadFile("src/notes", 0)
	wantKind(t, err, scopefs.OutOfScope)

	other := filepath.Join(dir, "src")
	elsewhere := open(t, scopefs.Config{Dir: other, Hidden: []string{filepath.Join(dir, "state/podd")}})
	_, err = elsewhere.ReadFile("notes", 0)
	wantKind(t, err, scopefs.OutOfScope)
	must(t, os.Link(filepath.Join(other, "main.go"), filepath.Join(other, "twin.go")))
	if _, err := elsewhere.ReadFile("twin.go", 0); err != nil {
		t.Errorf("a file with two names of its own: %v", err)
	}
}

// A walk, a glob and a completion report that the hidden directory is closed, and show
// nothing of it.
func TestHiddenIsNotListed(t *testing.T) {
	f, _ := home(t)
	var seen []string
	must(t, f.Walk(context.Background(), ".", scopefs.WalkOptions{Ignored: true}, func(e scopefs.Entry) error {
		seen = append(seen, e.Path)
		if e.Path == "state/podd" && (e.Err == nil || !strings.Contains(e.Err.Error(), "belongs to podd itself")) {
			t.Errorf("the hidden directory is visited: %v", e.Err)
		}
		return nil
	}))
	matches, _, err := f.Glob(context.Background(), "**/*", 0)
	must(t, err)
	seen = append(seen, matches...)
	for _, prefix := range []string{"", "state/podd/", "client", "tok", "out", "config"} {
		found, err := f.Complete(context.Background(), nil, prefix, 0)
		must(t, err)
		seen = append(append(seen, found...), fuzzy(t, f, prefix, 1000)...)
	}
	for _, path := range seen {
		if strings.Contains(path, "podd/") && path != "state/podd/" && path != "config/podd/" && path != "state/podd/spool/own/" {
			t.Errorf("%s is shown", path)
		}
	}
}

// podd's own directory cannot be a pod's workspace.
// A pod's directory may be a checkout, which is in a hidden directory, and nothing beside it.
func TestRootInACheckout(t *testing.T) {
	_, dir := home(t)
	hidden, checkouts := filepath.Join(dir, "state/podd"), filepath.Join(dir, "state/podd/checkouts")
	must(t, os.MkdirAll(filepath.Join(checkouts, "p/repo/sub"), 0o700))
	must(t, os.MkdirAll(filepath.Join(checkouts, ".trash/q/repo"), 0o700))
	must(t, os.Symlink("../../spool", filepath.Join(checkouts, "p/way")))
	for root, ok := range map[string]bool{"p/repo": true, "p/repo/sub": true, "p": false, ".": false, "..": false, ".trash/q/repo": false, "p/way": false, "../spool/other": false} {
		f, err := scopefs.Open(scopefs.Config{Dir: filepath.Join(checkouts, root), Hidden: []string{hidden}, Checkouts: checkouts})
		if (err == nil) != ok || err != nil && item.ReasonOf(err) != "BAD_DIR" {
			t.Errorf("%s: %v", root, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

func TestRootInAHiddenDirectory(t *testing.T) {
	_, dir := home(t)
	must(t, os.Symlink("state/podd/spool", filepath.Join(dir, "way")))
	for _, root := range []string{"state/podd", "state/podd/spool/other", "way", "config/podd"} {
		root = filepath.Join(dir, root)
		hidden := []string{filepath.Join(dir, "state/podd"), filepath.Join(dir, "config/podd")}
		for _, cfg := range []scopefs.Config{
			{Dir: root, Hidden: hidden},
			{Dir: filepath.Join(dir, "src"), Read: []string{root}, Hidden: hidden},
			{Dir: filepath.Join(dir, "src"), Write: []string{root}, Hidden: hidden},
		} {
			f, err := scopefs.Open(cfg)
			if item.ReasonOf(err) != "BAD_DIR" {
				t.Errorf("%s: %v", root, err)
			}
			if err == nil {
				_ = f.Close()
			}
		}
	}
}
