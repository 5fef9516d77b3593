package pages_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/testing/pages"
)

// The index lists each page of docs.
func TestTheIndexHasEveryPage(t *testing.T) {
	index := read(t, filepath.Join(root, "docs/README.md"))
	paths, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("found %d pages, %v", len(paths), err)
	}
	for _, path := range paths {
		if name := filepath.Base(path); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

func TestCommandsAreFound(t *testing.T) {
	dir := t.TempDir()
	text := "# A\n\nSee `podctl list` and `podctl tail [POD]`.\n\n```console\n$ podctl submit -f \"a b\" < f && X=1 podctl list\npodctl is output\n" +
		"$ cat > f <<'END'\npodctl in a document\nEND\n$ podctl context x |\n  wc\npodctl is output\n```\n\n```sh\npodd &   # podctl in a comment\nif podctl status; then timeout 5 podctl show \"$P\" | wc; fi\n```\n\n" +
		"    $ podctl version\n    podctl: v1\n\n```toml\npodctl = 1\n```\n"
	if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", "a.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := pages.All(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	commands, err := all[0].Commands("podctl")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range commands {
		got = append(got, c.Where+" "+strings.Join(c.Args[1:], "|"))
	}
	want := []string{
		"docs/a.md:6 submit|-f|a b", "docs/a.md:6 list", "docs/a.md:11 context|x", "docs/a.md:18 status", "docs/a.md:18 show|x", "docs/a.md:21 version", "docs/a.md:3 list",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if daemon, err := all[0].Commands("podd"); err != nil || len(daemon) != 1 {
		t.Errorf("podd is called %d times, %v", len(daemon), err)
	}
}
