package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
)

// onHost runs a script in a directory as the user does, and returns its output.
func onHost(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file", "PWD=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// elsewhere is a directory outside of /tmp, which the sandbox replaces.
func elsewhere(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "podd-git-test-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

const newRepository = `git init -q -b main . && git config user.name n && git config user.email e@x
	echo one >a.txt && mkdir sub && echo two >sub/b.txt && git add -A && git commit -q -m one
	git switch -q -c other && echo three >c.txt && git add -A && git commit -q -m other && git switch -q main && echo four >d.txt && git add -A && git commit -q -m two`

// gitBench is a workspace that is a repository.
func gitBench(t *testing.T, mode sandbox.Mode) *bench {
	t.Helper()
	b := newBench(t, nil, confined(t, mode))
	onHost(t, b.dir, newRepository)
	return b
}

// asks says why a command asks; empty if it does not.
func (b *bench) asks(command string) string {
	b.t.Helper()
	return strings.Join(b.tool("shell").Access(object("command", command)).Protected, "; ")
}

// Plain lines do everyday work with git, without a question.
func TestGitWorksUnasked(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			for _, c := range []struct{ command, check, want string }{
				{"echo x >new.txt; true", "git status --short", "?? new.txt"},
				{"git add new.txt && git commit -q -m 'add new'", "git log -1 --format=%s", "add new"},
				{"git tag -a v1 -m v1; git branch feature", "git tag; git branch --list feature", "v1\n  feature"},
				{"git switch -q feature && git rm -q new.txt && git commit -qm gone | tail -n 3", "git log -1 --format=%s; git branch --show-current", "gone\nfeature"},
				{"git checkout -q main", "git branch --show-current", "main"},
				{"git merge -q --no-edit other", "git log -1 --format=%s", "Merge branch 'other'"},
				{"git reset -q --hard HEAD~1", "git log -1 --format=%s", "add new"},
				{"git cherry-pick other", "git log -1 --format=%s", "other"},
				{"git revert --no-edit HEAD", "git log -1 --format=%s", `Revert "other"`},
				{"git rebase -q feature", "git log -2 --format=%s", "Revert \"other\"\nother"},
				{"git mv a.txt e.txt; git restore --staged .; git stash -u; git stash pop", "git status --short", "D a.txt\n?? e.txt"},
				{"git restore a.txt", "git status --short", "?? e.txt"},
				{"cd sub && git add ../e.txt && git commit -q -m e && git status", "git log -1 --format=%s", "e"},
			} {
				if why := b.asks(c.command); why != "" {
					t.Errorf("%s asks: %s", c.command, why)
				}
				out := b.call("shell", object("command", c.command))
				if got := onHost(t, b.dir, c.check); out.IsError || got != c.want {
					t.Errorf("%s: %s\n%s\ngot %q, want %q", c.command, out.Summary, out.Content, got, c.want)
				}
			}
			if out := onHost(t, b.dir, "git fsck 2>&1 | grep -v dangling || true; find .git -name '*removed*'"); out != "" {
				t.Errorf("afterwards: %s", out)
			}
		})
	}
}

// Reading a repository still works.
func TestGitReadsUnasked(t *testing.T) {
	b := gitBench(t, sandbox.Bwrap)
	b.write("a.txt", "changed\n")
	for _, command := range []string{
		"git status && git diff && git log --oneline -3 && git show --stat && git blame a.txt && git grep one HEAD && git describe --always --dirty",
		"git --no-pager log -1; git -C sub status; git -c color.ui=never diff --cached; git stash list; git config user.name; git remote -v; git worktree list",
		"for b in $(git branch --format='%(refname:short)'); do git log -1 $b; done",
		"git diff >x.patch && git apply --check -R x.patch && rm x.patch",
		"find . -name '*.txt' -not -path './.git/*' | xargs grep -l changed",
		"git -c log.showsignature=false log -1 --format=%H:%ct && git status --porcelain", // What go build runs.
		"tar --exclude=.git -czf $TMPDIR/x.tgz . && ls -la .git && cat .git/HEAD",
	} {
		if why := b.asks(command); why != "" {
			t.Errorf("%s asks: %s", command, why)
		}
		if out := b.call("shell", object("command", command)); out.IsError || strings.Contains(out.Content, "Read-only") {
			t.Errorf("%s: %s\n%s", command, out.Summary, out.Content)
		}
	}
}

// Submodules, nested repositories, and one whose directory has another name.
func TestGitInOtherLayouts(t *testing.T) {
	b := gitBench(t, sandbox.Bwrap)
	onHost(t, b.dir, `git -c protocol.file.allow=always submodule --quiet add ./ lib 2>/dev/null; git commit -q -m lib
		git init -q vendor/x; mkdir apart; cd apart; git init -q --separate-git-dir ../meta .; cd ..; git worktree add -q wt`)
	for _, dir := range []string{"lib", "vendor/x", "apart", "wt"} {
		onHost(t, b.path(dir), "git config user.name n; git config user.email e@x")
		b.write(dir+"/new.txt", "x")
		command := "cd " + dir + " && git add new.txt && git commit -q -m new"
		if why := b.asks(command); why != "" {
			t.Errorf("%s asks: %s", dir, why)
		}
		if out := b.call("shell", object("command", command)); out.IsError || onHost(t, b.path(dir), "git log -1 --format=%s") != "new" {
			t.Errorf("%s: %s\n%s", dir, out.Summary, out.Content)
		}
		before := onHost(t, b.path(dir), "git config -l")
		b.call("shell", object("command", "cd "+dir+"; git config a.b c; echo x >>$(git rev-parse --git-path config)"))
		if after := onHost(t, b.path(dir), "git config -l"); after != before {
			t.Errorf("%s: %s", dir, after)
		}
	}
}

// A hook of the user's works with what it starts; changes of the repository that git
// would obey are undone.
func TestGitRunsHooksThatDoNoHarm(t *testing.T) {
	b := gitBench(t, sandbox.Bwrap)
	b.write(".git/hooks/pre-commit", "#!/bin/sh\nsh ./check.sh\n")
	if err := os.Chmod(b.path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.write("check.sh", "echo checked >checked; git add checked")
	if out := b.call("shell", object("command", "git commit -q --allow-empty -m x")); out.IsError || onHost(t, b.dir, "git show --name-only --format=%s") != "x\n\nchecked" {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	b.write("check.sh", "echo . >.git/commondir; echo x >.git/config.worktree; ln -s $HOME .git/link; echo x >.git/hooks/post-commit; git config alias.x '!sh'; true")
	config := b.read(".git/config")
	out := b.call("shell", object("command", "git commit -q --allow-empty -m y"))
	if !out.IsError || !strings.Contains(out.Summary, "podd moved ") || !strings.Contains(out.Summary, ".git/commondir") {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	for _, name := range []string{"commondir", "config.worktree", "link", "hooks/post-commit"} {
		if _, err := os.Lstat(b.path(".git/" + name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
	if got := b.read(".git/config"); strings.TrimSuffix(got, "[alias]\n") != config {
		t.Errorf("the configuration was changed from %q to %q", config, b.read(".git/config"))
	}
	// One that does not let go is ended.
	b.write("check.sh", "while :; do echo . >.git/commondir; done")
	if out := b.call("shell", object("command", "git commit -q --allow-empty -m z")); !strings.Contains(out.Summary, ".git/commondir again and again") {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	if _, err := os.Lstat(b.path(".git/commondir")); err == nil {
		t.Error("there is a common directory")
	}
}

// Killing podd does not affect the command; the next podd undoes what it created.
func TestGitIsMendedAfterAKill(t *testing.T) {
	adjust := confined(t, sandbox.Bwrap)
	t.Setenv(sandboxVariable, sandbox.Bwrap)
	dir, spoolDir := t.TempDir(), t.TempDir()
	onHost(t, dir, newRepository)
	before := &bench{t: t, dir: dir}
	before.write(".git/hooks/pre-commit", "#!/bin/sh\n: >ready; while ! [ -e go ]; do sleep 0.01; done; echo . >.git/commondir\n")
	if err := os.Chmod(before.path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	arguments := object("timeout_seconds", 60, "command", "git commit -q --allow-empty -m x")
	killAfter(t, dir, spoolDir, arguments, "ready")
	b := benchAt(t, dir, spoolDir, adjust)
	b.write("go", "")
	out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
	if err != nil || found != item.RecoveryFound || !strings.Contains(out.Summary, "podd moved .git/commondir away") {
		t.Errorf("found %v, %v: %+v", found, err, out)
	}
	if _, err := os.Lstat(b.path(".git/commondir")); err == nil {
		t.Error("there is a common directory")
	}
}
