package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/extend/plugin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const hooks = `{"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`

// Whatever changes in a plugin stops all of it, until a person has seen the change.
func TestChanges(t *testing.T) {
	changes := map[string]func(t *testing.T, dir string){
		"content of the same length": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "run.sh")
			old, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, "evil")
			_ = os.Chtimes(path, old.ModTime(), old.ModTime())
		},
		"a new file":       func(t *testing.T, dir string) { write(t, filepath.Join(dir, "lib", "x.py"), "") },
		"a missing file":   func(_ *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "run.sh")) },
		"a file that runs": func(_ *testing.T, dir string) { _ = os.Chmod(filepath.Join(dir, "run.sh"), 0o700) },
		"a link":           func(_ *testing.T, dir string) { _ = os.Symlink("run.sh", filepath.Join(dir, "l")) },
		"a link out of it": func(_ *testing.T, dir string) { _ = os.Symlink("/etc", filepath.Join(dir, "l")) },
		"no directory":     func(_ *testing.T, dir string) { _ = os.RemoveAll(dir) },
		"another name": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), `{"name": "b"}`)
		},
		"a broken manifest": func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), `{`) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			state, dir := t.TempDir(), filepath.Join(t.TempDir(), "guard")
			write(t, filepath.Join(dir, "hooks", "hooks.json"), hooks)
			write(t, filepath.Join(dir, "run.sh"), "true")
			write(t, filepath.Join(dir, ".git", "HEAD"), "1")
			b, err := plugin.Open(state)
			if err != nil {
				t.Fatal(err)
			}
			p, found, err := b.Look(dir)
			if err != nil || found != "new" || b.Any() {
				t.Fatalf("%+v, %s, %v", p, found, err)
			}
			if _, err := b.Add(t.Context(), dir, "other", time.Now()); err == nil {
				t.Error("it was added with a digest that nobody saw")
			}
			if _, err := b.Add(t.Context(), dir, p.Digest, time.Now()); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ".git", "HEAD"), "2")
			if all := b.List(); len(all) != 1 || all[0].Wrong != "" || len(all[0].Hooks) != 1 {
				t.Fatalf("added: %+v", all)
			}
			change(t, dir)
			again, err := plugin.Open(state)
			if err != nil {
				t.Fatal(err)
			}
			for _, book := range []*plugin.Book{b, again} {
				if all := book.List(); len(all) != 1 || all[0].Name != "guard" || len(all[0].Hooks) != 0 || !strings.Contains(all[0].Wrong, "nothing of it runs") {
					t.Errorf("changed: %+v", all)
				}
			}
		})
	}
}

// Hooks and servers may be in the manifest, or in files that it names within the plugin.
func TestManifests(t *testing.T) {
	tests := []struct{ name, manifest, runs, refused string }{
		{"hooks in the manifest", `{"name": "a", "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`, "Stop hook .claude-plugin/plugin.json:1: x", ""},
		{"the same, whole", `{"name": "a", "hooks": ` + hooks + `}`, "Stop hook .claude-plugin/plugin.json:1: true", ""},
		{"in a file", `{"name": "a", "hooks": "./more.json"}`, "Stop hook more.json:1: true", ""},
		{"servers", `{"name": "a", "mcpServers": {"s": {"command": "${CLAUDE_PLUGIN_ROOT}/s"}}}`, "MCP server s: DIR/s", ""},
		{"outside", `{"name": "a", "hooks": "../more.json"}`, "skill x", "../more.json is not in the plugin"},
		{"missing", `{"name": "a", "hooks": "./none.json"}`, "skill x", "none.json: no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), tt.manifest)
			write(t, filepath.Join(dir, "more.json"), hooks)
			write(t, filepath.Join(dir, "skills", "x", "SKILL.md"), "")
			b, err := plugin.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := b.Look(dir)
			if err != nil || p.Name != "a" || p.Runs[0] != strings.ReplaceAll(tt.runs, "DIR", dir) || !strings.Contains(strings.Join(p.Refused, "; "), tt.refused) {
				t.Errorf("%q, %q, %v", p.Runs, p.Refused, err)
			}
		})
	}
}

// A person sees all skills, commands and agents that podd would read, however deep they are and whatever the directory's name is.
func TestAllPartsAreShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b", "guard")
	for _, file := range []string{"skills/x/SKILL.md", "commands/y/SKILL.md", "commands/a/b/c/d e.md", "agents/f/g/h.md"} {
		write(t, filepath.Join(dir, filepath.FromSlash(file)), "x")
	}
	b, err := plugin.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := b.Look(dir)
	want := "skill x; skill y; command /guard:a:b:c:d-e; command /guard:y:SKILL; agent f:g:h"
	if got := strings.Join(p.Runs, "; "); err != nil || got != want || !p.Reads {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
