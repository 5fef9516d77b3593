package scratch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"podd/pkg/tool/scratch"
)

// Files are removed wherever they are, and their directory stays.
func TestEmpty(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "tmp")
	d := scratch.New(temp, "its files")
	if err := errors.Join(d.Empty(), d.Make(), d.Make()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "file")
	deep := filepath.Join(temp, "closed", "a", "b")
	for _, err := range []error{
		os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "file"), nil, 0o600), os.WriteFile(outside, nil, 0o600),
		os.Symlink(outside, filepath.Join(temp, "link")), os.Symlink(filepath.Dir(outside), filepath.Join(temp, "dir")),
		os.Chmod(deep, 0), os.Chmod(filepath.Join(temp, "closed"), 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(temp)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Empty(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(temp)
	after, err2 := os.Stat(temp)
	if err != nil || err2 != nil || len(left) > 0 || !os.SameFile(before, after) || !exists(t, outside) {
		t.Errorf("left %v, %v, %v, the file outside %v", left, err, err2, exists(t, outside))
	}
	if next, err := d.Check(t.Context(), nil); err != nil || next <= 0 {
		t.Errorf("afterwards: %v, %v", next, err)
	}
}

// A link or file in place of the directory is neither emptied nor measured.
func TestALinkIsNotFollowed(t *testing.T) {
	outside, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	file := filepath.Join(outside, "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	if err := scratch.New(link, "").Empty(); !errors.Is(err, syscall.ELOOP) || !exists(t, file) {
		t.Errorf("emptied: %v", err)
	}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
