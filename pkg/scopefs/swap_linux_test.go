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

// swapping makes a scope in which "dir" is alternately a directory and a link out of the
// scope, as fast as the system can, until the test ends. try is called often enough to
// meet both; it says whether it succeeded. dir is the directory, under whatever name.
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
			t.Error("read a file outside the scope")
		}
		_ = f.Walk(context.Background(), "dir", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
			if e.Path == "dir/outer" {
				t.Error("walked outside the scope")
			}
			return nil
		})
		return err == nil
	})
}

// The same for operations that change files.
func TestSwapRaceOfWrites(t *testing.T) {
	outside := swapping(t, 1000, func(f *scopefs.FS, dir *os.Root) bool {
		err := write(f, "dir/file", []byte("own"))
		must(t, dir.WriteFile("file", nil, 0o644))
		must(t, dir.WriteFile("outer", nil, 0o644))
		for i := range 5 {
			_ = f.Rename(t.Context(), "dir/file", "dir/renamed")
			_ = f.Rename(t.Context(), "dir/renamed", "dir/file")
			if i == 4 {
				_ = f.Remove(t.Context(), "dir/outer")
			}
		}
		return err == nil
	})
	if got := names(t, outside); got != "file outer" || content(t, filepath.Join(outside, "file")) != "secret" {
		t.Errorf("something was changed outside the scope: %s", got)
	}
}

// While a directory is swapped for a link to a hidden or a protected path, nothing hidden
// is read and nothing protected is written.
func TestSwapRaceIntoHidden(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"dir/file": "own", "podd/spool/file": "secret", "podd/file": "secret", ".git/hooks/keep": ""})
	f := open(t, scopefs.Config{Dir: base, Hidden: []string{filepath.Join(base, "podd")}})
	times := 4000
	if testing.Short() {
		times = 800
	}
	for _, target := range []string{"podd", "podd/spool", ".git/hooks"} {
		link := filepath.Join(base, "link")
		must(t, os.Symlink(target, link))
		stop := swapper(t, filepath.Join(base, "dir"), link)
		done := 0
		for i := range times {
			file, err := f.ReadFile("dir/file", 0)
			if err == nil && string(file.Data) == "secret" {
				t.Fatalf("read a hidden file through %s", target)
			}
			if err == nil {
				done++
			}
			if i%8 == 0 {
				_ = write(f, "dir/planted", []byte("x"))
				_ = f.Rename(context.Background(), "dir/planted", "dir/moved")
				_ = f.Remove(context.Background(), "dir/keep")
			}
			_ = f.Walk(context.Background(), "dir", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
				if e.Path == "dir/spool" {
					t.Error("walked what is hidden")
				}
				return nil
			})
		}
		stop()
		t.Logf("%d reads through %s came to something", done, target)
		must(t, os.RemoveAll(link))
		must(t, os.RemoveAll(filepath.Join(base, "dir")))
		plant(t, base, map[string]string{"dir/file": "own"})
	}
	if got := names(t, filepath.Join(base, "podd")) + names(t, filepath.Join(base, "podd/spool")); got != "file spoolfile" {
		t.Errorf("podd's directory has %s", got)
	}
	if got := names(t, filepath.Join(base, ".git/hooks")); got != "keep" {
		t.Errorf("the hooks are %s", got)
	}
}

// swapper exchanges two names as fast as the system can until stop is called.
func swapper(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	if err := exchange(a, b); err != nil {
		t.Skip(err)
	}
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if err := exchange(a, b); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { close(ended); wg.Wait() }
}
