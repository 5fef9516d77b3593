package scopefs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"podd/pkg/scopefs"
)

// exchange swaps two names in one step, so that neither is ever missing.
func exchange(a, b string) error {
	number, known := map[string]uintptr{"amd64": 316, "arm64": 276, "riscv64": 276}[runtime.GOARCH]
	if !known {
		return errors.ErrUnsupported
	}
	from, err := syscall.BytePtrFromString(a)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(b)
	if err != nil {
		return err
	}
	const cwd, renameExchange = -100, 2
	at := cwd
	_, _, errno := syscall.Syscall6(number, uintptr(at), uintptr(unsafe.Pointer(from)), uintptr(at), uintptr(unsafe.Pointer(to)), renameExchange, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// swapping makes a scope in which "dir" is a directory and a link out of the scope
// in turn, as fast as the system can, until the test ends. try is called often
// enough to meet both; it says whether it came to something. dir is the directory,
// under whatever name.
func swapping(t *testing.T, tries int, try func(f *scopefs.FS, dir *os.Root) (done bool)) (outside string) {
	t.Helper()
	base := t.TempDir()
	plant(t, base, map[string]string{"work/dir/file": "own", "outside/file": "secret", "outside/outer": "secret"})
	work := filepath.Join(base, "work")
	must(t, os.Symlink("../outside", filepath.Join(work, "link")))
	dir, err := os.OpenRoot(filepath.Join(work, "dir"))
	must(t, err)
	defer dir.Close()
	f := open(t, scopefs.Config{Dir: work})
	swap := func() error { return exchange(filepath.Join(work, "dir"), filepath.Join(work, "link")) }
	if err := swap(); err != nil {
		t.Skip(err)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			if err := swap(); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	done := 0
	for range tries {
		if try(f, dir) {
			done++
		}
	}
	close(stop)
	swapper.Wait()
	t.Logf("%d of %d tries came to something", done, tries)
	return filepath.Join(base, "outside")
}

// While a directory is swapped for a link that leaves the scope, and back, every
// read ends inside or fails.
func TestSwapRaceOfReads(t *testing.T) {
	swapping(t, 10000, func(f *scopefs.FS, _ *os.Root) bool {
		file, err := f.ReadFile("dir/file", 0)
		if err == nil && string(file.Data) != "own" {
			t.Error("read a file outside of the scope")
		}
		_ = f.Walk(context.Background(), "dir", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
			if e.Path == "dir/outer" {
				t.Error("walked outside of the scope")
			}
			return nil
		})
		return err == nil
	})
}

// The same for what changes files.
func TestSwapRaceOfWrites(t *testing.T) {
	outside := swapping(t, 1000, func(f *scopefs.FS, dir *os.Root) bool {
		err := f.WriteFile("dir/file", []byte("own"))
		must(t, dir.WriteFile("file", nil, 0o644))
		must(t, dir.WriteFile("outer", nil, 0o644))
		for i := range 5 {
			_ = f.Rename("dir/file", "dir/renamed")
			_ = f.Rename("dir/renamed", "dir/file")
			if i == 4 {
				_ = f.Remove("dir/outer")
			}
		}
		return err == nil
	})
	if got := names(t, outside); got != "file outer" || content(t, filepath.Join(outside, "file")) != "secret" {
		t.Errorf("something was changed outside of the scope: %s", got)
	}
}
