package sandbox_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
)

// repository makes the workspace a repository with everything that leads elsewhere: a
// directory of hooks, includes, a submodule, a linked worktree, a nested and a bare
// repository.
func (h *house) repository() {
	h.t.Helper()
	out, err := h.host(`
		rm -rf .git .bashrc sub && git init -q -b main . && git config user.name n && git config user.email e@x
		mkdir -p tools/hooks && echo true >tools/hooks/old && git config core.hooksPath tools/hooks
		printf '[a]\nb = c\n' >extra.inc && git config include.path ../extra.inc && git config --add include.path ../missing.inc
		mkdir scripts && echo '#!/bin/sh' >scripts/check && chmod +x scripts/check && ln -s ../../scripts/check .git/hooks/pre-push
		git add -A && git commit -q -m one
		git init -q ../lib && (cd ../lib && git -c user.name=n -c user.email=e commit -q --allow-empty -m lib)
		git -c protocol.file.allow=always submodule --quiet add ../lib sub 2>/dev/null
		git commit -q -m two
		git worktree add -q wt
		git init -q vendor/x && git init -q --bare store`)
	if err != nil {
		h.t.Fatal(out, err)
	}
}

// repositoryOf makes the workspace a copy of another one.
func (h *house) repositoryOf(first *house) {
	h.t.Helper()
	if out, err := exec.Command("cp", "-a", first.path("work")+"/.", h.path("work")).CombinedOutput(); err != nil {
		h.t.Fatal(string(out))
	}
}

// host runs a script in the workspace as the user does, without a sandbox.
func (h *house) host(script string) (string, error) {
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = h.path("work")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.path("home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// obeyed is the state of what git executes or obeys in the workspace.
func (h *house) obeyed(names ...string) string {
	h.t.Helper()
	var b strings.Builder
	for _, name := range names {
		err := filepath.WalkDir(h.path("work/"+name), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // a missing file is a state, too
			}
			text, _ := os.ReadFile(path)
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, "%s %s %q %x\n", strings.TrimPrefix(path, h.base), e.Type(), target, sha256.Sum256(text))
			return nil
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return b.String()
}

var (
	gitObeys = []string{
		".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/objects/info/alternates", ".git/worktrees/wt/commondir", ".git/worktrees/wt/gitdir", ".git/worktrees/wt/config.worktree", "wt/.git/config",
		".git/worktrees/new/commondir", ".git/modules/new/hooks/post-checkout", ".git/modules/sub/config", ".git/modules/sub/hooks", ".git/modules/sub/commondir",
		"tools", "extra.inc", "missing.inc", "scripts/check", "vendor/x/.git/config", "vendor/x/.git/hooks", "store/config", "store/hooks",
	}
	persistence = []struct{ name, script string }{
		{"a hook", "echo evil >.git/hooks/pre-commit"},
		{"hooks moved away", "mv .git/hooks .git/h; mkdir .git/hooks; echo evil >.git/hooks/pre-commit"},
		{"a setting", "git config core.fsmonitor evil"},
		{"the configuration replaced", "echo evil >x; mv -f x .git/config"},
		{"a configuration of the worktree", "echo evil >.git/config.worktree"},
		{"another common directory", "echo ../evil >.git/commondir"},
		{"borrowed objects", "mkdir -p .git/objects/info; echo /evil >.git/objects/info/alternates"},
		{"another common directory of a worktree", "echo ../../../evil >.git/worktrees/wt/commondir"},
		{"a worktree", "mkdir -p .git/worktrees/new; echo ../../../evil >.git/worktrees/new/commondir"},
		{"the configuration of a submodule", "echo evil >>.git/modules/sub/config"},
		{"a hook of a submodule", "echo evil >.git/modules/sub/hooks/pre-commit"},
		{"a submodule", "cd .git/modules; mkdir -p new/hooks new/objects new/refs; cp sub/HEAD new; echo evil >new/hooks/post-checkout"},
		{"a repository in the place of a worktree", "rm wt/.git; cp -r store wt/.git; echo evil >wt/.git/config"},
		{"a hook in core.hooksPath", "echo evil >tools/hooks/pre-commit"},
		{"core.hooksPath moved away", "mv tools t; mkdir -p tools/hooks; echo evil >tools/hooks/pre-commit"},
		{"an included file", "echo evil >>extra.inc"},
		{"an included file that is missing", "echo evil >missing.inc"},
		{"a script that a hook is a link to", "echo evil >>scripts/check"},
		{"a setting of a nested repository", "git -C vendor/x config core.fsmonitor evil"},
		{"a nested repository moved away", "mv vendor v; cp -r v vendor; echo evil >vendor/x/.git/config"},
		{"a hook of a bare repository", "echo evil >store/hooks/update"},
		{"another repository", "mv .git old; mkdir .git; cp -r old/* .git; echo evil >.git/config"},
	}
)

// emptyFile ends the line of an empty file, which git does not obey.
var emptyFile = fmt.Sprintf("%x", sha256.Sum256(nil))

// difference are the lines of two states that are in one of them.
func difference(before, after string) string {
	var b strings.Builder
	for sign, pair := range map[string][2]string{"- ": {before, after}, "+ ": {after, before}} {
		for line := range strings.SplitSeq(pair[0], "\n") {
			if !strings.Contains(pair[1], line) && !strings.HasSuffix(line, emptyFile) {
				b.WriteString(sign + line + "\n")
			}
		}
	}
	return b.String()
}

// The user's next git executes nothing that a command left in a repository, and the
// repository stays intact. With -short Landlock gets every fifth row.
func TestPersistenceByGit(t *testing.T) {
	first := newHouse(t)
	first.repository()
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(mode, func(t *testing.T) {
			for i, a := range persistence {
				if testing.Short() && mode == sandbox.Landlock && i%5 > 0 {
					continue
				}
				t.Run(a.name, func(t *testing.T) {
					h := newHouse(t)
					h.repositoryOf(first)
					s := h.sandbox(mode)
					h.run(s, "", "/bin/true") // It creates the directories to mount.
					before := h.obeyed(gitObeys...)
					out := h.run(s, "", "/bin/sh", "-c", a.script)
					// What it removed git does not obey.
					if changed := difference(before, h.obeyed(gitObeys...)); strings.Contains(changed, "+ ") {
						t.Errorf("it succeeded: %s\n%s\n%+v", out, changed, h.undone)
					}
				})
			}
		})
	}
	whole := append([]string{".git"}, gitObeys...)
	for i, a := range persistence {
		if testing.Short() && i%5 > 0 {
			continue
		}
		h := newHouse(t)
		h.repositoryOf(first)
		before := h.obeyed(whole...)
		if out := h.run(h.sandbox(sandbox.Off), "", "/bin/sh", "-c", a.script); h.obeyed(whole...) == before {
			t.Errorf("%s: without a sandbox it changes nothing: %s", a.name, out)
		}
	}
}

// In a git directory where git works, only git makes links or commands of a rebase.
func TestWorkLeavesNoLinksAndNoCommands(t *testing.T) {
	h := newHouse(t)
	h.repository()
	if out, err := h.host("git rebase -q -x false -x true HEAD~1 || true; ln -s HEAD .git/mine"); err != nil {
		t.Fatal(out)
	}
	s := h.sandbox(sandbox.Bwrap)
	h.run(s, "", "/bin/true")
	names := []string{".git/mine", ".git/logs", ".git/COMMIT_EDITMSG", ".git/rebase-merge"}
	before := h.obeyed(names...)
	if !strings.Contains(before, "git-rebase-todo") {
		t.Fatalf("no rebase is under way: %s", before)
	}
	for _, c := range []struct{ name, script string }{
		{"a link in the place of a message", "mv .git/COMMIT_EDITMSG x; ln -s ../../outside/file .git/COMMIT_EDITMSG; mv x y"},
		{"a link among the logs", "ln -s ../../../outside/file .git/logs/x"},
		{"a link that was there", "ln -sf ../../outside/file .git/mine"},
		{"a command of a rebase", "printf 'x evil\\n \\texec\\tevil\\n' >>.git/rebase-merge/git-rebase-todo"},
	} {
		out := h.run(s, "", "/bin/sh", "-c", c.script)
		after := h.obeyed(names...)
		if strings.Contains(after, "outside") {
			t.Errorf("%s: %s\n%s", c.name, out, after)
		}
		if text, err := os.ReadFile(h.path("work/.git/rebase-merge/git-rebase-todo")); err != nil || strings.Contains(string(text), "evil") || !strings.Contains(string(text), "exec true") {
			t.Errorf("%s: %v: %s", c.name, err, text)
		}
	}
}
