package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// HEAD moved if the last line of git's log of it is not older, in the repository or a worktree around a directory.
func TestHeadMoved(t *testing.T) {
	top := t.TempDir()
	log := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "logs", "HEAD"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo, tree, other := filepath.Join(top, "repo"), filepath.Join(top, "tree"), filepath.Join(top, "other")
	own := filepath.Join(repo, ".git", "worktrees", "tree")
	for _, dir := range []string{filepath.Join(repo, "sub"), own, tree, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+own+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const line = "1111 2222 A Name <a@b> 1700000100 +0200\tcommit: 1800000000 +0000\n"
	log(filepath.Join(repo, ".git"), "0000 1111 A Name <a@b> 1700000000 +0000\tcommit (initial): x\n"+line)
	log(own, "0000 1111 <> 1700000500 +0000\t\n")
	for _, c := range []struct {
		dir   string
		since int64
		want  bool
	}{
		{repo, 1700000099, true},
		{repo, 1700000100, true},
		{repo, 1700000101, false},
		{filepath.Join(repo, "sub"), 1700000100, true},
		{tree, 1700000500, true},
		{tree, 1700000501, false},
		{other, 0, false},
	} {
		if got := HeadMoved(c.dir, time.Unix(c.since, 5e8)); got != c.want {
			t.Errorf("HEAD of %s moved since %d: %v", c.dir, c.since, got)
		}
	}
	for _, text := range []string{"", "\n", "x\n", "0000 1111 A <a@b> soon +0000\tcommit: x\n"} {
		log(filepath.Join(repo, ".git"), text)
		if HeadMoved(repo, time.Time{}) {
			t.Errorf("HEAD moved, as the log %q says", text)
		}
	}
}
