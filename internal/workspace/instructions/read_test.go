package instructions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"podd/internal/sanitize"
	"podd/internal/workspace/instructions"
	"podd/pkg/scopefs"
)

// plant makes files below dir; a name with a trailing slash is a directory.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o700))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(content), 0o600))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c scopefs.Config) instructions.Found {
	t.Helper()
	fs, err := scopefs.Open(c)
	must(t, err)
	t.Cleanup(func() { _ = fs.Close() })
	found := instructions.Read(fs, func(root string) (*scopefs.FS, error) {
		return scopefs.Open(scopefs.Config{Dir: c.Dir, Read: []string{root}})
	})
	if !utf8.ValidString(found.Text) || sanitize.Terminal(found.Text) != found.Text {
		t.Errorf("what is sent has something hidden: %+q", found.Text)
	}
	if len(found.Text) > instructions.MaxBytes+1024 {
		t.Errorf("%d bytes are sent", len(found.Text))
	}
	return found
}

// sent are the files of a text in their order, relative to dir.
func sent(dir, text string) string {
	var list []string
	for _, p := range instructions.Parts(text) {
		list = append(list, strings.TrimPrefix(p.File, dir+"/"))
	}
	return strings.Join(list, " ")
}

func TestFilesFromTheRootOfTheRepository(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"AGENTS.md": "above all", "repo/.git/": "", "repo/a/b/": ""})
	repo := filepath.Join(base, "repo")
	work := filepath.Join(repo, "a", "b")
	whole, alone := scopefs.Config{Dir: work, Read: []string{repo}}, scopefs.Config{Dir: work}
	steps := []struct {
		name, file, content string
		// files are those sent from the whole repository, within those of a scope without the rest of it.
		files, within string
	}{
		{name: "nothing in the repository"},
		{"the root of the repository", "AGENTS.md", "root", "AGENTS.md", "AGENTS.md"},
		{"then one of the second name", "a/CLAUDE.md", "between", "AGENTS.md a/CLAUDE.md", "AGENTS.md a/CLAUDE.md"},
		{"the first name beside it", "a/AGENTS.md", "between", "AGENTS.md a/AGENTS.md", "AGENTS.md a/AGENTS.md"},
		{"one that overrides", "a/AGENTS.override.md", "mine", "AGENTS.md a/AGENTS.override.md", "AGENTS.md a/AGENTS.override.md"},
		{"skips an empty one", "a/AGENTS.override.md", " \n", "AGENTS.md a/AGENTS.md", "AGENTS.md a/AGENTS.md"},
		{"the workspace's last", "a/b/AGENTS.md", "Use tabs.", "AGENTS.md a/AGENTS.md AGENTS.md", "AGENTS.md a/AGENTS.md AGENTS.md"},
		{"the person's own beside it", "a/b/CLAUDE.local.md", "Be brief.", "AGENTS.md a/AGENTS.md AGENTS.md CLAUDE.local.md", "AGENTS.md a/AGENTS.md AGENTS.md CLAUDE.local.md"},
		{"rules, where the scope has them", ".claude/rules/go/style.md", "Rule.", "AGENTS.md .claude/rules/go/style.md a/AGENTS.md AGENTS.md CLAUDE.local.md", "AGENTS.md a/AGENTS.md AGENTS.md CLAUDE.local.md"},
	}
	for _, s := range steps {
		if s.file != "" {
			plant(t, repo, map[string]string{s.file: s.content})
		}
		for _, of := range []struct {
			scope scopefs.Config
			want  string
		}{{whole, s.files}, {alone, s.within}} {
			found := read(t, of.scope)
			text, _, _ := strings.Cut(found.Text, "\n\n[where these")
			if got := sent(repo, text); got != of.want || len(found.Warnings) != 0 {
				t.Errorf("%s: %q, want %q; warnings %q", s.name, got, of.want, found.Warnings)
			}
		}
	}
	if found := read(t, alone); !strings.HasPrefix(found.Text, "From the file "+repo+"/AGENTS.md\n\nroot\n\nFrom the file "+repo+"/a/AGENTS.md\n\nbetween\n\nFrom the file AGENTS.md\n\nUse tabs.\n\n") ||
		!strings.HasSuffix(found.Text, "\n\n[where these files differ, the later one counts]") {
		t.Errorf("%q", found.Text)
	}
}

// Above the scope podd reads a regular file of the repository alone, and nothing that it imports.
func TestAboveTheScope(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"secret": "the secret", "repo/.git/": "", "repo/a/b/": "", "repo/key": "the key", "repo/a/AGENTS.md": "See @../key, and ask @ada."})
	must(t, os.Symlink(filepath.Join(base, "secret"), filepath.Join(base, "repo", "AGENTS.md")))
	found := read(t, scopefs.Config{Dir: filepath.Join(base, "repo", "a", "b")})
	if strings.Contains(found.Text, "the secret") || strings.Contains(found.Text, "the key") || !strings.Contains(found.Text, "See @../key") || len(found.Warnings) != 2 {
		t.Errorf("%q, %q", found.Text, found.Warnings)
	}
}

// Without a repository Read uses only the workspace's files.
func TestNoRepository(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"AGENTS.md": "above", "work/": ""})
	if found := read(t, scopefs.Config{Dir: filepath.Join(base, "work"), Read: []string{base}}); found.Text != "" {
		t.Errorf("%q is sent", found.Text)
	}
}

func TestImports(t *testing.T) {
	dir := t.TempDir()
	many := ""
	for i := range 60 {
		many += fmt.Sprintf("@many/%d.md ", i)
		plant(t, dir, map[string]string{fmt.Sprintf("many/%d.md", i): fmt.Sprint("file ", i)})
	}
	plant(t, dir, map[string]string{
		"README": "readme", "docs/style.md": "Tabs. @../AGENTS.md @deep.md", "docs/deep.md": "@d1.md", "docs/d1.md": "@d2.md", "docs/d2.md": "@d3.md",
		"docs/d3.md": "@d4.md", "docs/d4.md": "too deep", "a.md": "mail ada@example.com", "src/x": "",
	})
	tests := []struct {
		name, text, want string
		warnings         int
	}{
		{"alone in its line", "@README", "AGENTS.md README", 0},
		{"in a sentence", "See (@README), @a.md.", "AGENTS.md README a.md", 0},
		{"once", "@README @./README @README", "AGENTS.md README", 0},
		{"itself", "@AGENTS.md", "AGENTS.md", 0},
		{"in code", "Use `@README`.\n```\n@README\n```\n~~~\n@a.md", "AGENTS.md", 0},
		{"what is no file", "@anthropic-ai/sdk @Override me@a.md @src @@README @", "AGENTS.md", 0},
		{"five in a row", "@docs/style.md", "AGENTS.md docs/style.md docs/deep.md docs/d1.md docs/d2.md docs/d3.md", 0},
		{"out of the scope", "@~/.ssh/id_rsa @/etc/passwd @../x", "AGENTS.md", 3},
		{"at most fifty", many, "", 0},
	}
	for _, tt := range tests {
		plant(t, dir, map[string]string{"AGENTS.md": tt.text})
		found := read(t, scopefs.Config{Dir: dir})
		if got := sent(dir, strings.TrimSpace(found.Text)); got != tt.want && tt.want != "" || len(found.Warnings) != tt.warnings {
			t.Errorf("%s: %q, want %q; warnings %q", tt.name, got, tt.want, found.Warnings)
		}
	}
	if n := len(instructions.Parts(read(t, scopefs.Config{Dir: dir}).Text)); n != 51 {
		t.Errorf("%d files of a file that imports sixty", n)
	}
	// Names that are one file are sent once.
	plant(t, dir, map[string]string{"AGENTS.md": "Use tabs."})
	must(t, os.Symlink("AGENTS.md", filepath.Join(dir, "CLAUDE.local.md")))
	if got := sent(dir, read(t, scopefs.Config{Dir: dir}).Text); got != "AGENTS.md" {
		t.Errorf("%q", got)
	}
}

// A rule for some paths is named, not sent.
func TestRulesForPaths(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		".claude/rules/a.md":  "---\npaths:\n  - \"src/**/*.{ts,tsx}\"\n  - 'lib/**'\n---\nUse React.",
		".claude/rules/b.md":  "---\npaths: [api/**, \"web/*\"]\n---\nUse JSON.",
		".claude/rules/c.md":  "---\ndescription: of all\n---\nBe brief.",
		".claude/rules/d.md":  "No front matter: --- none.",
		".claude/rules/e.txt": "no rule",
	})
	found := read(t, scopefs.Config{Dir: dir})
	want := "From the file .claude/rules/c.md\n\nBe brief.\n\nFrom the file .claude/rules/d.md\n\nNo front matter: --- none.\n\n" +
		"[.claude/rules/a.md has rules for src/**/*.{ts,tsx}, lib/**: read it before you work there]\n" +
		"[.claude/rules/b.md has rules for api/**, web/*: read it before you work there]\n[where these files differ, the later one counts]"
	if found.Text != want || len(found.Warnings) != 0 {
		t.Errorf("%q, want %q; %q", found.Text, want, found.Warnings)
	}
}

// What does not fit is cut from the files that are farthest away.
func TestNearestFilesFit(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{".git/": "", "AGENTS.md": strings.Repeat("r", 20<<10), "a/AGENTS.md": strings.Repeat("n", 30<<10), "a/b/AGENTS.md": "Use tabs."})
	found := read(t, scopefs.Config{Dir: filepath.Join(base, "a", "b")})
	if n := strings.Count(found.Text, "r"); n > 2100 || strings.Count(found.Text, "n") < 30<<10 || !strings.Contains(found.Text, "AGENTS.md has 20480 bytes, and these are its first 2039]") || len(found.Warnings) != 1 {
		t.Errorf("%d of the first, %q", n, found.Warnings)
	}
}

// The person's own file may be a link, and imports from the home directory.
func TestReadOwn(t *testing.T) {
	home, config := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	plant(t, home, map[string]string{".claude/CLAUDE.md": "Be brief.", "dotfiles/agents.md": "Answer in English.\n@~/.claude/CLAUDE.md\n@/etc/hostname"})
	path := filepath.Join(config, "AGENTS.md")
	if found := instructions.ReadOwn(path, home); found.Text != "" || found.Warnings != nil {
		t.Errorf("%+v", found)
	}
	must(t, os.Symlink(filepath.Join(home, "dotfiles", "agents.md"), path))
	found := instructions.ReadOwn(path, home)
	if !strings.Contains(found.Text, "Answer in English.") || !strings.Contains(found.Text, "\n\nBe brief.") || len(found.Warnings) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestHostileFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("the secret"), 0o600))
	tests := []struct {
		name  string
		plant func(path string) error
		// sends and warns are parts of the text and of the one warning.
		sends, warns string
	}{
		{"a link out of the scope", func(p string) error { return os.Symlink(outside, p) }, "outside the scope", "outside the scope"},
		{"a link to itself", func(p string) error { return os.Symlink(p, p) }, "[not read: ", "not read"},
		{"a pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is a named pipe", "is a named pipe"},
		{"a directory", func(p string) error { return os.Mkdir(p, 0o700) }, "is a directory", "is a directory"},
		{"5 GB of nothing", func(p string) error {
			if err := os.WriteFile(p, []byte("begin"), 0o600); err != nil {
				return err
			}
			return os.Truncate(p, 5<<30)
		}, "begin\n[cut here: AGENTS.md has 5368709120 bytes", "has 32763 invisible"},
		{"cut inside a rune", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("äöü", 10_000)), 0o600) }, "äöü", "has 60000 bytes"},
		{"cut after one byte", func(p string) error { return os.WriteFile(p, []byte("x"+strings.Repeat("äöü", 10_000)), 0o600) }, "xäöü", "has 60001 bytes"},
		{"bidi", func(p string) error { return os.WriteFile(p, []byte("Use \u202etabs\u202c."), 0o600) }, "Use tabs.\n[2 invisible", "has 2 invisible"},
		{"tags and zero width", func(p string) error { return os.WriteFile(p, []byte("a\u200bb\U000e0041\U000e0042\ufeff"), 0o600) }, "ab\n[4 invisible", "has 4 invisible"},
		{"nothing but tags", func(p string) error { return os.WriteFile(p, []byte("\U000e0041"), 0o600) }, "[1 invisible", "has 1 invisible"},
		{"no UTF-8", func(p string) error { return os.WriteFile(p, []byte("a\xff\xfeb\x1b[31m"), 0o600) }, "ab[31m\n[3 invisible", "has 3 invisible"},
		{"no rights", func(p string) error { return os.WriteFile(p, []byte("a"), 0) }, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, tt.plant(filepath.Join(dir, "AGENTS.md")))
			found := read(t, scopefs.Config{Dir: dir})
			if !strings.Contains(found.Text, tt.sends) || strings.Contains(found.Text, "secret") {
				t.Errorf("sent: %.300q, want %q", found.Text, tt.sends)
			}
			warnings := strings.Join(found.Warnings, "; ")
			if !strings.Contains(warnings, tt.warns) || len(found.Warnings) > 2 {
				t.Errorf("warnings %q, want %q", found.Warnings, tt.warns)
			}
		})
	}
}

// A file that cannot be read does not keep Read from reading the next one.
func TestPassedOver(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"CLAUDE.md": "Use tabs."})
	must(t, syscall.Mkfifo(filepath.Join(dir, "AGENTS.md"), 0o600))
	found := read(t, scopefs.Config{Dir: dir})
	if instructions.Parts(found.Text)[0].File != "CLAUDE.md" || !strings.HasSuffix(found.Text, "opened]") || len(found.Warnings) != 1 {
		t.Errorf("%q, %q", found.Text, found.Warnings)
	}
}
