package scopefs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/pkg/scopefs"
)

// names are the entries of a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteFile(t *testing.T) {
	f, dir := workspace(t, map[string]string{"old": "old", "sub/": ""})
	for _, path := range []string{"new", "old", "sub/new", "made/on/the/way", filepath.Join(dir, "absolute")} {
		if err := write(f, path, []byte("content")); err != nil {
			t.Errorf("writing %s: %v", path, err)
			continue
		}
		file, err := f.ReadFile(path, 0)
		if err != nil || string(file.Data) != "content" {
			t.Errorf("%s is %+v, %v", path, file, err)
		}
	}
	if got, want := names(t, dir), "absolute made new old sub"; got != want {
		t.Errorf("the workspace has %q, want %q", got, want)
	}
}

func TestWriteFileErrors(t *testing.T) {
	f, dir := workspace(t, map[string]string{"sub/a": "a", "guarded": "a"})
	must(t, os.Chmod(filepath.Join(dir, "guarded"), 0o444))
	for path, want := range map[string]scopefs.Kind{
		"":           scopefs.IsDir,
		"sub":        scopefs.IsDir,
		"sub/":       scopefs.IsDir,
		"sub/a/b":    scopefs.NotFound,
		"sub/a/b/c":  scopefs.NotFound,
		"guarded":    scopefs.IO,
		"../outside": scopefs.OutOfScope,
	} {
		t.Run(path, func(t *testing.T) {
			wantKind(t, write(f, path, []byte("x")), want)
		})
	}
	if got := names(t, dir) + " " + names(t, filepath.Join(dir, "sub")); got != "guarded sub a" {
		t.Errorf("something is left behind: %q", got)
	}
	if got := content(t, filepath.Join(dir, "guarded")); got != "a" {
		t.Errorf("the file of mode 0444 now holds %q", got)
	}
}

func TestWriteFileKeepsTheMode(t *testing.T) {
	f, dir := workspace(t, nil)
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o755, 0o666, 0o777, 0o200} {
		path := filepath.Join(dir, "file")
		must(t, os.WriteFile(path, []byte("old"), 0o600))
		must(t, os.Chmod(path, mode))
		must(t, write(f, "file", []byte("new")))
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != mode {
			t.Errorf("a file of mode %04o has %04o after a write", mode, info.Mode().Perm())
		}
	}
	// A new file has the mode that any program would give it.
	must(t, os.WriteFile(filepath.Join(dir, "theirs"), nil, 0o666))
	must(t, write(f, "ours", nil))
	theirs, err := f.Stat("theirs")
	must(t, err)
	ours, err := f.Stat("ours")
	must(t, err)
	if ours.Mode() != theirs.Mode() {
		t.Errorf("a new file has mode %v, others give it %v", ours.Mode(), theirs.Mode())
	}
}

// A link stays a link; its target is written.
func TestWriteFileThroughLinks(t *testing.T) {
	f, dir := workspace(t, map[string]string{"real/file": "old", "top": "old"})
	for link, target := range map[string]string{
		"link": "real/file", "chain": "./link", "dir": "real", "real/up": "../top", "dangling": "real/../real/new",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for link, target := range map[string]string{
		"link": "real/file", "chain": "real/file", "dir/file": "real/file", "dir/up": "top", "dangling": "real/new",
	} {
		must(t, write(f, link, []byte("via "+link)))
		if got := content(t, filepath.Join(dir, target)); got != "via "+link {
			t.Errorf("writing %s: %s holds %q", link, target, got)
		}
	}
	for _, link := range []string{"link", "chain", "dir", "real/up", "dangling"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s is no link any more: %v, %v", link, info, err)
		}
	}
}

// Concurrent readers see one whole content.
func TestReadersSeeOldOrNew(t *testing.T) {
	f, _ := workspace(t, nil)
	versions := [][]byte{bytes.Repeat([]byte("a"), 1<<20), bytes.Repeat([]byte("b"), 2<<20)}
	must(t, write(f, "file", versions[0]))
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			if err := write(f, "file", versions[i%2]); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for range 100 {
		file, err := f.ReadFile("file", 0)
		if err != nil || !bytes.Equal(file.Data, versions[0]) && !bytes.Equal(file.Data, versions[1]) {
			t.Errorf("read %d bytes of another content: %v", len(file.Data), err)
			break
		}
	}
	close(stop)
	writer.Wait()
}

// crashEnv makes the test program rewrite a file until it is killed.
const crashEnv = "PODD_TEST_REWRITE"

func crashContent(i int) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%08d", i%1000)), 1<<16)
}

func rewriteForEver(dir string) {
	f, err := scopefs.Open(scopefs.Config{Dir: dir})
	for i := 0; err == nil; i++ {
		err = write(f, "file", crashContent(i))
		fmt.Println(i)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A process killed while it writes leaves the old content or the new.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	dir, rounds := t.TempDir(), 100
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		// The writer is in the middle of another write by the time that the test reads its line
		// about the previous one.
		lines := bufio.NewScanner(out)
		for range round%3 + 1 {
			if !lines.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		data := []byte(content(t, filepath.Join(dir, "file")))
		if len(data) != len(crashContent(0)) || !bytes.Equal(data, bytes.Repeat(data[:8], 1<<16)) {
			t.Fatalf("after a kill the file has %d bytes of no single write", len(data))
		}
	}
	for name := range strings.FieldsSeq(names(t, dir)) {
		if name != "file" && !scopefs.Unfinished(name) {
			t.Errorf("a crash leaves %s behind", name)
		}
	}
}

// What killed writers left goes; what is still written, and what somebody else has, stays.
func TestRemoveUnfinished(t *testing.T) {
	left := func(letter string) string { return ".podd-" + strings.Repeat(letter, 26) + ".tmp" }
	old, fresh, locked, own := left("A"), left("B"), left("C"), ".podd-notes.tmp"
	f, dir := workspace(t, map[string]string{"sub/" + old: "", "sub/" + fresh: "", "sub/" + locked: "", "sub/" + own: "", old: ""})
	before := time.Now().Add(-time.Hour)
	for _, name := range []string{"sub/" + old, "sub/" + locked, "sub/" + own, old} {
		must(t, os.Chtimes(filepath.Join(dir, name), before, before))
	}
	now := time.Now() // The file system's clock may be a step behind.
	must(t, os.Chtimes(filepath.Join(dir, "sub", fresh), now, now))
	must(t, os.Symlink(own, filepath.Join(dir, "sub", left("D"))))
	must(t, os.Mkdir(filepath.Join(dir, "sub", left("E")), 0o700))
	writer, err := os.Open(filepath.Join(dir, "sub", locked))
	must(t, err)
	defer writer.Close()
	must(t, syscall.Flock(int(writer.Fd()), syscall.LOCK_EX))

	must(t, f.RemoveUnfinished(t.Context(), "sub/file"))
	must(t, f.RemoveUnfinished(t.Context(), "missing/file"))
	want := strings.Join([]string{fresh, locked, left("D"), left("E"), own}, " ")
	if got := names(t, filepath.Join(dir, "sub")); got != want {
		t.Errorf("the directory has %s, want %s", got, want)
	}
	if got := names(t, dir); got != old+" sub" {
		t.Errorf("the directory above has %s", got)
	}
	must(t, writer.Close())
	must(t, f.RemoveUnfinished(t.Context(), "sub/file"))
	if got := names(t, filepath.Join(dir, "sub")); strings.Contains(got, locked) {
		t.Errorf("what a writer left stays after its death: %s", got)
	}
}

func TestRemoveAndRename(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "a", "b": "b", "sub/c": "c"})
	must(t, os.Symlink("sub/c", filepath.Join(dir, "link")))
	must(t, f.Rename(t.Context(), "a", "made/here/a"))
	must(t, f.Rename(t.Context(), "link", "sub/link"))
	must(t, f.Remove(t.Context(), "sub/link"))
	if got := content(t, filepath.Join(dir, "made/here/a")) + content(t, filepath.Join(dir, "sub/c")); got != "ac" {
		t.Errorf("the files hold %q", got)
	}
	wantKind(t, f.Rename(t.Context(), "b", "sub/c"), scopefs.Exists)
	wantKind(t, f.Rename(t.Context(), "b", "sub"), scopefs.Exists)
	wantKind(t, f.Rename(t.Context(), "b", "b"), scopefs.Exists)
	wantKind(t, f.Rename(t.Context(), "none", "x"), scopefs.NotFound)
	wantKind(t, f.Rename(t.Context(), "sub", "x"), scopefs.IsDir)
	wantKind(t, f.Rename(t.Context(), "b", "sub/c/x"), scopefs.NotFound)
	wantKind(t, f.Remove(t.Context(), "none"), scopefs.NotFound)
	wantKind(t, f.Remove(t.Context(), "sub"), scopefs.IsDir)
	wantKind(t, f.Remove(t.Context(), "."), scopefs.IsDir)
	must(t, f.Remove(t.Context(), "b"))
	if got, want := names(t, dir), "made sub"; got != want {
		t.Errorf("the workspace has %q, want %q", got, want)
	}
}

func TestRenameBetweenRoots(t *testing.T) {
	other := t.TempDir()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a": "a"})
	f := open(t, scopefs.Config{Dir: dir, Write: []string{other}})
	err := f.Rename(t.Context(), "a", filepath.Join(other, "a"))
	wantKind(t, err, scopefs.IO)
	if content(t, filepath.Join(dir, "a")) != "a" || names(t, other) != "" {
		t.Error("the file was moved in part")
	}
}
