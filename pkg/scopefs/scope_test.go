package scopefs_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// everyAccess tries all ways to reach a file and reports each result.
func everyAccess(f *scopefs.FS, path string, try func(name string, err error)) {
	_, err := f.ReadFile(path, 0)
	try("ReadFile", err)
	file, _, err := f.Open(path)
	if err == nil {
		_ = file.Close()
	}
	try("Open", err)
	_, err = f.Stat(path)
	try("Stat", err)
	_, err = f.ReadDir(path)
	try("ReadDir", err)
	try("WriteFile", write(f, path, []byte("written")))
	try("Rename to", f.Rename(context.Background(), "own", path))
	try("Walk", f.Walk(context.Background(), path, scopefs.WalkOptions{}, func(scopefs.Entry) error { return nil }))
	_, _, err = f.Glob(context.Background(), path+"/*", 0)
	try("Glob", err)
	_, err = f.ResolveRef(context.Background(), item.FileRef{Path: path}, scopefs.RefLimits{})
	try("ResolveRef", err)
	try("Rename from", f.Rename(context.Background(), path, "stolen"))
	try("Remove", f.Remove(context.Background(), path))
}

func TestNothingLeavesTheScope(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{
		"work/own": "own", "work/sub/": "", "secret": "secret", "other/secret": "secret", "workshop/secret": "secret",
	})
	work := filepath.Join(base, "work")
	for link, target := range map[string]string{
		"file":      "../secret",
		"dir":       "../other",
		"absolute":  filepath.Join(base, "other"),
		"chain":     "dir",
		"sub/up":    "../../other",
		"sub/upper": "../..",
		"sneaky":    "sub/../../other",
	} {
		must(t, os.Symlink(target, filepath.Join(work, link)))
	}
	f := open(t, scopefs.Config{Dir: work})
	for _, path := range []string{
		"../secret", "../other/secret", "sub/../../secret", "..", "../workshop/secret",
		filepath.Join(base, "secret"), filepath.Join(base, "workshop/secret"), base, "/", "/etc/passwd",
		work + "/../secret", "//" + base + "/secret",
		"dir/secret", "absolute/secret", "chain/secret", "sub/up/secret", "sub/upper/secret", "sneaky/secret",
	} {
		everyAccess(f, path, func(name string, err error) {
			t.Helper()
			if t.Run(name+" "+path, func(t *testing.T) { wantKind(t, err, scopefs.OutOfScope) }); err == nil {
				t.FailNow()
			}
		})
	}
	// The last element is a link: it may be removed or renamed, and leads nowhere.
	for _, path := range []string{"file", "chain", "dir", "absolute"} {
		_, err := f.ReadFile(path, 0)
		wantKind(t, err, scopefs.OutOfScope)
		_, err = f.ReadDir(path)
		wantKind(t, err, scopefs.OutOfScope)
		wantKind(t, write(f, path, []byte("written")), scopefs.OutOfScope)
		if err := f.Rename(t.Context(), path, "moved"); err != nil {
			t.Error(err)
		}
		if err := f.Remove(t.Context(), "moved"); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"secret", "other/secret", "workshop/secret"} {
		if got := content(t, filepath.Join(base, path)); got != "secret" {
			t.Errorf("%s now holds %q", path, got)
		}
	}
}

// Anything but a regular file is refused at once: opening a pipe would wait for ever.
func TestOnlyRegularFiles(t *testing.T) {
	f, dir := workspace(t, map[string]string{"own": "own"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "socket")})
	must(t, err)
	defer socket.Close()
	must(t, os.Symlink("pipe", filepath.Join(dir, "link")))
	for _, path := range []string{"pipe", "socket", "link"} {
		everyAccess(f, path, func(name string, err error) {
			t.Helper()
			switch name {
			case "Stat":
				must(t, err)
			case "ReadDir":
				wantKind(t, err, scopefs.NotFound) // No such directory.
			case "Rename to":
				wantKind(t, err, scopefs.Exists)
			case "ResolveRef":
				wantKind(t, err, scopefs.IO)
			case "Rename from", "Remove":
				if path != "link" {
					wantKind(t, err, scopefs.NotRegular)
				}
			default:
				wantKind(t, err, scopefs.NotRegular)
			}
		})
	}
}

func TestNoDevicesAndNoKernelFiles(t *testing.T) {
	for _, root := range []string{"/dev", "/proc"} {
		if _, err := os.Stat(root); err != nil {
			t.Skip(err)
		}
	}
	f := open(t, scopefs.Config{Dir: t.TempDir(), Read: []string{"/"}})
	for _, path := range []string{"/dev/null", "/dev/zero", "/proc/self/environ", "/proc/kmsg", "/proc/version"} {
		_, err := f.ReadFile(path, 10)
		wantKind(t, err, scopefs.NotRegular)
		_, err = f.ResolveRef(context.Background(), item.FileRef{Path: path}, scopefs.RefLimits{})
		wantKind(t, err, scopefs.IO)
	}
	// The links in /proc to the open files of a process lead nowhere here.
	_, err := f.ReadFile("/proc/self/root/etc/passwd", 10)
	wantKind(t, err, scopefs.OutOfScope)
}

func TestImpossibleNames(t *testing.T) {
	f, _ := workspace(t, map[string]string{"own": "own"})
	everyAccess(f, "a\x00b", func(_ string, err error) {
		t.Helper()
		wantKind(t, err, scopefs.NotFound)
	})
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'a'
	}
	_, err := f.ReadFile(string(long), 0)
	wantKind(t, err, scopefs.IO)
}

// Names are bytes; no name is special.
func TestOddNames(t *testing.T) {
	f, dir := workspace(t, nil)
	for _, name := range []string{
		"new\nline", "esc\x1b[2J", "bidi\u202ecod.exe", "-rf", "--", " space ", "not\xffutf8", "a:10-20", "@at", "..x", "~", "*", `back\slash`,
	} {
		if err := write(f, name, []byte(name)); err != nil {
			t.Errorf("writing %q: %v", name, err)
			continue
		}
		file, err := f.ReadFile("./"+name, 0)
		if err != nil || string(file.Data) != name || file.Path != name {
			t.Errorf("reading %q: %+v, %v", name, file, err)
		}
		message, err := f.ResolveRef(context.Background(), item.FileRef{Path: name}, scopefs.RefLimits{})
		if name == "not\xffutf8" {
			wantKind(t, err, scopefs.Binary)
		} else if want := "[File: " + scopefs.Display(name) + "]\n" + name; err != nil || message.Text != want {
			t.Errorf("resolving %q: %q, %v", name, message.Text, err)
		}
		if got := content(t, filepath.Join(dir, name)); got != name {
			t.Errorf("%q holds %q", name, got)
		}
		if err := f.Remove(t.Context(), name); err != nil {
			t.Errorf("removing %q: %v", name, err)
		}
	}
}

func TestLinkLoop(t *testing.T) {
	f, dir := workspace(t, nil)
	must(t, os.Symlink("b", filepath.Join(dir, "a")))
	must(t, os.Symlink("a", filepath.Join(dir, "b")))
	_, err := f.ReadFile("a", 0)
	wantKind(t, err, scopefs.IO)
	wantKind(t, write(f, "a", nil), scopefs.IO)
}
