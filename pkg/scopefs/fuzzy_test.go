package scopefs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/scopefs"
)

func fuzzy(t testing.TB, f *scopefs.FS, typed string, limit int) []string {
	t.Helper()
	got, err := f.Complete(t.Context(), f.List(t.Context()), typed, limit)
	if err != nil {
		t.Errorf("completing %q: %v", typed, err)
	}
	return got
}

func TestFuzzy(t *testing.T) {
	other := t.TempDir()
	plant(t, other, map[string]string{"notes/plan.md": ""})
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"cmd/podctl/main_test.go": "", "cmd/podctl/attach.go": "", "internal/clients/attach/editor.go": "", "internal/clients/attach/app.go": "",
		"main/go.mod": "", "a b/c d.txt": "", ".github/workflows/ci.yml": "", ".env": "", ".git/config": "",
		".gitignore": "build\n", "build/attach.o": "", "secret/key.pem": "", "Über/größe.txt": "",
	})
	f := open(t, scopefs.Config{Dir: dir, Read: []string{other, filepath.Join(dir, "internal")}})
	for _, tt := range []struct {
		typed string
		want  []string
	}{
		{"edgo", []string{"internal/clients/attach/editor.go"}},
		{"mtg", []string{"cmd/podctl/main_test.go"}},
		{"attach", []string{"cmd/podctl/attach.go", "internal/clients/attach/", "internal/clients/attach/app.go", "internal/clients/attach/editor.go"}},
		{"ATTACH", nil},
		{"clapp", []string{"internal/clients/attach/app.go"}},
		{"in/ed", []string{"internal/clients/attach/editor.go"}},
		{"ma", []string{"main/", "cmd/podctl/main_test.go"}},
		{"cmd/podctl/a", []string{"cmd/podctl/attach.go", "cmd/podctl/main_test.go"}},
		{"cmd/", []string{"cmd/podctl/"}},
		{"cdt", []string{`"a b/c d.txt"`}},
		{`"cdt`, []string{`"a b/c d.txt"`}},
		{"grtxt", []string{"Über/größe.txt"}},
		{"ciyml", nil},
		{".gci", []string{".github/workflows/ci.yml"}},
		{"plan", []string{other + "/notes/plan.md"}},
		{"zzz", nil},
		{"podctl/", []string{"cmd/podctl/attach.go", "cmd/podctl/main_test.go"}},
		{"podctl/m", []string{"cmd/podctl/main_test.go"}},
		{"./podctl/m", nil},
		{"main_t", []string{"cmd/podctl/main_test.go"}},
		{"key", []string{"secret/key.pem"}},
	} {
		// Worse matches may follow.
		if got := fuzzy(t, f, tt.typed, 5); tt.want == nil && got != nil || !slices.Equal(got[:min(len(got), len(tt.want))], tt.want) {
			t.Errorf("%q gives %q, want %q first", tt.typed, got, tt.want)
		}
	}
	if got := fuzzy(t, f, "a", 2); len(got) != 2 {
		t.Errorf("two at most: %q", got)
	}
	guarded := f.Guarded(func(path string, _ []string) string {
		if strings.Contains(path, "secret") {
			return "denied"
		}
		return ""
	})
	if got := fuzzy(t, f, "kpem", 0); len(got) != 1 {
		t.Errorf("unguarded: %q", got)
	}
	if got := fuzzy(t, guarded, "kpem", 0); len(got) != 0 {
		t.Errorf("guarded: %q", got)
	}
	must(t, os.Remove(filepath.Join(dir, "main/go.mod")))
	if got := fuzzy(t, f, "gomod", 0); len(got) != 0 {
		t.Errorf("a new listing still has %q", got)
	}
}

// A listing and a search end with their context.
func TestFuzzyEnds(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a/b/needle": ""})
	f := open(t, scopefs.Config{Dir: dir})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := f.Complete(t.Context(), f.List(ended), "needle", 0); err != nil || len(got) != 0 {
		t.Errorf("an ended listing has %q, %v", got, err)
	}
	if got, err := f.Complete(ended, f.List(t.Context()), "needle", 0); err != nil || len(got) != 0 {
		t.Errorf("an ended search has %q, %v", got, err)
	}
	if got, err := f.Complete(ended, f.List(t.Context()), "a/", 0); err != nil || len(got) != 1 {
		t.Errorf("what needs no search, after the end of the context: %q, %v", got, err)
	}
}

// BenchmarkFuzzy searches 100,000 files of a workspace that has been listed.
func BenchmarkFuzzy(b *testing.B) {
	dir := b.TempDir()
	words := strings.Fields("internal clients server workspace attach transcript handler model config test utils component render proto session store index view")
	n := len(words)
	for i := range 100_000 {
		path := filepath.Join(dir, words[i%n], words[i/7%n], words[i/61%n])
		if i < n*n*n {
			must(b, os.MkdirAll(path, 0o700))
		}
		must(b, os.WriteFile(filepath.Join(path, fmt.Sprintf("%s_%s%d.go", words[i/3%n], words[i/11%n], i)), nil, 0o600))
	}
	f, err := scopefs.Open(scopefs.Config{Dir: dir})
	must(b, err)
	defer f.Close()
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			f.List(b.Context())
		}
	})
	l := f.List(b.Context())
	for _, typed := range []string{"a", "srvhand", "attach/trans12", "zzz"} {
		b.Run(strings.ReplaceAll(typed, "/", "-"), func(b *testing.B) {
			for b.Loop() {
				if _, err := f.Complete(b.Context(), l, typed, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
