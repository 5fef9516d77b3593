//go:build integrations

package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// Root is the root directory of the project: the one above the test's with a go.mod.
func Root() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// binDir has the podd and podctl under test.
func binDir() string {
	if raced() {
		return filepath.Join(Root(), "bin", "integrations-race")
	}
	return filepath.Join(Root(), "bin", "integrations")
}

// build builds podd and podctl once per process, one process at a time.
var build = sync.OnceValues(func() ([]byte, error) {
	if err := os.MkdirAll(binDir(), 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(binDir(), ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	// A program that is up to date does not change.
	c := exec.Command("go", "build", "-o", binDir()+string(os.PathSeparator), "./cmd/podd", "./cmd/podd-launch", "./cmd/podctl")
	if raced() {
		c.Args = slices.Insert(c.Args, 2, "-race")
	}
	c.Dir = Root()
	return c.CombinedOutput()
})

// Binaries builds podd and podctl from this tree and returns their directory.
func Binaries(t testing.TB) string {
	t.Helper()
	if out, err := build(); err != nil {
		t.Fatalf("podd and podctl could not be built: %v\n%s", err, out)
	}
	return binDir()
}

// Need is the path of a program on the PATH. Without it the test fails.
func Need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed; `make test-integrations` installs what these tests need where it can", program)
	}
	return path
}

// NPM is a path below the directory of the packages of integrations/npm. Without it the
// test fails.
func NPM(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root(), "integrations", "npm", "node_modules"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed; `make test-integrations` installs what these tests need where it can", filepath.Join(elem...))
	}
	return path
}
