package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"podd/pkg/llm/scripted"
)

// shut makes a directory read-only until the test ends, even for root.
func shut(t *testing.T, dir string) (open func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return func() { _ = os.Chmod(dir, 0o700) }
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	const immutable = 0x10
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, immutable); err != nil {
		t.Skipf("root can write everywhere on this file system: %v", err)
	}
	open = func() { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0) }
	t.Cleanup(open)
	return open
}

// An undo or an apply that cannot write all files changes none, and can be done later.
func TestAllFilesOrNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() > 0 {
			return scripted.Say(scripted.Text("Done."))
		}
		return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"a","content":"new"}`}, scripted.Call{Name: "write_file", Arguments: `{"path":"sub/b","content":"new"}`})
	})
	w.write("sub/old", "old")
	w.podctl("create", "p", "--dir", w.dir, "--ask", "never").run(0)
	w.podctl("submit", "-f", "-p", "p", "write").run(0)
	open := shut(t, filepath.Join(w.dir, "sub"))
	if _, says := w.podctl("undo", "p").run(1); !strings.Contains(says, "nothing was changed: "+filepath.Join(w.dir, "sub/b")+": its directory cannot be written") {
		t.Errorf("it says %q", says)
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "a")); err != nil || string(text) != "new" {
		t.Errorf("a is %q, %v", text, err)
	}
	open()
	w.podctl("undo", "p").run(0)
	if left, err := filepath.Glob(filepath.Join(w.dir, "sub/*")); err != nil || len(left) != 1 {
		t.Errorf("left are %q, %v", left, err)
	}
}
