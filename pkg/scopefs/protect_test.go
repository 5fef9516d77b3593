package scopefs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/scopefs"
)

// Files that other programs run automatically change only with an approval, whether they
// exist or not, in any case and behind any link.
func TestProtectedPaths(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"sub/.git/hooks/": "", "plain": "p", ".zed/keep.md": "k", "store.git/HEAD": "h", "store.git/objects/": "", "store.git/refs/": "",
		"half/objects/": "", "half/refs/": "",
	})
	must(t, os.Symlink("sub/.git", filepath.Join(dir, "repo")))
	must(t, os.Symlink(".bashrc", filepath.Join(dir, "rc")))
	must(t, os.Symlink("repo/hooks", filepath.Join(dir, "h")))
	for _, path := range []string{
		".git/hooks/pre-commit", ".git/config", ".git/info/attributes", ".git", "sub/.git/hooks/post-checkout", "sub/.git/config.worktree",
		".GIT/Hooks/pre-commit", ".Git/config", ".g\u200cit/config", ".git\u200d/hooks/x", "sub/.gIt/CONFIG",
		"repo/config", "h/pre-push", "repo/hooks/x", filepath.Join(dir, ".git/config"), "plain/../.git/config",
		"store.git/config", "store.git/hooks/update", "half/HEAD", "half/config", ".husky/pre-commit",
		".envrc", "sub/.envrc", ".bashrc", ".BASHRC", ".ba\u017fhrc", "rc", ".profile", ".zshenv", ".config/fish/config.fish", ".tmux.conf",
		".mcp.json", ".vimrc", ".exrc", ".nvim.lua", ".vscode/settings.json", ".vscode/tasks.json", ".VSCode/Tasks.JSON", "a/.vscode/launch.json",
		".idea/workspace.xml", ".idea/a/b", "x.code-workspace", ".dir-locals.el", ".devcontainer/devcontainer.json",
		".gdbinit", ".npmrc", ".ssh/authorized_keys", ".netrc", ".config/autostart/x.desktop", ".podd/config.toml",
		".podd/skills/x/run.sh", "AGENTS.md", "sub/agents.md", "Claude.MD", "a\u200bgents.md", "skills/x/SKILL.md", ".claude/settings.json",
		".github/copilot-instructions.md", ".clinerules", ".clinerules/x.md", ".cursorrules",
	} {
		why, protected := f.Protected(path)
		if !protected || why == "" {
			t.Errorf("%s is not protected", path)
		}
		err := write(f, path, []byte("x"))
		wantKind(t, err, scopefs.Protected)
		if err != nil && !strings.Contains(err.Error(), "approval") {
			t.Errorf("%s: %v says nothing of an approval", path, err)
		}
		if path != "rc" { // A rename would replace the link.
			wantKind(t, f.Rename(t.Context(), "plain", path), scopefs.Protected)
		}
	}
	wantKind(t, f.Remove(t.Context(), "store.git/HEAD"), scopefs.Protected)
	wantKind(t, f.Rename(t.Context(), "store.git/HEAD", "elsewhere"), scopefs.Protected)
	if got := names(t, dir); got != ".zed h half plain rc repo store.git sub" {
		t.Errorf("the workspace has %s", got)
	}
}

// Other files beside protected ones are not protected.
func TestUnprotectedPaths(t *testing.T) {
	f, _ := workspace(t, map[string]string{"docs/": ""})
	for _, path := range []string{
		".gitignore", ".gitattributes", "git/config", "hooks/pre-commit", ".github/workflows/ci.yml", "config", "HEAD", "refs/x",
		"bashrc", "docs/.bashrc.md", "settings.json", ".env", ".editorconfig", "profile", ".idea.md", "x.git/readme",
		".config/app/settings.json", "ssh/config", ".bashrc/readme",
		"docs/agents.md.txt", "AGENTS.md.orig", "agents/x.md", "skill.md/readme", ".github/instructions.md",
	} {
		if why, protected := f.Protected(path); protected {
			t.Errorf("%s is protected: %s", path, why)
		}
		must(t, write(f, path, []byte("x")))
		if path == ".bashrc/readme" || path == "skill.md/readme" || path == "config" || path == "HEAD" || path == "refs/x" {
			must(t, f.Remove(t.Context(), path))
		}
	}
	if _, protected := f.Protected("../.git/config"); protected {
		t.Error("a path outside the scope is protected rather than refused")
	}
}

// An approval is for one call: its context permits changes of protected paths, and no
// other does.
func TestApprovedChanges(t *testing.T) {
	f, dir := workspace(t, map[string]string{"plain": "p"})
	ctx := scopefs.Approved(t.Context())
	if _, err := f.WriteFile(ctx, ".git/hooks/pre-commit", []byte("x")); err != nil {
		t.Fatal(err)
	}
	must(t, f.Rename(ctx, ".git/hooks/pre-commit", ".envrc"))
	must(t, f.Remove(ctx, ".envrc"))
	wantKind(t, write(f, ".envrc", nil), scopefs.Protected)
	// It permits nothing else.
	_, err := f.WriteFile(ctx, "../.envrc", nil)
	wantKind(t, err, scopefs.OutOfScope)
	hidden := open(t, scopefs.Config{Dir: dir, Hidden: []string{filepath.Join(dir, "plain")}})
	_, err = hidden.WriteFile(ctx, "plain", nil)
	wantKind(t, err, scopefs.OutOfScope)
}

// A write reports how many other names the file had, which keep the old content.
func TestHardLinksAreReported(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "old", "single": "old"})
	must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "c")))
	for path, want := range map[string]int{"a": 2, "single": 0, "new": 0} {
		if w, err := f.WriteFile(t.Context(), path, []byte("new")); err != nil || w.HardLinks != want {
			t.Errorf("%s: %d other names, %v; want %d", path, w.HardLinks, err, want)
		}
	}
	if content(t, filepath.Join(dir, "b")) != "old" {
		t.Error("the write went through the hard link")
	}
}
