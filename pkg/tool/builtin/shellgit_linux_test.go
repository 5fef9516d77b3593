package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/tooltest"
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

// approved calls the shell with a call that a person approved.
func (b *bench) approved(command string) tool.Output {
	b.t.Helper()
	call := tool.Invocation{CallID: "approved", Approved: true, Arguments: object("command", command)}
	return tooltest.Invoke(b.t.Context(), b.t, b.tool("shell"), call)
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

// A line that changes more than everyday work asks in any mode, and succeeds once a
// person agrees.
func TestGitAsksForMore(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			lib := elsewhere(t)
			onHost(t, lib, newRepository)
			for _, c := range []struct{ command, check, want string }{
				{"git config a.b c", "git config a.b", "c"},
				{"git worktree add -q wt -b wt", "git worktree list | wc -l", "2"},
				{"git remote add origin " + lib, "git remote", "origin"},
				{"git fetch -q origin", "git branch -r --list origin/main", "origin/main"},
				{"git -c protocol.file.allow=always submodule --quiet add " + lib + " lib", "git config -f .gitmodules submodule.lib.path; ls .git/modules", "lib\nlib"},
				{"git branch -D other", "git branch --list other", ""},
				{"git -c user.name=m commit -q --allow-empty -m m", "git log -1 --format=%an", "m"},
				{"git init -q made", "ls -d made/.git", "made/.git"},
				{"git clone -q . made/copy", "ls -d made/copy/.git", "made/copy/.git"},
			} {
				if why := b.asks(c.command); !strings.Contains(why, "may change what git executes or obeys") {
					t.Errorf("%s asks: %q", c.command, why)
				}
				out := b.approved(c.command)
				if got := onHost(t, b.dir, c.check); out.IsError || got != c.want {
					t.Errorf("%s: %s\n%s\ngot %q, want %q", c.command, out.Summary, out.Content, got, c.want)
				}
			}
		})
	}
}

// A command that is not a plain line of git finds .git read-only, and learns what to do.
func TestGitIsReadOnlyToOthers(t *testing.T) {
	b := gitBench(t, sandbox.Bwrap)
	const hint = ".git is read-only to this command: run git add, commit and the like on a line of their own, in plain words without $, * or <, or call again with access \"git\" and why"
	for _, command := range []string{
		"rm -rf .git", "mv .git old", "echo x >.git/index", "x=1; git add -A; git commit -m $x", "git add -A && make", "sh -c 'git commit --allow-empty -m x'",
		"echo evil >.git/hooks/pre-commit", "python3 -c 'open(\".git/config\", \"a\")'",
	} {
		before := onHost(t, b.dir, "find .git -type f | sort | xargs sha256sum")
		program := strings.Fields(command)[0]
		names := slices.Contains([]string{"rm", "mv", "python3"}, program)
		if why := b.asks(command); names != (why == strconv.Quote(program)+" names .git and may change all of it") || !names && why != "" {
			t.Errorf("%s asks: %s", command, why)
		}
		out := b.call("shell", object("command", command))
		if !out.IsError || !strings.HasSuffix(out.Summary, hint) {
			t.Errorf("%s: %s\n%s", command, out.Summary, out.Content)
		}
		if after := onHost(t, b.dir, "find .git -type f | sort | xargs sha256sum"); after != before {
			t.Errorf("%s changed .git:\n%s\n%s", command, before, after)
		}
	}
}

// If .git cannot be made read-only, a command that names it and is not known to only read
// asks.
func TestGitOutsideOfBwrap(t *testing.T) {
	b := gitBench(t, sandbox.Landlock)
	for _, command := range []string{"rm -rf .git", "cp x .git/hooks/pre-commit", "echo x >.git/config", "for f in .git/hooks/*; do rm $f; done", "sed -i s/a/b/ .git/config"} {
		if b.asks(command) == "" {
			t.Errorf("%s does not ask", command)
		}
	}
	for _, command := range []string{"make", "ls .git", "cat .git/HEAD", "git status", "git commit -m x", "find . -path ./.git -prune -o -print", "grep -r --exclude-dir=.git one ."} {
		if why := b.asks(command); why != "" {
			t.Errorf("%s asks: %s", command, why)
		}
	}
	b = newBench(t, nil, func(c *builtin.Config) {
		c.Shell.Sandbox = builtin.DetectSandbox(t.Context(), builtin.SandboxConfig{Mode: sandbox.Off})
	})
	if why := b.asks("git config a.b c"); why != "" {
		t.Errorf("without a sandbox: %s", why)
	}
}

// The repository of a linked worktree is elsewhere: its commits ask.
func TestGitInALinkedWorktree(t *testing.T) {
	main := filepath.Join(elsewhere(t), "main")
	if err := os.Mkdir(main, 0o755); err != nil {
		t.Fatal(err)
	}
	onHost(t, main, newRepository+"; git worktree add -q ../wt -b wt")
	b, err := openBench(filepath.Join(filepath.Dir(main), "wt"), t.TempDir(), confined(t, sandbox.Bwrap))
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	defer b.fs.Close()
	const commit = "git add -A && git commit -q -m mine"
	b.write("mine", "x")
	if why := b.asks("git status"); why != "" {
		t.Errorf("git status asks: %s", why)
	}
	if why := b.asks(commit); !strings.Contains(why, main+"/.git, which is outside the pod's directories") {
		t.Errorf("it asks: %q", why)
	}
	if out := b.call("shell", object("command", commit)); !out.IsError || !strings.Contains(out.Summary, "the repository lies outside of the workspace and is read-only") {
		t.Errorf("unasked: %s", out.Summary)
	}
	if out := b.approved(commit); out.IsError || onHost(t, b.dir, "git log -1 --format=%s") != "mine" {
		t.Errorf("approved: %s %s", out.Summary, out.Content)
	}
	// What git obeys there does not change.
	if out := b.approved("git add -A && git commit -q --allow-empty -m x; echo x"); out.IsError {
		t.Errorf("%s", out.Summary)
	}
}

// A repository above the workspace is read-only, like everything there.
func TestGitAboveTheWorkspace(t *testing.T) {
	top := elsewhere(t)
	onHost(t, top, newRepository)
	b, err := openBench(filepath.Join(top, "sub"), t.TempDir(), confined(t, sandbox.Bwrap))
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	defer b.fs.Close()
	if out := b.call("shell", object("command", "git status --short && git log --oneline")); out.IsError {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	b.write("b.txt", "y")
	if out := b.call("shell", object("command", "git commit -am x")); !strings.Contains(out.Summary, "the repository lies outside of the workspace and is read-only") {
		t.Errorf("%s %s", out.Summary, out.Content)
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
		b.call("shell", object("command", "cd "+dir+"; rm -rf .git; git config a.b c; echo x >>$(git rev-parse --git-path config)"))
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
	b.write("check.sh", "echo . >.git/commondir; echo x >.git/config.worktree; ln -s $HOME .git/link; echo x >.git/hooks/post-commit; echo x >>.git/config; true")
	config := b.read(".git/config")
	out := b.call("shell", object("command", "git commit -q --allow-empty -m y"))
	if !out.IsError || !strings.Contains(out.Summary, "podd undid its change of .git/") || !strings.Contains(out.Summary, ".git/commondir") {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	for _, name := range []string{"commondir", "config.worktree", "link", "hooks/post-commit"} {
		if _, err := os.Lstat(b.path(".git/" + name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
	if b.read(".git/config") != config {
		t.Error("the configuration was changed")
	}
	// One that does not end is ended.
	b.write("check.sh", "echo . >.git/commondir; sleep 600")
	if out := b.call("shell", object("command", "git commit -q --allow-empty -m z")); !strings.Contains(out.Summary, "it changed .git/commondir") {
		t.Errorf("%s %s", out.Summary, out.Content)
	}
	if _, err := os.Lstat(b.path(".git/commondir")); err == nil {
		t.Error("there is a common directory")
	}
}

// A command creates no repository that was not requested, wherever and however.
func TestCommandsMakeNoRepositories(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			for _, c := range []struct{ name, script, undone string }{
				{"at the top", "sh -c 'git init -q .'", ".git"},
				{"below", "sh -c 'git init -q sub/new'; echo kept >sub/new/file", "sub/new/.git"},
				{"a copy", "mkdir -p a/b && cp -r old/.git a/b/.git", "a/b/.git"},
				{"a file", "echo gitdir: ../old/.git >sub/.git", "sub/.git"},
				{"a link", "ln -s ../old/.git sub/.git", "sub/.git"},
				{"a bare one", "mkdir -p x/objects x/refs x/hooks; echo evil >x/hooks/post-checkout; echo 'ref: refs/heads/x' >x/HEAD", "x/HEAD"},
				{"the top as a bare one", "mkdir objects refs; echo 'ref: refs/heads/x' >HEAD", "HEAD"},
			} {
				t.Run(c.name, func(t *testing.T) {
					b := newBench(t, map[string]string{"sub/a": ""}, confined(t, mode))
					onHost(t, b.dir, "git init -q old")
					out := b.call("shell", object("command", c.script))
					if _, err := os.Lstat(b.path(c.undone)); err == nil {
						t.Errorf("%s is there", c.undone)
					}
					if _, err := os.Lstat(b.path(c.undone + ".removed-by-podd")); err != nil {
						t.Error(err)
					}
					if !out.IsError || !strings.Contains(out.Summary, "podd undid its change of "+c.undone+", which git executes or obeys") {
						t.Errorf("%s", out.Summary)
					}
					if _, err := os.Stat(b.path("old/.git/HEAD")); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// Killing podd does not affect the command; the next podd undoes what it created.
func TestGitIsMendedAfterAKill(t *testing.T) {
	confined(t, sandbox.Bwrap)
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
	b := benchAt(t, dir, spoolDir)
	b.write("go", "")
	out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
	if err != nil || !found || !strings.Contains(out.Summary, "podd undid its change of .git/commondir") {
		t.Errorf("found %v, %v: %+v", found, err, out)
	}
	if _, err := os.Lstat(b.path(".git/commondir")); err == nil {
		t.Error("there is a common directory")
	}
}

// A repository that a person agreed to stays, although another command runs meanwhile.
func TestCommandsLeaveApprovedRepositories(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Bwrap))
	var wg sync.WaitGroup
	started := make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	report := func(string) { start() }
	wg.Go(func() {
		out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Report: report, Arguments: object("command", "echo up; until [ -e go ]; do sleep 0.02; done")})
		if out.IsError {
			t.Errorf("%s", out.Summary)
		}
	})
	<-started
	if out := b.approved("git init -q made"); out.IsError {
		t.Errorf("%s", out.Summary)
	}
	b.write("go", "")
	wg.Wait()
	if _, err := os.Stat(b.path("made/.git/HEAD")); err != nil {
		t.Error(err)
	}
}
