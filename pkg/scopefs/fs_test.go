package scopefs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

func TestOpenRefusesBadDirectories(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"file": "x", "ok/": ""})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	ok := filepath.Join(dir, "ok")
	tests := []struct {
		name string
		cfg  scopefs.Config
		says string
	}{
		{"empty", scopefs.Config{}, "is not absolute"},
		{"relative", scopefs.Config{Dir: "ok"}, "is not absolute"},
		{"missing", scopefs.Config{Dir: filepath.Join(dir, "none")}, "does not exist"},
		{"a file", scopefs.Config{Dir: filepath.Join(dir, "file")}, "is not a directory"},
		{"a pipe", scopefs.Config{Dir: filepath.Join(dir, "pipe")}, "is not a directory"},
		{"a missing read root", scopefs.Config{Dir: ok, Read: []string{filepath.Join(dir, "none")}}, "does not exist"},
		{"a file as write root", scopefs.Config{Dir: ok, Write: []string{filepath.Join(dir, "file")}}, "is not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scopefs.Open(tt.cfg)
			if item.KindOf(err) != item.KindInvalid || item.ReasonOf(err) != "BAD_DIR" {
				t.Fatalf("got %v, want kind invalid and reason BAD_DIR", err)
			}
			if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one sentence with %q", err, tt.says)
			}
		})
	}
}

func TestCloseEndsAccess(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a": "x"})
	f, err := scopefs.Open(scopefs.Config{Dir: dir})
	must(t, err)
	must(t, f.Close())
	_, err = f.ReadFile("a", 0)
	wantKind(t, err, scopefs.IO)
	wantKind(t, write(f, "a", nil), scopefs.IO)
}

func TestRel(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/": "", "workshop/": ""})
	must(t, os.Symlink("work", filepath.Join(base, "link")))
	dir := filepath.Join(base, "link")
	f := open(t, scopefs.Config{Dir: dir})
	resolved, err := filepath.EvalSymlinks(dir)
	must(t, err)
	for path, want := range map[string]string{
		"":                           ".",
		".":                          ".",
		"a/../b":                     "b",
		dir + "/a":                   "a",
		resolved + "/a":              "a",
		resolved + "shop/a":          resolved + "shop/a",
		"../x":                       filepath.Join(base, "x"),
		"/etc/passwd":                "/etc/passwd",
		"a/":                         "a",
		filepath.Dir(resolved) + "/": filepath.Dir(resolved),
	} {
		if got := f.Rel(path); got != want {
			t.Errorf("Rel(%q) = %q, want %q", path, got, want)
		}
	}
	if f.Dir() != dir {
		t.Errorf("Dir() = %q, want %q", f.Dir(), dir)
	}
}

// A path may use the name of the workspace as configured, or its real one, which is what
// a shell prints.
func TestWorkspaceBehindALink(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/a": "x"})
	must(t, os.Symlink("work", filepath.Join(base, "link")))
	f := open(t, scopefs.Config{Dir: filepath.Join(base, "link")})
	for _, path := range []string{"a", filepath.Join(base, "link/a"), filepath.Join(base, "work/a")} {
		file, err := f.ReadFile(path, 0)
		must(t, err)
		if file.Path != "a" || string(file.Data) != "x" {
			t.Errorf("%s is read as %+v", path, file)
		}
	}
}

func TestReadOnlyRoots(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/a": "x", "docs/b": "y"})
	f := open(t, scopefs.Config{Dir: filepath.Join(base, "work"), Read: []string{filepath.Join(base, "docs")}})
	b := filepath.Join(base, "docs/b")
	for _, path := range []string{b, "../docs/b"} {
		file, err := f.ReadFile(path, 0)
		must(t, err)
		if file.Path != b || string(file.Data) != "y" {
			t.Errorf("%s is read as %+v", path, file)
		}
		for name, err := range map[string]error{
			"write":  write(f, path, []byte("z")),
			"remove": f.Remove(t.Context(), path),
			"from":   f.Rename(t.Context(), path, "c"),
			"to":     f.Rename(t.Context(), "a", path+"2"),
		} {
			wantKind(t, err, scopefs.OutOfScope)
			if err != nil && !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%s: %q does not say that the root is read-only", name, err)
			}
		}
	}
	if got := content(t, b); got != "y" {
		t.Errorf("the read-only file now holds %q", got)
	}
}

// Of nested roots the longest decides.
func TestOverlappingRoots(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/vendor/v": "v", "all/out/o": "o", "all/a": "a"})
	at := func(name string) string { return filepath.Join(base, name) }
	must(t, os.Symlink("vendor", at("work/link")))
	must(t, os.Symlink("out", at("all/link")))
	f := open(t, scopefs.Config{
		Dir:   at("work"),
		Read:  []string{at("work/vendor"), at("all"), at("work")},
		Write: []string{at("all/out")},
	})
	for _, path := range []string{at("all/out/o"), at("work/x"), "y"} {
		if err := write(f, path, []byte("new")); err != nil {
			t.Errorf("writing %s: %v", path, err)
		}
	}
	for _, path := range []string{"vendor/v", at("all/a"), at("all/outer"), "link/v", "link/new"} {
		wantKind(t, write(f, path, []byte("new")), scopefs.OutOfScope)
	}
	wantKind(t, f.Remove(t.Context(), "link/v"), scopefs.OutOfScope)
	// A link in a read-only root is not a way to write, wherever it leads.
	wantKind(t, write(f, at("all/link/o"), []byte("new")), scopefs.OutOfScope)
	if got := content(t, at("work/vendor/v")); got != "v" {
		t.Errorf("the read-only file now holds %q", got)
	}
}

func TestErrorsCarryTheirCause(t *testing.T) {
	f, _ := workspace(t, nil)
	_, err := f.Stat("none")
	wantKind(t, err, scopefs.NotFound)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap fs.ErrNotExist", err)
	}
}

func TestErrorSentences(t *testing.T) {
	for want, err := range map[string]*scopefs.PathError{
		`a is a directory: name a file in it`:                             {Kind: scopefs.IsDir, Path: "a"},
		`"a\nb" is not UTF-8 text`:                                        {Kind: scopefs.Binary, Path: "a\nb"},
		`"" cannot be used`:                                               {Kind: scopefs.IO},
		`a cannot be used: permission denied`:                             {Kind: scopefs.IO, Path: "a", Err: &fs.PathError{Err: syscall.EACCES}},
		`a already exists: use another name, or remove it first`:          {Kind: scopefs.Exists, Path: "a"},
		`a is not a regular file, so it cannot be opened`:                 {Kind: scopefs.NotRegular, Path: "a"},
		`a is too large to read at once: read a part of it`:               {Kind: scopefs.TooLarge, Path: "a"},
		`a cannot be used: file already closed`:                           {Kind: scopefs.IO, Path: "a", Err: &fs.PathError{Err: fs.ErrClosed}},
		`a does not exist: check the name, or list its directory`:         {Kind: scopefs.NotFound, Path: "a"},
		`"\x1b[2J" does not exist: check the name, or list its directory`: {Kind: scopefs.NotFound, Path: "\x1b[2J"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDisplay(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.go":         "a/b.go",
		"a b":            "a b",
		"日本語.md":         "日本語.md",
		`a"b`:            `a"b`,
		"":               `""`,
		" a":             `" a"`,
		"a\n[File: b]":   `"a\n[File: b]"`,
		"a\x1b]52;c;x\a": `"a\x1b]52;c;x\a"`,
		"a\u202ecod.exe": `"a\u202ecod.exe"`,
		"a\u200bb":       `"a\u200bb"`,
		"a\u0085b":       `"a\u0085b"`,
		"a\xffb":         `"a\xffb"`,
		"a\u2028b":       `"a\u2028b"`,
		"a\u00a0b":       `"a\u00a0b"`,
	} {
		if got := scopefs.Display(path); got != want {
			t.Errorf("Display(%q) = %s, want %s", path, got, want)
		}
	}
}
