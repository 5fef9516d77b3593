package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"podd/internal/files"
)

// Steps that cannot be made are refused before the first one is made.
func TestFits(t *testing.T) {
	dir := t.TempDir()
	for path, mode := range map[string]os.FileMode{"shut": 0o755, "open": 0o777, "../../" + filepath.Base(filepath.Dir(dir)): 0o755} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, path), 0o755), os.Chmod(filepath.Join(dir, path), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "shut/a"), nil, 0o444), os.WriteFile(filepath.Join(dir, "open/a"), nil, 0o444), os.Chmod(filepath.Join(dir, "shut"), 0o555)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // Root may write everywhere: this thread is somebody else.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		be := func(uid uintptr) {
			if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, 0); err != 0 {
				t.Error(err)
			}
		}
		be(65534)
		defer be(0)
	}
	file, shut, wide := files.File{Mode: 0o100644}, files.File{Mode: 0o40555}, files.File{Mode: 0o40755}
	for name, c := range map[string]struct {
		steps []files.Step
		size  int64
		want  string
	}{
		"a file that may not be written is replaced": {[]files.Step{{Path: "open/a", Left: file, Want: file}}, 1, ""},
		"below what does not exist":                  {[]files.Step{{Path: "open/b/c", Want: file}}, 1, ""},
		"in a directory that may not be written":     {[]files.Step{{Path: "open/a", Left: file, Want: file}, {Path: "shut/a", Left: file, Want: file}}, 1, "shut/a: its directory cannot be written (permission denied)"},
		"removed from it":                            {[]files.Step{{Path: "shut/a", Left: file}}, 1, "shut/a: its directory"},
		"new below it":                               {[]files.Step{{Path: "shut/b/c", Want: file}}, 1, "shut/b/c: its directory"},
		"in it once it may be":                       {[]files.Step{{Path: "shut", Left: shut, Want: wide}, {Path: "shut/a", Left: file, Want: file}}, 1, ""},
		"too large":                                  {[]files.Step{{Path: "open/b", Want: file}, {Path: "open/c", Want: file}}, 1 << 61, "the disk has no room for it (no space left on device): free at least "},
	} {
		err := files.Fits(dir, c.steps, func(files.Step) (int64, error) { return c.size, nil })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, unix.ENOSPC) != (c.size > 1) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
