package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// home is the person's.
func (b *bench) home() string { return filepath.Join(filepath.Dir(b.repo), "home") }

// config sets something in the person's configuration of all repositories.
func (b *bench) config(key, value string) {
	b.t.Helper()
	b.git(b.repo, "config", "--global", key, value)
}

// commit commits everything of the person's.
func (b *bench) commit() {
	b.t.Helper()
	b.git(b.repo, "add", "--all")
	b.git(b.repo, "commit", "--quiet", "-m", "more")
}

// touch changes the times of all files, so that git has to read them.
func (b *bench) touch(dir string, names ...string) {
	b.t.Helper()
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// A landing refuses what git stores through a filter, wherever that is set, and no other files beside them.
func TestLandRefusesFilteredFiles(t *testing.T) {
	const rot = "tr a-zA-Z n-za-mN-ZA-M"
	global := func(b *bench) {
		b.config("filter.rot.clean", rot)
		b.config("filter.rot.smudge", rot)
		b.config("filter.rot.required", "true")
	}
	for name, prepare := range map[string]func(b *bench){
		"of the person": func(b *bench) { global(b); b.write(b.repo, ".gitattributes", "*.sec filter=rot\n") },
		"of the repository": func(b *bench) {
			b.git(b.repo, "config", "filter.rot.clean", rot)
			b.git(b.repo, "config", "filter.rot.smudge", rot)
			b.write(b.repo, ".gitattributes", "*.sec filter=rot\n")
		},
		"not installed":         func(b *bench) { b.write(b.repo, ".gitattributes", "*.sec filter=lfs\n") },
		"by the own attributes": func(b *bench) { global(b); b.write(b.repo, ".git/info/attributes", "*.sec filter=rot\n") },
		"by the person's attributes": func(b *bench) {
			global(b)
			b.config("core.attributesFile", "~/attributes")
			b.write(b.home(), "attributes", "*.sec filter=rot\n")
		},
		"by the person's file of attributes": func(b *bench) {
			global(b)
			b.write(b.home(), ".config/git/attributes", "*.sec filter=rot\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			prepare(b)
			b.write(b.repo, "s.sec", "secret\n")
			b.commit()
			r := b.make(checkout.Wanted{Name: "p"})
			b.write(r.Dir(), "a.txt", "of the agent\n")
			b.write(r.Dir(), "n.sec", "secret of the agent\n")
			b.write(r.Dir(), ".gitattributes", "")
			b.touch(b.repo, "s.sec", "a.txt")
			before := b.was()
			_, err := b.all.Land(t.Context(), r, "", "")
			if item.ReasonOf(err) != "FILTERED_FILES" || !strings.Contains(fmt.Sprint(err), "git stores n.sec through a filter") || b.was() != before {
				t.Errorf("land: %v", err)
			}
			if got, err := b.all.Filtered(t.Context(), r, []string{"a.txt", "n.sec"}); err != nil || !slices.Contains(got, "n.sec") || slices.Contains(got, "a.txt") {
				t.Errorf("filtered are %q, %v", got, err)
			}
			if name != "of the person" {
				return
			}
			if err := os.Remove(filepath.Join(r.Dir(), "n.sec")); err != nil {
				t.Fatal(err)
			}
			if _, err := b.all.Land(t.Context(), r, "", ""); err != nil || b.read(b.repo, "a.txt") != "of the agent\n" || b.read(b.repo, "s.sec") != "secret\n" {
				t.Errorf("land of other files: %v", err)
			}
		})
	}
}

// Changes of the person's in files that git stores through a filter do not come along.
func TestMakeLeavesFilteredFiles(t *testing.T) {
	b := setup(t)
	b.config("filter.rot.clean", "tr a-zA-Z n-za-mN-ZA-M")
	b.config("filter.rot.smudge", "tr a-zA-Z n-za-mN-ZA-M")
	b.write(b.repo, ".gitattributes", "*.sec filter=rot\n")
	b.write(b.repo, "s.sec", "secret\n")
	b.commit()
	b.write(b.repo, "s.sec", "changed\n")
	b.write(b.repo, "n.sec", "new\n")
	b.write(b.repo, "a.txt", "of the person\n")
	r := b.make(checkout.Wanted{Name: "p", Changes: true})
	if got := b.read(r.Dir(), "s.sec") + b.read(r.Dir(), "n.sec") + b.read(r.Dir(), "a.txt"); got != "frperg\ngoneof the person\n" {
		t.Errorf("the checkout has %q", got)
	}
}

// A working tree that git calls clean is no obstacle, however git converts its files, and these get
// the form that they have there.
func TestLandConverts(t *testing.T) {
	for name, c := range map[string]struct {
		prepare    func(b *bench)
		has, wants string
	}{
		"core.autocrlf of the person":     {func(b *bench) { b.config("core.autocrlf", "true") }, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"core.autocrlf of the repository": {func(b *bench) { b.git(b.repo, "config", "core.autocrlf", "true") }, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"core.eol of the person": {func(b *bench) {
			b.config("core.eol", "crlf")
			b.write(b.repo, ".gitattributes", "* text=auto\n")
		}, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"attributes of the person": {func(b *bench) { b.write(b.home(), ".config/git/attributes", "*.c eol=crlf\n") }, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"own attributes":           {func(b *bench) { b.write(b.repo, ".git/info/attributes", "*.c eol=crlf\n") }, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"eol":                      {func(b *bench) { b.write(b.repo, ".gitattributes", "*.c eol=crlf\n") }, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
		"working-tree-encoding": {func(b *bench) { b.write(b.repo, ".gitattributes", "*.c working-tree-encoding=UTF-16LE-BOM\n") },
			"\xff\xfea\x00\n\x00", "\xff\xfea\x00\n\x00b\x00\n\x00"},
		"crlf in the repository": {func(b *bench) {
			for _, x := range []string{"old.c", "racy.c", "applied.c"} {
				b.write(b.repo, x, "first\r\nline\r\n")
			}
			b.commit()
			b.config("core.autocrlf", "true")
		}, "first\r\nline\r\n", "first\r\nline\r\nmore\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			c.prepare(b)
			for _, x := range []string{"old.c", "racy.c", "applied.c"} {
				b.write(b.repo, x, c.has)
			}
			b.git(b.repo, "add", "--all")
			b.git(b.repo, "commit", "--quiet", "--allow-empty", "-m", "more")
			b.git(b.repo, "rm", "--quiet", "-r", "--cached", ".")
			b.git(b.repo, "reset", "--quiet", "--hard")
			r := b.make(checkout.Wanted{Name: "p"})
			for _, x := range []string{"old.c", "racy.c", "applied.c"} {
				if mine, its := b.read(b.repo, x), b.read(r.Dir(), x); mine != c.has || its != c.has {
					t.Errorf("%s has %q, in the checkout %q", x, mine, its)
				}
				b.write(r.Dir(), x, c.wants)
			}
			b.touch(b.repo, "old.c")
			b.write(b.repo, "applied.c", c.wants)
			if _, err := b.all.Land(t.Context(), r, "", ""); err != nil {
				t.Fatal(err)
			}
			for _, x := range []string{"old.c", "racy.c", "applied.c"} {
				if got := b.git(b.repo, "status", "--porcelain"); got != "" || b.read(b.repo, x) != c.wants {
					t.Errorf("%s has %q: %s", x, b.read(b.repo, x), got)
				}
			}
		})
	}
}
