package scopefs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/scopefs"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		rewriteForEver(dir)
	}
	if dir := os.Getenv(batchEnv); dir != "" {
		batchForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

// open opens a workspace with further roots and closes it after the test.
func open(t testing.TB, cfg scopefs.Config) *scopefs.FS {
	t.Helper()
	f, err := scopefs.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// workspace opens a new workspace with files; a name that ends in "/" is a directory.
func workspace(t testing.TB, files map[string]string) (f *scopefs.FS, dir string) {
	t.Helper()
	dir = t.TempDir()
	plant(t, dir, files)
	return open(t, scopefs.Config{Dir: dir}), dir
}

// plant makes files below dir.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if name[len(name)-1] == '/' {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content reads a file without the FS.
func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// wantKind checks that err is a PathError of a kind, whose sentence is one line.
func wantKind(t testing.TB, err error, want scopefs.Kind) {
	t.Helper()
	e, ok := errors.AsType[*scopefs.PathError](err)
	if !ok {
		t.Errorf("got error %v, want a PathError of kind %s", err, want)
		return
	}
	if e.Kind != want {
		t.Errorf("got kind %s (%v), want %s", e.Kind, e, want)
	}
	for _, c := range e.Error() {
		if c < ' ' || c == '\u202e' {
			t.Errorf("the sentence %q holds a character that drives a terminal", e)
		}
	}
}

// write is WriteFile for tests that need only the error.
func write(f *scopefs.FS, path string, data []byte) error {
	_, err := f.WriteFile(context.Background(), path, data)
	return err
}
