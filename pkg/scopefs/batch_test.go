package scopefs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/scopefs"
)

// snapshot is all that a directory has, with inodes, permissions, times and links. Directories change
// their times when something is prepared in them.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		what := fmt.Sprint(info.Mode(), " ", st.Ino)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprint(" ", info.ModTime().UnixNano(), " ", st.Nlink, " ", string(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " -> " + target
		}
		all[strings.TrimPrefix(path, dir)] = what
		return nil
	}))
	return all
}

// odd is a directory with files of several permissions, links and an open descriptor's worth of names.
func odd(t testing.TB) (f *scopefs.FS, dir string) {
	t.Helper()
	f, dir = workspace(t, map[string]string{"run.sh": "run", "key": "secret", "two": "2", "sub/deep/f": "f", "target": "t"})
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "key": 0o600, "sub/deep": 0o700} {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	must(t, os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "other")))
	must(t, os.Symlink("target", filepath.Join(dir, "link")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "broken")))
	return f, dir
}

// What fails in the middle leaves every file as it was: the same inodes, permissions, times and links.
func TestBatchTakesBack(t *testing.T) {
	f, dir := odd(t)
	b, ctx := f.Batch(), t.Context()
	_, err := b.Write(ctx, "run.sh", []byte("other"), false)
	must(t, err)
	_, err = b.Write(ctx, "link", []byte("through the link"), false)
	must(t, err)
	_, err = b.Write(ctx, "two", []byte("more"), false)
	must(t, err)
	must(t, b.Remove(ctx, "key"))
	must(t, b.Remove(ctx, "broken"))
	_, err = b.Write(ctx, "sub/deep/f", []byte("changes as it moves"), false)
	must(t, err)
	must(t, b.Rename(ctx, "sub/deep/f", "made/for/f"))
	must(t, b.Rename(ctx, "made/for/f", "again"))
	_, err = b.Write(ctx, "key", []byte("a new one"), true)
	must(t, err)
	_, err = b.Write(ctx, "new/file", []byte("new"), false)
	must(t, err)
	before := snapshot(t, dir)
	must(t, os.WriteFile(filepath.Join(dir, "new", "file"), []byte("somebody's"), 0o644))
	if stuck, err := b.Commit(); len(stuck) > 0 {
		t.Errorf("stuck %q", stuck)
	} else {
		wantKind(t, err, scopefs.Exists)
	}
	after := snapshot(t, dir)
	if content(t, filepath.Join(dir, "new/file")) != "somebody's" {
		t.Error("the file of somebody else is gone")
	}
	for name := range after {
		if strings.HasPrefix(name, "/new") {
			delete(after, name)
		}
	}
	for name := range before {
		if strings.HasPrefix(name, "/new") || strings.HasPrefix(name, "/made") || scopefs.Unfinished(filepath.Base(name)) {
			delete(before, name)
		}
	}
	if !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
}

// Changes that can be made are made in their order, and leave nothing beside them.
func TestBatch(t *testing.T) {
	f, dir := odd(t)
	b, ctx := f.Batch(), t.Context()
	f.NoteRead("key", scopefs.Digest([]byte("secret")))
	written, err := b.Write(ctx, "two", []byte("more"), false)
	must(t, err)
	if written.HardLinks != 1 {
		t.Errorf("%d other names", written.HardLinks)
	}
	must(t, b.Rename(ctx, "run.sh", "t"))
	must(t, b.Rename(ctx, "key", "run.sh"))
	must(t, b.Rename(ctx, "t", "key"))
	must(t, b.Remove(ctx, "link"))
	_, err = b.Write(ctx, "link", []byte("no link"), true)
	must(t, err)
	if stuck, err := b.Commit(); err != nil || len(stuck) > 0 {
		t.Fatal(stuck, err)
	}
	must(t, b.Close())
	got := fmt.Sprint(names(t, dir), " ", content(t, filepath.Join(dir, "two")), content(t, filepath.Join(dir, "other")), content(t, filepath.Join(dir, "link")), content(t, filepath.Join(dir, "target")),
		content(t, filepath.Join(dir, "run.sh")), content(t, filepath.Join(dir, "key")))
	if want := "broken key link other run.sh sub target two more2no linktsecretrun"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if info, err := os.Lstat(filepath.Join(dir, "key")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, read := f.LastRead("key"); read {
		t.Error("what was read stays with its old path")
	}
	if digest, read := f.LastRead("run.sh"); !read || digest != scopefs.Digest([]byte("secret")) {
		t.Error("what was read does not follow its file")
	}
}

// A file that moves with a new text has the old text at the old path until it is gone there. A link
// that moves leaves its file, which has the new text, in its place.
func TestBatchMovesWithANewText(t *testing.T) {
	f, dir := odd(t)
	b, ctx := f.Batch(), t.Context()
	_, err := b.Write(ctx, "run.sh", []byte("new"), false)
	must(t, err)
	_, err = b.Write(ctx, "link", []byte("through the link"), false)
	must(t, err)
	must(t, b.Rename(ctx, "run.sh", "made/run.sh"))
	must(t, b.Rename(ctx, "link", "moved"))
	if stuck, err := b.Commit(); err != nil || len(stuck) > 0 {
		t.Fatal(stuck, err)
	}
	if got, want := names(t, dir), "broken key made moved other sub target two"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if info, err := os.Lstat(filepath.Join(dir, "made/run.sh")); err != nil || info.Mode() != 0o755 || content(t, filepath.Join(dir, "made/run.sh")) != "new" {
		t.Errorf("%v, %v", info, err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "moved")); err != nil || to != "target" || content(t, filepath.Join(dir, "target")) != "through the link" {
		t.Errorf("%s, %v", to, err)
	}
	if digest, read := f.LastRead("made/run.sh"); !read || digest != scopefs.Digest([]byte("new")) {
		t.Error("what was written does not follow its file")
	}
}

// A batch that is not committed, for whatever reason, leaves no trace.
func TestBatchPreparesWithoutATrace(t *testing.T) {
	f, dir := odd(t)
	must(t, os.Chmod(filepath.Join(dir, "target"), 0o444))
	before := snapshot(t, dir)
	rapid.Check(t, func(rt *rapid.T) {
		b := f.Batch()
		path := rapid.SampledFrom([]string{"run.sh", "key", "two", "other", "link", "broken", "sub/deep/f", "sub", "a/b/c", "target", "run.sh/x", "../out"})
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				_, _ = b.Write(t.Context(), path.Draw(rt, "path"), []byte("x"), false)
			case 1:
				_, _ = b.Write(t.Context(), path.Draw(rt, "path"), []byte("x"), true)
			case 2:
				_ = b.Remove(t.Context(), path.Draw(rt, "path"))
			default:
				_ = b.Rename(t.Context(), path.Draw(rt, "path"), path.Draw(rt, "to"))
			}
		}
		if err := b.Close(); err != nil {
			rt.Fatal(err)
		}
		if after := snapshot(t, dir); !maps.Equal(before, after) {
			rt.Fatalf("before\n%v\nafter\n%v", before, after)
		}
	})
}

// batchEnv makes the test program change files in batches until it is killed.
const batchEnv = "PODD_TEST_BATCHES"

func batchForEver(dir string) {
	f, err := scopefs.Open(scopefs.Config{Dir: dir})
	for i := 0; err == nil; i++ {
		b, text := f.Batch(), []byte(strings.Repeat(fmt.Sprintf("%08d", i), 1<<10))
		for _, name := range []string{"run.sh", "key", "link"} {
			if _, werr := b.Write(context.Background(), name, text, false); werr != nil {
				err = werr
			}
		}
		err = errors.Join(err, b.Rename(context.Background(), "moves", fmt.Sprint("t", i)), b.Rename(context.Background(), fmt.Sprint("t", i), "moves"))
		if err == nil {
			_, err = b.Commit()
		}
		fmt.Println(i)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A kill in the middle of a batch leaves each file whole, with its permissions, and what is beside the
// files goes when the call is recovered.
func TestKilledBatch(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	for round := range rounds {
		f, dir := odd(t)
		must(t, os.WriteFile(filepath.Join(dir, "moves"), []byte("moved"), 0o640))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), batchEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range round%3 + 1 {
			if !lines.Scan() {
				t.Fatal("the process ended by itself")
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "key": 0o600, "target": 0o644} {
			data := content(t, filepath.Join(dir, name))
			if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != mode || len(data) != 8<<10 || data != strings.Repeat(data[:8], 1<<10) {
				t.Errorf("%s has %d bytes of no single batch: %v, %v", name, len(data), info.Mode(), err)
			}
		}
		old := time.Now().Add(-time.Hour)
		moved := 0
		for name := range strings.FieldsSeq(names(t, dir)) {
			if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode() == 0o640 && content(t, filepath.Join(dir, name)) == "moved" {
				moved++
			}
			if scopefs.Unfinished(name) {
				must(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
		}
		if moved != 1 {
			t.Errorf("the moved file has %d names in %s", moved, names(t, dir))
		}
		must(t, f.RemoveUnfinished(t.Context(), "key"))
		for name := range strings.FieldsSeq(names(t, dir)) {
			if scopefs.Unfinished(name) {
				t.Errorf("%s stays", name)
			}
		}
	}
}
