package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/scopefs/git"
)

// tree makes files from name to content: a name that ends in / is a directory, a content
// that begins with -> a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAtFindsWhatGitObeys(t *testing.T) {
	for _, c := range []struct {
		name         string
		files        map[string]string
		at           string
		dirs, obeyed []string
	}{
		{"a directory", map[string]string{".git/config": "[core]\n\tbare = false\n"}, "", []string{".git"}, nil},
		{"hooks elsewhere", map[string]string{".git/config": "[Core]\n  HooksPath = \"tools/hooks\" ; mine\n"}, "", []string{".git"}, []string{"tools/hooks"}},
		{"the last one counts and so do all", map[string]string{".git/config": "[core] hooksPath=a\n[core]\nhooksPath = b#c\n"}, "", []string{".git"}, []string{"a", "b"}},
		{"an include, and what it includes", map[string]string{
			".git/config": "[include]\n\tpath = ../one.inc\n[includeIf \"gitdir:/x\\\"]\"]\n\tpath = two.inc\n", "one.inc": "[include]\npath = sub/three.inc\n", "sub/three.inc": "[core]\nhooksPath = h\n",
		}, "", []string{".git"}, []string{"one.inc", "sub/three.inc", "h", ".git/two.inc"}},
		{"an include of itself", map[string]string{".git/config": "[include]\npath = ../a\n", "a": "[include]\npath = a\n"}, "", []string{".git"}, []string{"a"}},
		{"the home directory", map[string]string{".git/": "", "home/.gitconfig": "[include]\npath = ~/more\n[core]\nhooksPath = .githooks\n"}, "", []string{".git"}, []string{"home/more", ".githooks"}},
		{"a configuration of the worktree", map[string]string{".git/config.worktree": "[core]\nhooksPath = wt\n"}, "", []string{".git"}, []string{"wt"}},
		{"links of hooks", map[string]string{".git/hooks/pre-commit": "->../../scripts/check.sh", "scripts/check.sh": ""}, "", []string{".git"}, []string{"scripts/check.sh"}},
		{"hooks that are a link", map[string]string{".git/hooks": "->../hooks", "hooks/": ""}, "", []string{".git"}, []string{"hooks"}},
		{"a configuration that is a link", map[string]string{".git/config": "->../mine", "mine": "[core]\nhooksPath = x\n"}, "", []string{".git"}, []string{"mine", "x"}},
		{"a file", map[string]string{".git": "gitdir: meta/repo\n", "meta/repo/config": "[core]\nhooksPath = h\n"}, "", []string{"meta/repo"}, []string{"h"}},
		{"a linked worktree", map[string]string{"wt/.git": "gitdir: ../.git/worktrees/wt\n", ".git/worktrees/wt/commondir": "../..\n", ".git/config": "[core]\nhooksPath = h\n"},
			"wt", []string{".git/worktrees/wt", ".git"}, []string{"wt/h"}},
		{"a bare one", map[string]string{"HEAD": "", "objects/": "", "refs/": "", "config": "[core]\nhooksPath = h\n"}, "", []string{""}, []string{"h"}},
		{"another file called .git", map[string]string{".git": "hello\n"}, "", nil, nil},
		{"a broken configuration", map[string]string{".git/config": "[core\nhooksPath\n[\"\n=\n[core]\nhooksPath = \"h\\\n i\"\nhooksPath =\n"}, "", []string{".git"}, []string{"h i"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := tree(t, c.files)
			in := func(paths []string) (all []string) {
				for _, p := range paths {
					all = append(all, filepath.Join(base, p))
				}
				return all
			}
			repo, ok := git.At(filepath.Join(base, c.at), filepath.Join(base, "home"))
			if !ok || !slices.Equal(repo.Dirs, in(c.dirs)) || !slices.Equal(repo.Obeyed, in(c.obeyed)) {
				t.Errorf("%v, dirs %q, obeyed %q", ok, repo.Dirs, repo.Obeyed)
			}
		})
	}
	if _, ok := git.At(t.TempDir(), ""); ok {
		t.Error("an empty directory is a repository")
	}
}

// A pipe in place of a file does not block, and a large file is read in part.
func TestAtReadsRegularFilesAlone(t *testing.T) {
	dir := tree(t, map[string]string{".git/hooks/": "", "big": "[core]\nhooksPath = h\n" + strings.Repeat("#", 1<<20)})
	if err := syscall.Mkfifo(filepath.Join(dir, ".git", "config"), 0o600); err != nil {
		t.Fatal(err)
	}
	if repo, ok := git.At(dir, ""); !ok || len(repo.Obeyed) != 0 {
		t.Errorf("%v %+v", ok, repo)
	}
}

func TestFind(t *testing.T) {
	dir := tree(t, map[string]string{
		".git/HEAD": "", "vendor/x/.git/HEAD": "", "a/b/c/d/.git/HEAD": "", "a/b/c/d/e/.git/HEAD": "", "node_modules/m/.git/HEAD": "", ".cache/n/.git/HEAD": "",
		"bare.git/HEAD": "", "bare.git/objects/": "", "bare.git/refs/": "", "bare.git/x/.git/HEAD": "", "link": "->vendor",
	})
	rel := func(tops []string) (all []string) {
		for _, top := range tops {
			all = append(all, strings.TrimPrefix(strings.TrimPrefix(top, dir), "/"))
		}
		return all
	}
	found := git.Find(dir, nil)
	if want := []string{"", "bare.git", "bare.git/x", "vendor/x", "a/b/c/d", "a/b/c/d/e"}; !slices.Equal(rel(found.Tops), want) {
		t.Errorf("found %q, want %q", rel(found.Tops), want)
	}
	if want := []string{".cache/n", "node_modules/m"}; !slices.Equal(rel(found.Filled), want) {
		t.Errorf("found %q, want %q", rel(found.Filled), want)
	}
	// One that was made since, in a directory whose time of the last write is put back.
	vendor := filepath.Join(dir, "vendor")
	info, err := os.Stat(vendor)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(vendor, "y/.git"), 0o755), os.Chtimes(vendor, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if again := git.Find(dir, found); !slices.Contains(rel(again.Tops), "vendor/y") {
		t.Errorf("found %q", rel(again.Tops))
	}
	for i := range 1100 {
		if err := os.Mkdir(filepath.Join(dir, "a", strconv.Itoa(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if many := git.Find(dir, nil); many.Tops[0] != dir {
		t.Errorf("with too many directories: %+v", many.Tops)
	}
}

func TestBelow(t *testing.T) {
	dir := tree(t, map[string]string{
		"worktrees/w/HEAD": "", "modules/a/HEAD": "", "modules/a/objects/": "", "modules/a/refs/": "",
		"modules/lib/b/HEAD": "", "modules/lib/b/objects/": "", "modules/lib/b/refs/": "",
	})
	var found []string
	for _, path := range git.Below(dir) {
		found = append(found, strings.TrimPrefix(path, dir+"/"))
	}
	if want := []string{"worktrees/w", "modules/a", "modules/lib/b"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("[core]\nhooksPath = \"a\\\"b\" # c\n")
	f.Add("[includeIf \"x\\")
	f.Add("a=\\\n\\")
	f.Fuzz(func(t *testing.T, text string) {
		dir := tree(t, map[string]string{".git/config": text})
		git.At(dir, "")
	})
}
