package shell_test

import (
	"os"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

// approvedChanges calls the shell with a call that names what it changes and that a person
// approved.
func (b *bench) approvedChanges(command string, changes ...string) tool.Output {
	b.t.Helper()
	call := tool.Invocation{CallID: "approved", Approved: true, Arguments: object("command", command, "changes", changes)}
	return tooltest.Invoke(b.t.Context(), b.t, b.tool("shell"), call)
}

// refuses calls the shell unasked, and fails the test unless the result is an error that
// names all of these.
func (b *bench) refuses(command string, names ...string) {
	b.t.Helper()
	out := b.call("shell", object("command", command))
	for _, name := range names {
		if !strings.Contains(out.Summary, name) {
			b.t.Errorf("%s: %q is not in %s", command, name, out.Summary)
		}
	}
	if !out.IsError || len(out.Summary) > item.MaxSummaryBytes {
		b.t.Errorf("%s: %d bytes, error %v: %s", command, len(out.Summary), out.IsError, out.Summary)
	}
}

// keptBack is what a command cannot do unasked: what the result names, what has to be named
// for it, and what the user then finds.
var keptBack = []struct {
	name, before, command string
	names, changes        []string
	// check has the output kept after the refusal and changed after the approved call.
	check, kept, changed string
}{
	{"a directory of hooks", "", "git config core.hooksPath x", []string{"core.hooksPath", ".git/config"}, []string{".git/config"}, "git config core.hooksPath || echo none", "none", "x"},
	{"an alias", "", "git config alias.x '!sh'", []string{"alias.x", ".git/config"}, []string{".git/config"}, "git config alias.x || echo none", "none", "!sh"},
	{"a setting in the last of three commands", "", "echo a >n.txt && git add n.txt && git commit -q --allow-empty -m n && git config filter.lfs.clean 'git-lfs clean -- %f'", []string{"filter.lfs.clean", ".git/config"}, []string{".git/config"}, "git config filter.lfs.clean || echo none", "none", "git-lfs clean -- %f"},
	{"a setting by a script", "", "python3 -c 'open(\".git/config\", \"a\").write(\"[core]\\n\\tpager = less\\n\")'", []string{"core.pager", ".git/config"}, []string{".git/config"}, "git config core.pager || echo none", "none", "less"},
	{"a setting that is removed", "git config core.hooksPath mine", "git config --unset core.hooksPath", []string{"core.hooksPath", ".git/config"}, []string{".git/config"}, "git config core.hooksPath || echo none", "mine", "none"},
	{"the URL of a remote", "git remote add origin one", "git config remote.origin.url other", []string{"remote.origin.url", ".git/config"}, []string{".git/config"}, "git config remote.origin.url", "one", "other"},
	{"the URL of a remote by its command", "git remote add origin one", "git remote set-url origin other", []string{"remote.origin.url", ".git/config"}, []string{".git/config"}, "git config remote.origin.url", "one", "other"},
	{"a hook", "", "echo evil > .git/hooks/pre-commit", []string{".git/hooks/pre-commit", ".git/hooks"}, []string{".git/hooks"}, "cat .git/hooks/pre-commit 2>/dev/null || echo none", "none", "evil"},
	{"a hook that is a program", "", "printf '#!/bin/sh\\ntrue\\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push", []string{".git/hooks/pre-push"}, []string{".git/hooks"}, "test -x .git/hooks/pre-push && echo there || echo none", "none", "there"},
	{"a hook in a new repository", "", "git init -q new && echo evil >new/.git/hooks/post-checkout", []string{"new/.git/hooks/post-checkout"}, []string{"new/.git/hooks"}, "test -e new/.git/hooks/post-checkout && echo there || echo none", "none", "there"},
	{"a setting of a new repository", "", "git init -q new && git -C new config core.fsmonitor evil", []string{"core.fsmonitor", "new/.git/config"}, []string{"new/.git/config"}, "git -C new config core.fsmonitor || echo none", "none", "evil"},
	{"a setting of a nested repository", "git init -q nested", "git -C nested config core.fsmonitor evil", []string{"core.fsmonitor", "nested/.git/config"}, []string{"nested/.git/config"}, "git -C nested config core.fsmonitor || echo none", "none", "evil"},
	{"a setting of the worktree", "", "git config extensions.worktreeConfig true; git config --worktree alias.x '!sh'", []string{"alias.x", ".git/config.worktree"}, []string{".git/config.worktree"}, "git config alias.x || echo none", "none", "!sh"},
	{"attributes", "", "mkdir -p .git/info; echo '*.txt filter=x' >.git/info/attributes", []string{".git/info/attributes"}, []string{".git/info/attributes"}, "cat .git/info/attributes 2>/dev/null || echo none", "none", "*.txt filter=x"},
}

// What git executes or obeys stays as it was, the result says what was taken back and how
// to ask, and a person's approval makes the same line work.
func TestKeptBackIsNamed(t *testing.T) {
	for _, mode := range sandboxes {
		adjust := confined(t, mode)
		t.Run(mode, func(t *testing.T) {
			for _, c := range keptBack {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					b := newBench(t, nil, adjust)
					onHost(t, b.dir, newRepository+"; "+c.before)
					b.refuses(c.command, append(c.names, "changes")...)
					if got := onHost(t, b.dir, c.check); got != c.kept {
						t.Errorf("afterwards %q, want %q", got, c.kept)
					}
					onHost(t, b.dir, "rm -rf new")
					if out := b.approvedChanges(c.command, c.changes...); out.IsError {
						t.Errorf("approved: %s\n%s", out.Summary, out.Content)
					}
					if got := onHost(t, b.dir, c.check); got != c.changed {
						t.Errorf("approved: %q, want %q", got, c.changed)
					}
				})
			}
		})
	}
}

// An approval covers only the files that the call names.
func TestAnApprovalIsForWhatItNames(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			out := b.approvedChanges("git config alias.x '!sh'; echo evil >.git/hooks/pre-commit", ".git/config")
			if got := onHost(t, b.dir, "git config alias.x; ls .git/hooks"); !out.IsError || !strings.HasPrefix(got, "!sh") || strings.Contains(got, "pre-commit\n") || strings.HasSuffix(got, "pre-commit") {
				t.Errorf("%s\n%s", out.Summary, got)
			}
			if a := b.tool("shell").Access(object("command", "git config alias.y '!sh'", "changes", []string{".git/config"})); len(a.Protected) != 1 || !strings.Contains(a.Protected[0], ".git/config") {
				t.Errorf("it asks %q", a.Protected)
			}
		})
	}
}

// An installation that sets up hooks on its way goes on; only the setting is taken back.
func TestAnInstallationGoesOn(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			b.write("install.sh", "set -e\nmkdir -p node_modules/a\necho 1 >node_modules/a/index.js\ngit config core.hooksPath .husky/_\ngit config user.name installer\nfor i in 1 2 3 4 5; do sleep 0.1; echo $i >>node_modules/steps; done\necho installed\n")
			out := b.call("shell", object("command", "sh ./install.sh && echo then"))
			if !out.IsError || !strings.HasPrefix(out.Content, "installed\nthen\n") || !strings.Contains(out.Summary, "core.hooksPath") || !strings.Contains(out.Summary, "exit 0") {
				t.Errorf("%s\n%s", out.Summary, out.Content)
			}
			if got := onHost(t, b.dir, "git config core.hooksPath || echo none; git config user.name; wc -l <node_modules/steps; cat node_modules/a/index.js"); got != "none\ninstaller\n5\n1" {
				t.Errorf("afterwards %q", got)
			}
		})
	}
}

// What git writes while podd takes a setting back is not lost, and no git fails because of that.
func TestHarmlessSettingsSurvive(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := gitBench(t, mode)
			out := b.call("shell", object("command", "set -e; for i in 1 2; do git config core.hooksPath x$i; git config user.k$i v; done"))
			if got := onHost(t, b.dir, "git config --get-regexp user.k | wc -l; git config core.hooksPath || echo none"); !out.IsError || got != "2\nnone" {
				t.Errorf("%s\n%s\n%s", out.Summary, out.Content, got)
			}
		})
	}
}

// protectedFiles are tracked, and differ between main and other.
var protectedFiles = []string{".claude/skills/s/SKILL.md", ".claude/settings.json", ".envrc", ".husky/pre-commit", ".vscode/settings.json", "sub/AGENTS.md"}

// protectedBranches makes the two branches; d.txt differs, too.
func protectedBranches(t *testing.T, b *bench) {
	t.Helper()
	script := func(text string) string {
		all := "echo " + text + " >d.txt\n"
		for _, path := range protectedFiles {
			all += "mkdir -p $(dirname " + path + "); echo " + text + " >" + path + "\n"
		}
		return all + "git add -A; git commit -q -m " + text + "\n"
	}
	onHost(t, b.dir, "git init -q -b main . && git config user.name n && git config user.email e@x\n"+
		script("base")+"git switch -q -c other\n"+script("theirs")+"git switch -q main; echo e >e.txt; git add e.txt; git commit -q -m mine")
}

// overProtected are lines that change tracked protected files, and the line that a person
// approves afterwards.
var overProtected = []struct{ name, before, command, again, text, subject string }{
	{"checkout", "", "git checkout other", "git restore .", "theirs", "theirs"},
	{"switch", "", "git switch -q other && echo on", "git checkout -- .", "theirs", "theirs"},
	{"in a script", "", "x=other; sh -c \"git checkout -q $x\"; true", "git restore .", "theirs", "theirs"},
	{"merge", "", "git merge --no-edit other", "git reset -q --hard && git merge --no-edit other", "theirs", "Merge branch 'other'"},
	{"fast-forward", "git reset -q --hard HEAD~1", "git merge --ff-only other", "git reset -q --hard && git merge --ff-only other", "theirs", "theirs"},
	{"rebase", "", "git rebase other", "git rebase --abort 2>/dev/null; git reset -q --hard && git rebase other", "theirs", "mine"},
	{"stash pop", "for f in .envrc .husky/pre-commit .vscode/settings.json .claude/settings.json .claude/skills/s/SKILL.md sub/AGENTS.md; do echo theirs >$f; done; git stash -q", "git stash pop", "git reset -q --hard && git stash pop && git commit -qam popped", "theirs", "popped"},
	{"reset", "", "git reset --hard other", "git reset -q --hard other", "theirs", "theirs"},
	{"restore", "", "git restore --source other --staged --worktree .", "git restore --source other --staged --worktree . && git commit -qm restored", "theirs", "restored"},
	{"cherry-pick", "", "git cherry-pick other", "git cherry-pick --abort 2>/dev/null; git reset -q --hard && git cherry-pick other", "theirs", "theirs"},
	{"pull", "git clone -q --bare . up; git remote add up \"$PWD/up\"; echo up >>.git/info/exclude", "git pull -q --no-rebase --no-edit up other", "git reset -q --hard && git pull -q --no-rebase --no-edit up other", "theirs", "Merge branch 'other' of"},
	{"removal", "git switch -q other; git rm -rq .envrc .husky .vscode .claude sub/AGENTS.md; git commit -qm gone; git switch -q main", "git checkout other", "git reset -q --hard && rm -rf .envrc .husky .vscode .claude sub/AGENTS.md", "", "gone"},
}

// A line of git that would change tracked protected files is an error that names them, and
// the tree is whole once a person has agreed.
func TestProtectedFilesFollowOnceApproved(t *testing.T) {
	adjust := confined(t, sandbox.Bwrap)
	for _, c := range overProtected {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, adjust)
			protectedBranches(t, b)
			onHost(t, b.dir, "true; "+c.before)
			b.refuses(c.command, ".claude", ".envrc", ".husky", ".vscode", "changes")
			out := b.approvedChanges(c.again, ".claude", ".envrc", ".husky", ".vscode", "sub/AGENTS.md")
			if out.IsError {
				t.Errorf("approved: %s\n%s", out.Summary, out.Content)
			}
			if got := onHost(t, b.dir, "git status --short; git log -1 --format=%s"); !strings.HasPrefix(got, c.subject) {
				t.Errorf("afterwards %q", got)
			}
			for _, path := range protectedFiles {
				if text, err := os.ReadFile(b.path(path)); c.text != "" && string(text) != c.text+"\n" || c.text == "" && err == nil {
					t.Errorf("%s has %q, %v", path, text, err)
				}
			}
		})
	}
}

// A later line over a tree that is still mixed says it again: a commit would revert the
// branch.
func TestAMixedTreeIsSaidAgain(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Bwrap))
	protectedBranches(t, b)
	b.call("shell", object("command", "git checkout other"))
	before := onHost(t, b.dir, "git rev-parse other")
	out := b.call("shell", object("command", "echo work >>d.txt && git commit -qam work"))
	if got := onHost(t, b.dir, "git diff --name-only "+before+" HEAD"); !out.IsError && strings.Contains(got, ".envrc") {
		t.Errorf("the commit reverts %s: %s", got, out.Summary)
	}
}

// A line that leaves protected files alone says nothing of them.
func TestUnchangedProtectedFilesAreNoMatter(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Bwrap))
	protectedBranches(t, b)
	for _, command := range []string{"git switch -q -c f && echo x >>e.txt && git commit -qam f", "git checkout -q main && git merge -q f", "git stash; git reset -q --hard HEAD~1", "git rebase -q -x true HEAD~1"} {
		b.unasked(command)
	}
	onHost(t, b.dir, "echo person >.envrc")
	b.unasked("git add e.txt; git commit -q --allow-empty -m x")
	if got := onHost(t, b.dir, "cat .envrc; git status --short"); got != "person\n M .envrc" {
		t.Errorf("got %q", got)
	}
}
