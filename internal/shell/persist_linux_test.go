package shell_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/pkg/item"
)

// attack is one on what git executes or obeys: what the user has done before, the command,
// and what the user does afterwards. It succeeds if that runs $EVIL.
type attack struct{ name, before, script, after string }

// target is a repository with everything that leads elsewhere: a remote, a submodule, a
// linked worktree, a nested and a bare repository. Beside it are another repository, a
// program that makes a marker, and files that a link may lead to.
const target = everydayFiles + `
	git init -q -b main lib; echo lib >lib/lib.txt; git -C lib add -A; git -C lib -c user.name=n -c user.email=e@x commit -q -m lib
	echo mine >victim; mkdir dir
	mkdir ws; cd ws; begin; history; git remote add origin "$PWD/../lib"
	git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib" mod; save mod
	git worktree add -q wt; git init -q --template= vendor/x; git init -q --template= --bare store; mkdir vendor/x/.git/hooks store/hooks
`

// targetMoved is what a copy of the target needs.
const targetMoved = `printf '#!/bin/sh\n: >%s/marker\n' $PWD >evil; chmod +x evil; git -C ws config remote.origin.url $PWD/lib
	echo gitdir: $PWD/ws/.git/worktrees/wt >ws/wt/.git; echo $PWD/ws/wt/.git >ws/.git/worktrees/wt/gitdir`

// field is a target that is attacked.
type field struct {
	t    *testing.T
	root string
}

// newField is a copy of the target at base, as an attack wants to find it.
func newField(t *testing.T, base string, a attack) field {
	t.Helper()
	f := field{t, copied(t, base, targetMoved)}
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", f.root).Run() })
	if a.before != "" {
		onHost(t, f.workspace(), f.words(a.before))
	}
	return f
}

func (f field) workspace() string { return filepath.Join(f.root, "ws") }

// words is a script with the words that attacks use.
func (f field) words(script string) string {
	return "export EVIL=" + f.root + "/evil OUT=" + f.root + "; " +
		"sneak() { git config -f \"$1\" core.fsmonitor $EVIL; }; " +
		"hook() { mkdir -p \"$(dirname \"$1\")\"; printf '#!/bin/sh\\n%s\\n' $EVIL >\"$1\"; chmod +x \"$1\"; }; " + script
}

// host runs a script as the user does, without settings or a terminal, and stops it if it
// waits.
func (f field) host(script string) string {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", f.words(script))
	cmd.Dir = f.workspace()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + f.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	// What it leaves running ends with it, but for what has a session of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 10*time.Second
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	_ = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return out.String()
}

// succeeded says whether what the user does next runs the attacker's program.
func (f field) succeeded(a attack) (bool, string) {
	f.t.Helper()
	marker := filepath.Join(f.root, "marker")
	if err := os.RemoveAll(marker); err != nil {
		f.t.Fatal(err)
	}
	after := a.after
	if after == "" {
		after = "git status"
	}
	out := f.host(after)
	_, err := os.Lstat(marker)
	return err == nil, out
}

// allAttacks are those of the tables.
func allAttacks() []attack {
	all := append(append(append([]attack{}, fileAttacks...), repositoryAttacks...), raceAttacks...)
	for _, k := range obeyedKeys {
		script := "git config \"" + k.key + "\" \"" + k.value + "\""
		if k.also != "" {
			script = k.also + "; " + script
		}
		after := k.after
		if after == "" {
			after = listed
		}
		all = append(all, attack{"the key " + k.key, k.before, script, after})
	}
	for _, place := range places {
		all = append(all, attack{"in " + place.file, place.before, place.make + "sneak " + place.file, "cd " + place.dir + " && git status; git config -l | grep -q /evil && $EVIL"})
	}
	for _, s := range oddSyntax {
		all = append(all, attack{"written as " + s.name, "", s.script, "git status; git diff HEAD~1; git log -p -1; git commit -q --allow-empty -m x; " + listed})
	}
	return all
}

func theTarget(t *testing.T) string {
	t.Helper()
	base := elsewhere(t)
	onHost(t, base, target)
	return base
}

// What a command leaves in a repository makes the user's next git run nothing.
func TestNothingPersistsByGit(t *testing.T) {
	base := theTarget(t)
	for _, mode := range sandboxes {
		adjust := confined(t, mode)
		t.Run(mode, func(t *testing.T) {
			for i, a := range allAttacks() {
				if !taken(mode, i) {
					continue
				}
				t.Run(a.name, func(t *testing.T) {
					t.Parallel()
					f := newField(t, base, a)
					b := openedAt(t, f.workspace(), adjust)
					out := b.call("shell", object("command", f.words(a.script), "timeout_seconds", 30))
					if bad, said := f.succeeded(a); bad {
						t.Errorf("it succeeded: %s\n%s\n%s", out.Summary, out.Content, said)
					}
				})
			}
		})
	}
}

// Without a sandbox each attack succeeds: the table shows what it says. With -short every
// fifth is tried.
func TestAttacksByGitSucceedUnconfined(t *testing.T) {
	base := theTarget(t)
	for i, a := range allAttacks() {
		if !taken("", i) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			f := newField(t, base, a)
			said := f.host(a.script)
			if ok, after := f.succeeded(a); !ok {
				t.Errorf("it fails: %s\n%s", said, after)
			}
		})
	}
}

// What the user had is still there after the attacks, and works.
func TestAttacksByGitDestroyNothing(t *testing.T) {
	base := theTarget(t)
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			f := newField(t, base, attack{before: "hook .git/hooks/post-checkout; git config alias.mine log"})
			want := f.host("git config -l; cat .git/hooks/*; git -C mod config -l; git -C wt rev-parse HEAD; cat .gitmodules")
			b := openedAt(t, f.workspace(), confined(t, mode))
			for _, script := range []string{
				"rm -rf .git/hooks", "echo broken >.git/config", "rm .git/config", "rm mod/.git", "rm wt/.git", "rm -rf .git/modules/mod/hooks; rm .git/modules/mod/config",
				"git config --unset alias.mine", "git config --remove-section alias", "mv .git/config x", "chmod 0 .git/config .git/hooks/post-checkout", ": >.git/hooks/post-checkout",
			} {
				out := b.call("shell", object("command", f.words(script)))
				if got := f.host("git config -l; cat .git/hooks/*; git -C mod config -l; git -C wt rev-parse HEAD; cat .gitmodules"); got != want {
					t.Errorf("%s: %s\nbefore:\n%s\nafter:\n%s", script, out.Summary, want, got)
				}
			}
		})
	}
}

// few are attacks of each kind, for what takes longer.
var few = []attack{
	{"a key", "", "git config core.fsmonitor $EVIL", ""},
	{"a hook", "", "hook .git/hooks/post-checkout", "git checkout -q other"},
	{"a new repository", "", "git init -q new; sneak new/.git/config", "git -C new status"},
	{"a submodule", "", "sneak .git/modules/mod/config", "git -C mod status"},
	{"a command of a rebase", stopped, "echo \"exec $EVIL\" >>.git/rebase-merge/git-rebase-todo", "git rebase --continue"},
	{"another common directory", "", "cp -r .git meta; sneak meta/config; echo ../meta >.git/commondir", "git config -l | grep -q /evil && $EVIL"},
}

// A job leaves no more than a command, and while it runs on, what it wrote goes away.
func TestNothingPersistsByJobs(t *testing.T) {
	base := theTarget(t)
	for _, mode := range sandboxes {
		adjust := confined(t, mode)
		for i, a := range few {
			if !taken(mode, i) {
				continue
			}
			t.Run(mode+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				f := newField(t, base, a)
				b := openedAt(t, f.workspace(), adjust)
				b.start("c1", "command", "echo ready; until [ -e go ]; do sleep 0.01; done; "+f.words(a.script)+"; echo done; sleep 600")
				b.write("go", "")
				b.job("action", "read", "id", "1", "after", 0, "wait_seconds", 20, "until", "^done$")
				b.job("action", "stop", "id", "1")
				if bad, said := f.succeeded(a); bad {
					t.Errorf("it succeeded: %s", said)
				}
			})
		}
	}
}

// What a command or a job writes does not wait for its end.
func TestKeysGoAtOnce(t *testing.T) {
	base := theTarget(t)
	const wait = "git config core.fsmonitor $EVIL; git init -q new; sneak new/.git/config; while grep -q /evil .git/config new/.git/config; do sleep 0.01; done; echo gone"
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			f := newField(t, base, attack{})
			b := openedAt(t, f.workspace(), confined(t, mode))
			if out := b.call("shell", object("timeout_seconds", 300, "command", f.words(wait))); out.Content != "gone\n" {
				t.Errorf("the command: %+v", out)
			}
			b.start("c1", "command", "echo ready; until [ -e go ]; do sleep 0.01; done; rm -rf new; "+f.words(wait)+"; sleep 600")
			b.write("go", "")
			if out := b.job("action", "read", "id", "1", "after", 0, "wait_seconds", 300, "until", "^gone$"); out.IsError || !strings.Contains(out.Content, "gone") {
				t.Errorf("the job: %+v", out)
			}
			b.job("action", "stop", "id", "1")
		})
	}
}

// Killing podd does not help: the next podd takes back what the command wrote meanwhile.
func TestNothingPersistsAfterAKill(t *testing.T) {
	base := theTarget(t)
	for _, mode := range sandboxes {
		adjust := confined(t, mode)
		for i, a := range few {
			if !taken(mode, i) {
				continue
			}
			t.Run(mode+"/"+a.name, func(t *testing.T) {
				t.Setenv(sandboxVariable, mode)
				f := newField(t, base, a)
				spoolDir := t.TempDir()
				arguments := object("timeout_seconds", 60, "command", ": >ready; until [ -e go ]; do sleep 0.01; done; "+f.words(a.script)+"; echo ended")
				killAfter(t, f.workspace(), spoolDir, arguments, "ready")
				b := benchAt(t, f.workspace(), spoolDir, adjust)
				b.write("go", "")
				out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
				if bad, said := f.succeeded(a); err != nil || found != item.RecoveryFound || bad {
					t.Errorf("found %v, %v: %+v; succeeded %v: %s", found, err, out, bad, said)
				}
			})
		}
	}
}

// A hook that exists runs in the sandbox, without more rights than the command.
func TestHooksOfTheUserGainNothing(t *testing.T) {
	base := theTarget(t)
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			a := attack{before: "printf '#!/bin/sh\\nsh ./check.sh\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", after: "git checkout -q other; git status"}
			f := newField(t, base, a)
			b := openedAt(t, f.workspace(), confined(t, mode), func(c *setup) { c.Env = []string{"GIT_CONFIG_GLOBAL=/dev/null"} })
			b.write("check.sh", f.words("hook .git/hooks/post-checkout; git config core.fsmonitor $EVIL; echo x >checked; git add checked; true"))
			out := b.call("shell", object("command", "git commit -q --allow-empty -m x"))
			if bad, said := f.succeeded(a); bad {
				t.Errorf("%s\n%s\n%s", out.Summary, out.Content, said)
			}
			if got := f.host("git show --name-only --format= main"); strings.TrimSpace(got) != "checked" {
				t.Errorf("the commit has %q", got)
			}
		})
	}
}
