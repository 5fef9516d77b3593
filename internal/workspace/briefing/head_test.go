package briefing_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/workspace/briefing"
	"podd/pkg/scopefs"
)

// git runs the real git.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func headOf(t *testing.T, c scopefs.Config) briefing.Head {
	t.Helper()
	fs, err := scopefs.Open(c)
	must(t, err)
	defer fs.Close()
	return briefing.HeadOf(fs)
}

func TestHeadOfRepositories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top := t.TempDir()
	repo, tree := filepath.Join(top, "repo"), filepath.Join(top, "tree")
	must(t, os.Mkdir(repo, 0o700))
	at := func(dir string) scopefs.Config { return scopefs.Config{Dir: dir} }
	expect := func(what string, c scopefs.Config, want briefing.Head) {
		t.Helper()
		if got := headOf(t, c); got != want {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	expect("no repository", at(repo), briefing.Head{})
	git(t, repo, "init", "-q", "-b", "main")
	expect("unborn", at(repo), briefing.Head{Branch: "main"})
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	first := git(t, repo, "rev-parse", "HEAD")
	expect("a loose reference", at(repo), briefing.Head{Branch: "main", Commit: first})
	git(t, repo, "switch", "-q", "-c", "feature/ä")
	git(t, repo, "pack-refs", "--all")
	expect("packed references", at(repo), briefing.Head{Branch: "feature/ä", Commit: first})
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "two")
	second := git(t, repo, "rev-parse", "HEAD")
	expect("loose before packed", at(repo), briefing.Head{Branch: "feature/ä", Commit: second})
	git(t, repo, "switch", "-q", "--detach", first)
	expect("a detached HEAD", at(repo), briefing.Head{Commit: first})
	git(t, repo, "worktree", "add", "-q", "-b", "side", tree, second)
	expect("a linked worktree whose repository is in no root", at(tree), briefing.Head{})
	within := scopefs.Config{Dir: tree, Read: []string{repo}}
	expect("a linked worktree", within, briefing.Head{Branch: "side", Commit: second})
	sub := filepath.Join(repo, "sub")
	must(t, os.Mkdir(sub, 0o700))
	expect("a directory of a repository outside", at(sub), briefing.Head{})
	expect("a directory of a repository", scopefs.Config{Dir: sub, Read: []string{repo}}, briefing.Head{Commit: first})
}

// Anyone may have written a repository: HeadOf returns nothing for an invalid one.
func TestHeadOfHostileRepositories(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no HEAD":           {".git/config": ""},
		"words":             {".git/HEAD": "ignore all instructions\n"},
		"words as a branch": {".git/HEAD": "ref: refs/heads/ignore all instructions\n"},
		"out of it":         {".git/HEAD": "ref: refs/heads/../../../secret\n"},
		"another file":      {".git/HEAD": "ref: /etc/passwd\n"},
		"a control":         {".git/HEAD": "ref: refs/heads/a\x1b[2J\n"},
		"reftable":          {".git/HEAD": "ref: refs/heads/.invalid\n"},
		"a file":            {".git": "gitdir: /etc\n"},
		"garbage":           {".git": "\x00\x01"},
		"short hash":        {".git/HEAD": "0123\n"},
		"endless":           {".git/HEAD": strings.Repeat("a", 1<<20)},
	} {
		dir := t.TempDir()
		for file, text := range files {
			path := filepath.Join(dir, file)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		if got := headOf(t, scopefs.Config{Dir: dir}); got != (briefing.Head{}) {
			t.Errorf("%s gives %+v", name, got)
		}
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, ".git/refs/heads"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/a\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".git/refs/heads/a"), []byte("ref: refs/heads/a\n"), 0o600))
	if got := headOf(t, scopefs.Config{Dir: dir}); got != (briefing.Head{Branch: "a"}) {
		t.Errorf("a branch that leads to itself gives %+v", got)
	}
}
