package scopefs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// completed are the completions of a prefix, one per line.
func completed(t testing.TB, f *scopefs.FS, prefix string) string {
	t.Helper()
	got, err := f.Complete(t.Context(), nil, prefix, 0)
	if err != nil {
		t.Errorf("completing %q: %v", prefix, err)
	}
	return strings.Join(got, "\n")
}

func TestComplete(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"cmd/podd/main.go": "", "cmd/podctl/Main_test.go": "", "cmd/podctl/domain.go": "", "README.md": "", "reader.go": "",
		".env": "", ".github/ci.yml": "", ".venv/lib/remains.py": "", ".git/config": "", "empty/": "",
		".gitignore": "build\n*.log\n!keep.log\n", "build/out.log": "", "build/sub/x.o": "", "build/sub/y.log": "", "cmd/debug.log": "", "keep.log": "",
		"a b/c d.txt": "", `quo"te`: "", "end.": "", "v:12": "", "@types/node": "", "new\nline": "", "esc\x1b": "", "bad\xff": "",
	})
	must(t, os.Symlink("cmd/podd", filepath.Join(dir, "link")))
	must(t, os.Symlink("README.md", filepath.Join(dir, "linkfile")))
	must(t, os.Symlink("/etc", filepath.Join(dir, "linkout")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "linkdead")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, tt := range []struct {
		name, prefix string
		want         []string
	}{
		{"all", "", []string{`"@types/"`, "README.md", `"a b/"`, "cmd/", "empty/", `"end."`, "keep.log", "link/", "linkfile", `"quo\"te"`, "reader.go", `"v:12"`}},
		{"a beginning", "rea", []string{"reader.go"}},
		{"a whole name", "README.md", []string{"README.md"}},
		{"a directory", "cm", []string{"cmd/"}},
		{"a directory's whole name", "cmd", []string{"cmd/"}},
		{"the entries of a directory", "cmd/", []string{"cmd/podctl/", "cmd/podd/"}},
		{"deeper", "cmd/podctl/d", []string{"cmd/podctl/domain.go"}},
		{"an empty directory", "empty/", nil},
		{"from here", "./cm", []string{"./cmd/"}},
		{"there and back", "cmd/../rea", []string{"cmd/../reader.go"}},
		{"back at the end", "cmd/podd/..", []string{"cmd/podd/../podctl/", "cmd/podd/../podd/"}},
		{"absolute", dir + "/cmd/podd/m", []string{dir + "/cmd/podd/main.go"}},
		{"through a link", "link/", []string{"link/main.go"}},
		{"links that lead somewhere", "link", []string{"link/", "linkfile"}},

		{"hidden", ".", []string{".env", ".github/", ".gitignore", ".venv/"}},
		{"the repository when there is nothing else", ".git/con", []string{".git/config"}},
		{"in a hidden directory", ".github/", []string{".github/ci.yml"}},
		{"ignored when there is nothing else", "bu", []string{"build/"}},
		{"in an ignored directory", "build/", []string{"build/out.log", "build/sub/"}},
		{"deep in an ignored directory", "build/sub/", []string{"build/sub/x.o", "build/sub/y.log"}},
		{"an ignored file when there is nothing else", "cmd/de", []string{"cmd/debug.log"}},

		{"an open quote", `"a b/c`, []string{`"a b/c d.txt"`}},
		{"an open quote that is not needed", `"cm`, []string{`"cmd/"`}},
		{"only the quote", `"rea`, []string{`"reader.go"`}},
		{"an escape in quotes", `"quo\"`, []string{`"quo\"te"`}},
		{"behind a closed quote", `"a b/"c`, []string{`"a b/c d.txt"`}},
		{"a space without quotes", "a b/c d", []string{`"a b/c d.txt"`}},
		{"a name like a range", "v:", []string{`"v:12"`}},
		{"a backslash", `quo\"`, nil},

		{"what cannot be seen", "new", nil},
		{"what drives a terminal", "esc", nil},
		{"not UTF-8", "bad", nil},
		{"a pipe", "pip", nil},
		{"a link out of the scope", "linkout/", nil},
		{"out of the scope", "/etc/pass", nil},
		{"above", "../", nil},
		{"nothing at all", "none", nil},
		{"below a file", "README.md/", nil},
		{"a NUL byte", "a\x00b", nil},
		{"too long for a reference", strings.Repeat("./", 2100) + "README", nil},
		{"too long for the system", strings.Repeat("a", 300) + "/b", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := completed(t, f, tt.prefix); got != strings.Join(tt.want, "\n") {
				t.Errorf("completing %q\n got %s\nwant %s", tt.prefix, got, tt.want)
			}
		})
	}
}

func TestCompleteRoots(t *testing.T) {
	base := t.TempDir()
	plant(t, base, map[string]string{"work/a": "", "notes/todo": "", "lib/go/x": "", "secret/key": "", ".state/spool/x": ""})
	f := open(t, scopefs.Config{Dir: base + "/work", Read: []string{base + "/lib/go", base + "/.state/spool"}, Write: []string{base + "/notes"}})
	for prefix, want := range map[string]string{
		base + "/":      base + "/lib/go/\n" + base + "/notes/\n" + base + "/work/",
		base + "/n":     base + "/notes/",
		base + "/lib/":  base + "/lib/go/",
		base + "/.s":    base + "/.state/spool/",
		base + "/work":  base + "/work/",
		base + "/work/": base + "/work/a",
		base + "/s":     "",
		"..":            "../lib/go/\n../notes/",
		"../no":         "../notes/",
		"../notes/":     "../notes/todo",
		"../secret/":    "",
	} {
		if got := completed(t, f, prefix); got != want {
			t.Errorf("completing %q\n got %s\nwant %s", prefix, got, want)
		}
	}
}

// A repository in an ignored directory has its own rules.
func TestCompleteNestedRepository(t *testing.T) {
	f, _ := workspace(t, map[string]string{
		".gitignore": "out\n", "out/lib/.git/HEAD": "", "out/lib/.gitignore": "*.o\n", "out/lib/a.o": "", "out/lib/a.c": "", "out/x": "", "out/lib/src/b.c": "", "out/lib/src/b.o": "",
	})
	for prefix, want := range map[string]string{"out/": "out/lib/\nout/x", "out/lib/src/": "out/lib/src/b.c", "out/lib/a": "out/lib/a.c", "out/lib/a.o": "out/lib/a.o"} {
		if got := completed(t, f, prefix); got != want {
			t.Errorf("completing %q gives %q, want %q", prefix, got, want)
		}
	}
}

func TestCompleteLimit(t *testing.T) {
	files := make(map[string]string)
	for i := range 1100 {
		files[fmt.Sprintf("many/f%04d", i)] = ""
	}
	f, _ := workspace(t, files)
	for _, tt := range []struct {
		prefix      string
		limit, want int
	}{
		{"many/f", 0, 50}, {"many/f", -1, 50}, {"many/f", 3, 3}, {"many/f", 1 << 30, 1000}, {"many/f000", 50, 10},
	} {
		got, err := f.Complete(t.Context(), nil, tt.prefix, tt.limit)
		if err != nil || len(got) != tt.want || !slices.IsSorted(got) {
			t.Errorf("completing %q up to %d: %d completions, sorted or not, %v; want %d", tt.prefix, tt.limit, len(got), err, tt.want)
		}
	}
}

func TestCompleteErrors(t *testing.T) {
	f, err := scopefs.Open(scopefs.Config{Dir: t.TempDir()})
	must(t, err)
	must(t, f.Close())
	_, err = f.Complete(t.Context(), nil, "a", 0)
	wantKind(t, err, scopefs.IO)
}

// Whatever the names of the files: each completion, after an @, is one reference to an
// existing file whose path begins with the prefix; and no visible file that begins with
// it is missing.
func TestCompletionsAreReadBack(t *testing.T) {
	name := rapid.StringOfN(rapid.RuneFrom([]rune("ab.:-10, @\"'`<>()[]{}!?;\\é日“”\t\u202e")), 1, 8, -1).
		Filter(func(s string) bool { return s != "." && s != ".." && s != ".git" && s != ".gitignore" })
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "complete") //nolint:usetesting // Each case has its own, gone at its end.
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		f, err := scopefs.Open(scopefs.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		names := rapid.SliceOfNDistinct(name, 1, 5, rapid.ID).Draw(t, "names")
		for _, n := range names {
			path, err := filepath.Join(dir, n), error(nil)
			if rapid.Bool().Draw(t, "directory") {
				err = os.Mkdir(path, 0o700)
			} else {
				err = os.WriteFile(path, nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		whole := []rune(rapid.SampledFrom(names).Draw(t, "one"))
		begin := string(whole[:rapid.IntRange(0, len(whole)).Draw(t, "typed")])
		prefix := begin
		if rapid.Bool().Draw(t, "quoted") || strings.HasPrefix(begin, `"`) {
			prefix = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(begin)
		}
		if begin == ".." {
			return // The directory above, which is not in the scope.
		}
		paths := readBack(t, f, prefix)
		for _, n := range names {
			fits := strings.HasPrefix(n, begin) && (n[0] != '.' || strings.HasPrefix(begin, "."))
			if fits && !strings.ContainsAny(n, "\t\u202e") && !slices.Contains(paths, n) {
				t.Errorf("%q is missing from the completions of %q: %q", n, prefix, paths)
			}
		}
	})
}

// readBack completes a prefix and reads the completions as references, without the
// slashes of directories.
func readBack(t *rapid.T, f *scopefs.FS, prefix string) []string {
	got, err := f.Complete(context.Background(), nil, prefix, 0)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range got {
		segments := parse("@"+c, f.ExistsRef)
		if len(segments) != 1 {
			t.Fatalf("%s is read as %#v", c, segments)
		}
		ref, ok := segments[0].(item.FileRef)
		if !ok || ref.StartLine != 0 {
			t.Fatalf("%s is read as %#v", c, segments)
		}
		info, err := f.Stat(ref.Path)
		if err != nil || info.IsDir() != strings.HasSuffix(ref.Path, "/") {
			t.Fatalf("%s names %q: %v", c, ref.Path, err)
		}
		paths = append(paths, strings.TrimSuffix(ref.Path, "/"))
	}
	return paths
}
