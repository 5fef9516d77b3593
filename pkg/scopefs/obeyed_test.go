package scopefs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/scopefs"
)

// The files that a repository's configuration names, and the targets of hooks that are
// links, change only with an approval, whether they exist or not.
func TestWhatGitObeysIsProtected(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		".git/config":        "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../extra.inc\n[includeIf \"onbranch:x\"]\n\tpath = ../conf/missing.inc\n",
		"extra.inc":          "[include]\npath = more.inc\n",
		"scripts/check.sh":   "#!/bin/sh\n",
		"vendor/.git/config": "[core]\nhooksPath = h\n",
		"plain":              "p",
	})
	must(t, os.Mkdir(filepath.Join(dir, ".git", "hooks"), 0o755))
	must(t, os.Symlink("../../scripts/check.sh", filepath.Join(dir, ".git/hooks/pre-push")))
	must(t, os.Symlink("tools", filepath.Join(dir, "t")))
	for _, path := range []string{"tools/hooks/pre-commit", "tools/hooks/a/b", "tools/hooks", "TOOLS/Hooks/x", "t/hooks/x", "extra.inc", "more.inc", "conf/missing.inc", "scripts/check.sh", "vendor/h/pre-commit"} {
		why, protected := f.Protected(path)
		if !protected || !strings.Contains(why, "git executes it or uses") {
			t.Errorf("%s: %v %q", path, protected, why)
		}
		wantKind(t, write(f, path, []byte("x")), scopefs.Protected)
		wantKind(t, f.Rename(t.Context(), "plain", path), scopefs.Protected)
	}
	for _, path := range []string{"tools/x", "tools/hooks2/x", "scripts/other.sh", "vendor/x", "h/pre-commit", "conf/x"} {
		if why, protected := f.Protected(path); protected {
			t.Errorf("%s: %s", path, why)
		}
	}
}
