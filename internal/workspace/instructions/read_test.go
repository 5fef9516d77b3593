package instructions_test

import (
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
	found := instructions.Read(fs)
	if !utf8.ValidString(found.Text) || sanitize.Terminal(found.Text) != found.Text {
		t.Errorf("what is sent has something hidden: %+q", found.Text)
	}
	if len(found.Text) > instructions.MaxBytes+1024 {
		t.Errorf("%d bytes are sent", len(found.Text))
	}
	return found
}

func TestTheNearestFileCounts(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"AGENTS.md": "above all", "repo/.git/": "", "repo/a/b/": ""})
	repo := filepath.Join(base, "repo")
	work := filepath.Join(repo, "a", "b")
	whole := scopefs.Config{Dir: work, Read: []string{base}}
	steps := []struct {
		name, file, content string
		scope               scopefs.Config
		source              string
	}{
		{name: "nothing in the repository", scope: whole},
		{"the root of the repository", "AGENTS.md", "root", whole, filepath.Join(repo, "AGENTS.md")},
		{name: "which the scope does not have", scope: scopefs.Config{Dir: work, Read: []string{filepath.Join(repo, "a")}}},
		{"a nearer one of the second name", "a/CLAUDE.md", "between", whole, filepath.Join(repo, "a", "CLAUDE.md")},
		{"the first name beside it", "a/AGENTS.md", "between", whole, filepath.Join(repo, "a", "AGENTS.md")},
		{"skips an empty one", "a/b/AGENTS.md", " \n", whole, filepath.Join(repo, "a", "AGENTS.md")},
		{"the workspace's", "a/b/AGENTS.md", "Use tabs.", whole, "AGENTS.md"},
		{"the workspace's alone", "a/b/AGENTS.md", "Use tabs.", scopefs.Config{Dir: work}, "AGENTS.md"},
	}
	for _, s := range steps {
		if s.file != "" {
			plant(t, repo, map[string]string{s.file: s.content})
		}
		found := read(t, s.scope)
		if got := instructions.Source(found.Text); got != s.source || len(found.Warnings) != 0 {
			t.Errorf("%s: from %q, want %q; warnings %q", s.name, got, s.source, found.Warnings)
		}
		if s.source != "" && !strings.Contains(found.Text, strings.TrimSpace(s.content)) && strings.TrimSpace(s.content) != "" {
			t.Errorf("%s: %q does not have %q", s.name, found.Text, s.content)
		}
	}
}

// Without a repository Read uses only the workspace's file.
func TestNoRepository(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"AGENTS.md": "above", "work/": ""})
	if found := read(t, scopefs.Config{Dir: filepath.Join(base, "work"), Read: []string{base}}); found.Text != "" {
		t.Errorf("%q is sent", found.Text)
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
	if instructions.Source(found.Text) != "CLAUDE.md" || !strings.HasSuffix(found.Text, "opened]") || len(found.Warnings) != 1 {
		t.Errorf("%q, %q", found.Text, found.Warnings)
	}
}
