package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// missing are protected files that a workspace rarely has.
var missing = []string{
	".envrc", ".vscode/tasks.json", ".vscode/settings.json", ".mcp.json", ".husky/pre-commit", ".podd/config.toml", ".npmrc", ".mise.toml",
	".nvim.lua", ".claude/settings.json", ".cursor/mcp.json", ".devcontainer/devcontainer.json", ".idea/workspace.xml", ".zed/settings.json",
	"AGENTS.md", "CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md", ".yarnrc.yml", ".gdbinit", ".bashrc", ".profile",
	".config/systemd/user/x.service", ".config/autostart/x.desktop", ".config/fish/config.fish", ".ssh/authorized_keys", ".docker/config.json",
	"x.code-workspace", ".Envrc", "agents.MD",
}

// there says which of the paths exist.
func (b *bench) there(paths []string) (there []string) {
	for _, path := range paths {
		if _, err := os.Lstat(b.path(path)); err == nil {
			there = append(there, path)
		}
	}
	return there
}

// movedTo is the new place of files with a name.
func (b *bench) movedTo(name string) []string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.spool, "moved", "*-"+name))
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

func attempts(paths ...string) string {
	var script strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&script, "mkdir -p %s; echo attacked 2>/dev/null >%s; ", filepath.Dir(path), path)
	}
	return script.String()
}

// A protected path that does not exist does not exist after a command either.
func TestShellMakesNoProtectedFiles(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, nil, confined(t, mode))
			out := b.call("shell", object("command", "exec 2>/dev/null; "+attempts(missing...)+"echo done"))
			if there := b.there(missing); len(there) > 0 {
				t.Errorf("there are %v", there)
			}
			if !out.IsError || out.Content != "done\n" || !strings.Contains(out.Summary, "podd moved ") || !strings.Contains(out.Summary, `call again with changes [`) {
				t.Errorf("got %+v", out)
			}
			moved := b.movedTo(".envrc")
			if len(moved) != 1 {
				t.Fatalf("moved %v", moved)
			}
			if text, err := os.ReadFile(moved[0]); err != nil || string(text) != "attacked\n" {
				t.Errorf("what was moved: %q, %v", text, err)
			}
		})
	}
}

// It is moved away as soon as it appears, also below the top.
func TestShellMovesAtOnce(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, map[string]string{"sub/x/y": ""}, confined(t, mode))
			out := b.call("shell", object("timeout_seconds", 300, "command",
				"echo a >.envrc; echo a >sub/x/.npmrc; mkdir sub/z; echo a >sub/z/.npmrc; while [ -e .envrc ] || [ -e sub/x/.npmrc ] || [ -e sub/z/.npmrc ]; do sleep 0.01; done; echo gone"))
			if out.Content != "gone\n" {
				t.Errorf("got %+v", out)
			}
		})
	}
}

// Existing ones stay unchanged, or are put back where no mount can be read-only.
func TestShellChangesNoProtectedFiles(t *testing.T) {
	files := map[string]string{}
	for _, path := range missing {
		if path != ".Envrc" && path != "agents.MD" {
			files[path] = "mine"
		}
	}
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, files, confined(t, mode))
			if why := b.asks("echo x >.npmrc"); why != "" || !b.tool("shell").Access(object("command", "make")).Confined {
				t.Errorf("it asks: %s", why)
			}
			for path := range files {
				out := b.call("shell", object("command", fmt.Sprintf("echo x >%[1]s; rm -rf %[1]s; mv %[1]s y; mv $(dirname %[1]s) z; ln %[1]s l && echo x >l", path)))
				if text, err := os.ReadFile(b.path(path)); err != nil || string(text) != "mine" {
					t.Errorf("%s: %q, %v; %+v", path, text, err, out)
				}
			}
			out := b.call("shell", object("command", "echo x >.npmrc"))
			want := `.npmrc is protected: changing it needs approval: use write_file, or call again with changes [".npmrc"]`
			if mode == sandbox.Landlock {
				want = `podd took the change of .npmrc back: changing it needs approval: use write_file, or call again with changes [".npmrc"]`
			}
			if !out.IsError || !strings.Contains(out.Summary, want) {
				t.Errorf("summary %q", out.Summary)
			}
		})
	}
}

// However a protected path is created, it does not stay.
func TestShellWaysToProtectedPaths(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"a directory that is renamed", "mkdir x && echo a >x/tasks.json && mv x .vscode"},
		{"a way to a protected path that is renamed", "mkdir x && echo a >x/config.json && mv x .docker"},
		{"a symbolic link", "echo a >x && ln -s x .envrc; mkdir y && echo a >y/config.json && ln -s y .docker"},
		{"a hard link", "echo a >x && ln x .envrc"},
		{"a burst", "for i in $(seq 2000); do echo $i >.envrc; : >$i.code-workspace; done; for i in $(seq 30); do mkdir -p .husky/$i; done"},
		{"directories that come and go", "for i in $(seq 30); do mkdir d && echo a >d/config.json && mv d .docker; mv .docker d$i; done 2>/dev/null; cp -r d1 .docker"},
		{"a closed directory", "mkdir .husky && echo a >.husky/pre-commit && chmod 555 .husky; mkdir .docker && echo a >.docker/config.json && chmod 111 .docker"},
		{"a closed workspace", "echo a >.envrc; chmod 555 ."},
		{"a named pipe and a socket", "mkfifo .envrc"},
		{"something exchanged", "echo a >x; echo b >.envrc; mv --exchange x .envrc 2>/dev/null"},
		{"the last moment", "(sleep 0.2; echo a >.envrc) & sleep 0.21; echo b >.npmrc"},
		{"a link in the place of another one", "rm CLAUDE.md && echo a >CLAUDE.md"},
		{"a link that leads elsewhere", "ln -sfn file CLAUDE.md"},
		{"a link that is gone", "rm CLAUDE.md"},
		{"what a link leads to", "echo x >docs/instructions; rm -f docs/instructions"},
		{"a directory on the way is moved", "mv .github x; mkdir .github; echo a >.github/copilot-instructions.md"},
		{"below", "mkdir -p p/q && echo a >p/q/.envrc; echo a >sub/.npmrc; mkdir -p sub/x/y; echo a >sub/x/y/AGENTS.md; mv sub/x sub/z; echo a >sub/z/y/.envrc; mkdir -p sub/moved/b; mv old sub/moved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"docs/instructions": "mine", "sub/a": "", "sub/AGENTS.md": "mine", "old/AGENTS.md": "mine", ".github/a": "", "file": "mine"}, confined(t, sandbox.Bwrap))
			if err := os.Symlink("docs/instructions", b.path("CLAUDE.md")); err != nil {
				t.Fatal(err)
			}
			// A file that the file system's clock cannot place before the command is not old.
			b.call("shell", object("command", "sleep 0.1"))
			out := b.call("shell", object("command", c.script))
			t.Cleanup(func() { _ = os.Chmod(b.dir, 0o700) })
			paths := append([]string{"p/q/.envrc", "sub/.npmrc", "sub/x/y/AGENTS.md", "sub/z/y/AGENTS.md", "sub/z/y/.envrc", "1.code-workspace", "2000.code-workspace"}, missing...)
			for _, path := range b.there(paths) {
				if path != "CLAUDE.md" {
					t.Errorf("%s is there: %+v", path, out)
				}
			}
			if link, err := os.Readlink(b.path("CLAUDE.md")); err != nil || link != "docs/instructions" {
				t.Errorf("the link leads to %q, %v", link, err)
			}
			for _, path := range []string{"docs/instructions", "file"} {
				if text, err := os.ReadFile(b.path(path)); err != nil || string(text) != "mine" {
					t.Errorf("%s: %q, %v", path, text, err)
				}
			}
			if entries, err := os.ReadDir(b.path("")); err == nil {
				for _, e := range entries {
					if strings.HasPrefix(e.Name(), ".podd-moved-") {
						t.Errorf("%s is left", e.Name())
					}
				}
			}
			if c.name == "below" && b.read("sub/moved/old/AGENTS.md") != "mine" {
				t.Error("what was there before is gone")
			}
			if kept, _ := os.ReadDir(filepath.Join(b.spool, "moved")); len(kept) > 64 {
				t.Errorf("%d things are kept", len(kept))
			}
		})
	}
}

// A command may change what it names, once a person has agreed.
func TestShellChangesWhatWasApproved(t *testing.T) {
	b := newBench(t, map[string]string{".npmrc": "mine"}, confined(t, sandbox.Bwrap))
	args := object("command", attempts(".npmrc", ".husky/pre-commit", ".envrc")+"true", "changes", []string{".npmrc", ".husky/pre-commit"})
	access := b.tool("shell").Access(args)
	if want := []string{"it changes .npmrc, which is protected", "it changes .husky, which is protected"}; len(access.Protected) != 2 ||
		!strings.HasPrefix(access.Protected[0], want[0]) || !strings.HasPrefix(access.Protected[1], want[1]) {
		t.Errorf("access %+v", access)
	}
	run := func(approved bool) {
		t.Helper()
		call := theCall
		call.Approved = approved
		if _, err := b.tool("shell").Run(t.Context(), with(call, args)); err != nil {
			t.Fatal(err)
		}
	}
	run(false)
	if there := b.there([]string{".husky", ".envrc"}); len(there) > 0 || b.read(".npmrc") != "mine" {
		t.Errorf("without an approval there are %v, .npmrc has %q", there, b.read(".npmrc"))
	}
	run(true)
	if there := b.there([]string{".husky/pre-commit", ".envrc"}); len(there) != 1 || there[0] != ".husky/pre-commit" || b.read(".npmrc") != "attacked\n" {
		t.Errorf("with an approval there are %v, .npmrc has %q", there, b.read(".npmrc"))
	}
	for path, want := range map[string]string{"file": "is not protected", "../.envrc": "in no directory that a command can change"} {
		out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Arguments: object("command", ": >ran", "changes", []string{path})})
		if (err == nil || !strings.Contains(err.Error(), want)) && !strings.Contains(out.Summary, want) || len(b.there([]string{"ran"})) > 0 {
			t.Errorf("%s: %+v, %v", path, out, err)
		}
	}
}

// Killing podd does not affect the command; the next podd undoes what appeared meanwhile,
// and what appears later.
func TestShellGuardsAfterAKill(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			adjust := confined(t, mode)
			t.Setenv(sandboxVariable, mode)
			dir, spoolDir := t.TempDir(), t.TempDir()
			before := &bench{t: t, dir: dir}
			before.write("sub/x", "")
			if mode == sandbox.Bwrap {
				before.write("AGENTS.md", "mine")
			}
			arguments := object("timeout_seconds", 60, "command",
				": >ready; until [ -e go ]; do sleep 0.01; done; echo a >.envrc; echo a >sub/.npmrc; : >made; until [ -e on ]; do sleep 0.01; done; echo a >.npmrc; echo ended")
			killAfter(t, dir, spoolDir, arguments, "ready")
			b, err := openBench(dir, spoolDir, adjust)
			if err != nil {
				t.Fatal(err)
			}
			b.t = t
			t.Cleanup(func() { _ = b.fs.Close() })
			b.write("go", "")
			awaitFile(t, b.path("made"))
			if there := b.there([]string{".envrc"}); len(there) == 0 {
				t.Fatal("podd was not running, and it is gone")
			}
			b.write("on", "")
			out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
			if err != nil || found != item.RecoveryFound || out.Content != "ended\n" || !strings.Contains(out.Summary, "podd moved ") {
				t.Errorf("found %v, %v: %+v", found, err, out)
			}
			if there := b.there([]string{".envrc", ".npmrc"}); len(there) > 0 {
				t.Errorf("there are %v", there)
			}
			if mode == sandbox.Bwrap && b.read("AGENTS.md") != "mine" {
				t.Error("what was there before is gone")
			}
		})
	}
}

// A spool on another file system also keeps what was moved away.
func TestShellMovesToAnotherFileSystem(t *testing.T) {
	spoolDir, err := os.MkdirTemp("/dev/shm", "podd-test-") //nolint:usetesting // another file system is the point
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(spoolDir) })
	b, err := openBench(t.TempDir(), spoolDir, confined(t, sandbox.Bwrap))
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	t.Cleanup(func() { _ = b.fs.Close() })
	out := b.call("shell", object("command", attempts(".envrc", "h/a/b")+"ln -s /etc/passwd h/link; chmod 0 h/a; mv h .husky; mkdir .zed; truncate -s 20M .zed/x; for i in $(seq 100); do echo $i >.npmrc; done"))
	if entries, err := os.ReadDir(b.dir); err != nil || len(entries) > 0 {
		t.Errorf("the workspace has %v, %v", entries, err)
	}
	if !strings.Contains(out.Summary, "podd moved .envrc, .husky, .zed and 1 more away to "+b.spool+"/moved") {
		t.Errorf("summary %q", out.Summary)
	}
	var husky, files int
	entries, err := os.ReadDir(filepath.Join(b.spool, "moved"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(b.spool, "moved", e.Name(), "a/b")); err == nil && string(text) == "attacked\n" {
			husky++
		}
		if e.Type().IsRegular() {
			files++
		}
	}
	if husky != 1 || files != 2 {
		t.Errorf("%d directories and %d files are kept: %v", husky, files, entries)
	}
}

// A change that a person approved while a command runs is not the command's.
func TestShellLeavesApprovedChanges(t *testing.T) {
	adjust := confined(t, sandbox.Bwrap)
	var allow func(string)
	b := newBench(t, nil, adjust, func(c *setup) { allow = c.Sandbox.Allow })
	fs, err := scopefs.Open(scopefs.Config{Dir: b.dir, OnApproved: allow})
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	report := func(string) {
		if _, err := fs.WriteFile(scopefs.Approved(t.Context()), ".husky/pre-commit", []byte("mine")); err != nil {
			t.Error(err)
		}
		b.write("go", "")
	}
	out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Report: report, Arguments: object("command", "echo up; until [ -e go ]; do sleep 0.01; done; echo a >.envrc")})
	if err != nil || b.read(".husky/pre-commit") != "mine" || len(b.there([]string{".envrc"})) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// What one command may change, because a person agreed, the guard of another one leaves.
func TestShellLeavesWhatAnotherMayChange(t *testing.T) {
	b := gitBench(t, sandbox.Bwrap)
	report := func(string) {
		if out := b.approvedChanges("git config alias.x '!sh'; echo a >.envrc", ".git/config", ".envrc"); out.IsError {
			t.Errorf("%s\n%s", out.Summary, out.Content)
		}
		b.write("go", "")
	}
	out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Report: report, Arguments: object("command", "echo up; until [ -e go ]; do sleep 0.01; done")})
	if err != nil || out.IsError || b.read(".envrc") != "a\n" || onHost(t, b.dir, "git config alias.x") != "!sh" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A path that one command creates is not an old one for another.
func TestShellGuardsForgetWhatWasMoved(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Bwrap))
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.call("shell", object("command", "until [ -e stop ]; do echo a >.envrc; done"))
	}()
	for range 10 {
		b.call("shell", object("command", "echo b >.envrc; sleep 0.01; echo b >.envrc"))
	}
	b.write("stop", "")
	<-done
	b.call("shell", object("command", "echo b >.envrc"))
	if there := b.there([]string{".envrc"}); len(there) > 0 {
		t.Error("it is there")
	}
}

// A home directory has many protected paths, and some hidden ones.
func TestShellGuardsAHomeDirectory(t *testing.T) {
	files := map[string]string{
		".bashrc": "mine", ".ssh/id": "secret", ".docker/config.json": "secret", ".docker/x/AGENTS.md": "secret", ".config/gh/hosts.yml": "secret",
		".config/app/x": "mine", ".aws/credentials": "secret", "src/a/b": "mine", ".config/git/credentials": "secret",
	}
	dir := t.TempDir()
	b := &bench{t: t, dir: dir}
	for name, content := range files {
		b.write(name, content)
	}
	b, err := openBench(dir, t.TempDir(), confined(t, sandbox.Bwrap, func(c *sandbox.Config) { c.Environ = append([]string{"HOME=" + dir}, c.Environ...) }))
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	t.Cleanup(func() { _ = b.fs.Close() })
	paths := []string{".config/systemd/user/x.service", ".config/autostart/x.desktop", ".profile", ".zshrc", ".config/fish/config.fish", ".config/environment.d/x.conf"}
	out := b.call("shell", object("command", "exec 2>/dev/null; cat .ssh/id .docker/config.json .docker/x/AGENTS.md .config/gh/hosts.yml .aws/credentials .config/git/credentials; echo x >>.bashrc; "+
		"mv .config .c; mv .docker .d; echo x >.config/app/x; "+attempts(paths...)))
	if out.Content != "" {
		t.Errorf("a command read %q", out.Content)
	}
	if there := b.there(append(paths, ".c", ".d")); len(there) > 0 {
		t.Errorf("there are %v", there)
	}
	files[".config/app/x"] = "x\n"
	for name, want := range files {
		if got := b.read(name); got != want {
			t.Errorf("%s has %q", name, got)
		}
	}
}
