package paths_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestEnsurePrivateDirMakesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := paths.EnsurePrivateDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := mode(t, dir); got != 0o700 {
		t.Errorf("mode %04o, want 0700", got)
	}
	if got := mode(t, filepath.Dir(dir)); got != 0o700 {
		t.Errorf("parent's mode %04o, want 0700", got)
	}
}

func TestEnsurePrivateDirFollowsOurLink(t *testing.T) {
	base := t.TempDir()
	target, link := filepath.Join(base, "real"), filepath.Join(base, "link")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsurePrivateDir(link); err != nil {
		t.Error(err)
	}
}

func TestEnsurePrivateDirRefuses(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := paths.EnsurePrivateDir(file)
	wantError(t, err, item.KindInvalid, "NOT_A_DIRECTORY", file, "choose another")
	err = paths.EnsurePrivateDir(filepath.Join(file, "below"))
	wantError(t, err, item.KindInvalid, "NOT_A_DIRECTORY", "choose another")

	for _, perm := range []fs.FileMode{0o755, 0o710, 0o701, 0o770} {
		dir := filepath.Join(base, perm.String())
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, perm); err != nil {
			t.Fatal(err)
		}
		err = paths.EnsurePrivateDir(dir)
		wantError(t, err, item.KindPrecondition, "DIRECTORY_NOT_PRIVATE", dir, "choose another directory, or run chmod 700 on it if nobody else uses it")
		if got := mode(t, dir); got != perm {
			t.Errorf("the mode was changed from %04o to %04o", perm, got)
		}
	}
}

func TestEnsurePrivateDirRefusesAnothersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another user")
	}
	const nobody = 65534
	dir := filepath.Join(t.TempDir(), "theirs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	err := paths.EnsurePrivateDir(dir)
	wantError(t, err, item.KindDenied, "DIRECTORY_NOT_OURS", dir, "uid 65534", "of your own")

	ours := t.TempDir()
	if err := os.Chmod(ours, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(link, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	err = paths.EnsurePrivateDir(link)
	wantError(t, err, item.KindDenied, "DIRECTORY_NOT_OURS", link)
}
