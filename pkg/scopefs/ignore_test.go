package scopefs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/scopefs"
)

func TestWalkIgnores(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		".gitignore":          "# objects\n*.o\n/build\nlogs/\n!keep.o\n\\#literal\ntrailing   \n",
		".git/info/exclude":   "excluded\nreincluded\n",
		"a.o":                 "",
		"keep.o":              "",
		"#literal":            "",
		"trailing":            "",
		"build/x":             "",
		"sub/build/x":         "",
		"logs/keep.o":         "",
		"sub/logs":            "",
		"excluded":            "",
		"reincluded":          "",
		"sub/.gitignore":      "!*.o\nonly-here\n/top\n!reincluded\r\n",
		"sub/b.o":             "",
		"sub/only-here":       "",
		"sub/deep/only-here":  "",
		"sub/deep/top":        "",
		"sub/top":             "",
		"sub/reincluded":      "",
		"only-here":           "",
		"inner/.git/HEAD":     "",
		"inner/c.o":           "",
		"inner/.gitignore":    "d\n",
		"inner/d":             "",
		"node_modules/x/y.js": "",
	})
	const want = ".gitignore inner/ inner/.gitignore inner/c.o keep.o node_modules/ node_modules/x/ node_modules/x/y.js only-here sub/ " +
		"sub/.gitignore sub/b.o sub/build/ sub/build/x sub/deep/ sub/deep/top sub/logs sub/reincluded"
	if got := walked(t, f, ".", scopefs.WalkOptions{}); got != want {
		t.Errorf("walked\n%s\nwant\n%s", got, want)
	}
	// The rules above the start of a walk apply too, and they do so when it begins in an
	// ignored directory.
	for path, want := range map[string]string{
		"sub":      "sub/.gitignore sub/b.o sub/build/ sub/build/x sub/deep/ sub/deep/top sub/logs sub/reincluded",
		"sub/deep": "sub/deep/top",
		"inner":    "inner/.gitignore inner/c.o",
		"build":    "build/x",
		"logs":     "logs/keep.o",
	} {
		if got := walked(t, f, path, scopefs.WalkOptions{}); got != want {
			t.Errorf("walked %s\n%s\nwant\n%s", path, got, want)
		}
	}
	if got := walked(t, f, "build/../sub/logs", scopefs.WalkOptions{}); got != "sub/logs" {
		t.Errorf("a file by its name gives %q", got)
	}
	if got := walked(t, f, ".", scopefs.WalkOptions{Ignored: true}); !strings.Contains(got, "a.o") || strings.Contains(got, ".git/") {
		t.Errorf("with ignored files the walk gives %s", got)
	}
	must(t, os.Remove(filepath.Join(dir, ".gitignore")))
	must(t, os.Symlink("sub/.gitignore", filepath.Join(dir, ".gitignore")))
	if got := walked(t, f, ".", scopefs.WalkOptions{MaxDepth: 1}); !strings.Contains(got, "only-here") {
		t.Errorf("rules behind a link hold, which git does not read: %s", got)
	}
}

// git runs git in dir, with only its own configuration.
func git(t interface {
	Helper()
	Fatalf(string, ...any)
}, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

var readOtherwise = regexp.MustCompile(`[^/!]\*\*`)

// A walk finds exactly the files that git calls untracked and not ignored.
func TestWalkIgnoresWhatGitIgnores(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	parts := []string{"a", "b", "ab", "a.b", "a b", "a "}
	for _, x := range parts {
		for _, y := range parts {
			plant(t, dir, map[string]string{x + "_f": "", x + "/" + y: "", x + "_d/" + y + "_d/" + y: "", x + "_d/" + y + "_d/c/b": ""})
		}
	}
	f := open(t, scopefs.Config{Dir: dir})
	piece := rapid.SampledFrom([]string{
		"a", "b", "ab", "_d", "_f", ".", " ", "*", "**", "?", "/", "/", "/**/", "**/", "/**", "[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[!]a]", "[[]a]", "[[a]", "[", "]", "{a,b}", "{", "}", ",", "\\a", "\\*", "\\ ", "a_d", "b_d", "a/b",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		prefix := rapid.SampledFrom([]string{"", "", "", "!", "/", "!/", "#", "\\!", "\\#"}).Draw(t, "prefix")
		suffix := rapid.SampledFrom([]string{"", "", "", "/", " ", "\\ ", "\r"}).Draw(t, "suffix")
		return prefix + strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "") + suffix
	}).Filter(func(line string) bool {
		// The case that we read differently: ** after literal text, which git sometimes reads
		// as a separate segment.
		return !readOtherwise.MatchString(line)
	})
	rapid.Check(t, func(t *rapid.T) {
		for _, name := range []string{".gitignore", "a_d/.gitignore", "a_d/b_d/.gitignore", ".git/info/exclude"} {
			lines := rapid.SliceOfN(line, 0, 3).Draw(t, name)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.Split(strings.TrimSuffix(git(t, dir, "ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		got := []string{}
		err := f.Walk(context.Background(), ".", scopefs.WalkOptions{}, func(e scopefs.Entry) error {
			if e.Type.IsRegular() {
				got = append(got, e.Path)
			}
			return nil
		})
		slices.Sort(got)
		if want = slices.DeleteFunc(want, func(s string) bool { return s == "" }); err != nil || !slices.Equal(got, want) {
			t.Fatalf("walk %v\n only in the walk %q\n only in git      %q", err, less(got, want), less(want, got))
		}
	})
}

// less is what is in a and not in b.
func less(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
