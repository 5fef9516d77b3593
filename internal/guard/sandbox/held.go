package sandbox

import (
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/workspace/git"
)

// GitAccess is what a command may change in the repositories of its writable roots.
type GitAccess int

// The kinds of access, from the least on.
const (
	// GitRead is none.
	GitRead GitAccess = iota
	// GitWork is what git works with (objects, references, the index), not what it executes
	// or obeys.
	GitWork
	// GitAll is all.
	GitAll
)

// Held is what a command must leave as it is where no mount can make it. Whoever runs the
// command looks while it runs, and mends it at the end. The zero value holds nothing.
type Held struct {
	Paths []HeldPath `json:"paths,omitempty"`
	Dirs  []HeldDir  `json:"dirs,omitempty"`
	Roots []HeldRoot `json:"roots,omitempty"`
}

// HeldRoot is a writable root, in which a command makes no repositories.
type HeldRoot struct {
	Path string `json:"path"`
	// Known are the repositories that it had, as git.Repo.Place has them.
	Known []string `json:"known,omitempty"`
	// Whole says that there are no others where repositories are looked for. Else only one
	// of the root itself counts.
	Whole bool `json:"whole,omitempty"`
}

// HeldPath is a path that is missing, or a link, and stays so.
type HeldPath struct {
	// Root is the writable root that Path, which is relative, lies in.
	Root string `json:"root"`
	Path string `json:"path"`
	// Link is what the link leads to; empty for a path that is missing.
	Link string `json:"link,omitempty"`
}

// HeldDir is a git directory that a command may work in. It gets no links by which the
// person's git would write somewhere else, and no commands in what a rebase has to do yet.
type HeldDir struct {
	Root string `json:"root"`
	Path string `json:"path"`
	// Links and Exec are those that it had: links with what they lead to, and the lines of a
	// rebase that run commands.
	Links map[string]string `json:"links,omitempty"`
	Exec  []string          `json:"exec,omitempty"`
}

// Broken is a path that was changed; empty when there is none.
func (h Held) Broken() string {
	for _, p := range h.Paths {
		if at, err := os.OpenRoot(p.Root); err == nil {
			broken := p.broken(at)
			_ = at.Close()
			if broken {
				return p.Path
			}
		}
	}
	return ""
}

func (p HeldPath) broken(root *os.Root) bool {
	if p.Link != "" {
		target, err := root.Readlink(p.Path)
		return err != nil || target != p.Link
	}
	_, err := root.Lstat(p.Path)
	return err == nil
}

// Mend makes what is held what it was, and names what it mended. It follows no link out of
// a root. What is in the way is kept under another name, for the person may have made it.
func (h Held) Mend() (mended []string, err error) {
	for _, p := range h.Paths {
		err = errors.Join(err, inRoot(p.Root, func(root *os.Root) error {
			if !p.broken(root) {
				return nil
			}
			mended = append(mended, p.Path)
			return p.mend(root)
		}))
	}
	for _, d := range h.Dirs {
		err = errors.Join(err, inRoot(d.Root, func(root *os.Root) error {
			found, err := d.mend(root)
			mended = append(mended, found...)
			return err
		}))
	}
	for _, r := range h.Roots {
		err = errors.Join(err, inRoot(r.Path, func(root *os.Root) error {
			made, err := r.mend(root)
			mended = append(mended, made...)
			return err
		}))
	}
	return mended, err
}

func heldRoot(path string, repos []git.Repo, whole bool) HeldRoot {
	r := HeldRoot{Path: path, Whole: whole}
	for _, repo := range repos {
		r.Known = append(r.Known, repo.Place())
	}
	return r
}

// mend makes what became a repository none.
func (r HeldRoot) mend(root *os.Root) (mended []string, err error) {
	repos, _ := git.Find(r.Path, "")
	for _, repo := range repos {
		place := repo.Place()
		top := place == r.Path || filepath.Dir(place) == r.Path && place == repo.Entry
		if slices.Contains(r.Known, place) || !r.Whole && !top {
			continue
		}
		if repo.Entry == "" {
			place = filepath.Join(place, "HEAD")
		}
		rel, e := filepath.Rel(r.Path, place)
		if e == nil {
			mended = append(mended, rel)
			e = HeldPath{Path: rel}.mend(root)
		}
		err = errors.Join(err, e)
	}
	return mended, err
}

func inRoot(path string, do func(root *os.Root) error) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// asideSuffix is behind the name of what was in the way.
const asideSuffix = ".removed-by-podd"

func (p HeldPath) mend(root *os.Root) error {
	if _, err := root.Lstat(p.Path); err == nil {
		_ = root.RemoveAll(p.Path + asideSuffix)
		if err := root.Rename(p.Path, p.Path+asideSuffix); err != nil {
			if err := root.RemoveAll(p.Path); err != nil {
				return err
			}
		}
	}
	if p.Link == "" {
		return nil
	}
	return root.Symlink(p.Link, p.Path)
}

// maxSwept bounds the files of a git directory that are looked at.
const maxSwept = 20000

// heldDir is a git directory as it is now.
func heldDir(root, path string) HeldDir {
	d := HeldDir{Root: root, Path: path}
	_ = inRoot(root, func(at *os.Root) error {
		d.Links = d.links(at)
		for _, todo := range todos {
			d.Exec = append(d.Exec, execs(at, pathpkg.Join(path, todo))...)
		}
		return nil
	})
	return d
}

// links are the links in a git directory with what they lead to, but for those among
// objects, which are never written to, and in what is read-only.
func (d HeldDir) links(root *os.Root) map[string]string {
	links := map[string]string{}
	seen := 0
	_ = fs.WalkDir(root.FS(), d.Path, func(name string, e fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxSwept:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is git's to complain about
		case e.IsDir() && pathpkg.Dir(name) == d.Path && slices.Contains([]string{"objects", "hooks", "modules", "worktrees"}, e.Name()):
			return fs.SkipDir
		case e.Type()&fs.ModeSymlink != 0:
			links[name], _ = root.Readlink(name)
		}
		return nil
	})
	return links
}

func (d HeldDir) mend(root *os.Root) (mended []string, err error) {
	for link, target := range d.links(root) {
		if before, known := d.Links[link]; !known || before != target {
			mended = append(mended, link)
			err = errors.Join(err, root.Remove(link))
		}
	}
	for _, todo := range todos {
		todo = pathpkg.Join(d.Path, todo)
		if !slices.ContainsFunc(execs(root, todo), d.isNew) {
			continue
		}
		mended = append(mended, todo)
		err = errors.Join(err, d.clear(root, todo))
	}
	slices.Sort(mended)
	return mended, err
}

// todos are the files that say what a rebase has to do yet.
var todos = []string{"rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup"}

// isExec says whether a line of a rebase runs a command.
func isExec(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && (words[0] == "exec" || words[0] == "x")
}

// isNew says whether a line runs a command that the rebase did not have.
func (d HeldDir) isNew(line string) bool { return isExec(line) && !slices.Contains(d.Exec, line) }

// execs are the lines of a rebase that run a command.
func execs(root *os.Root, path string) (lines []string) {
	text, err := root.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if isExec(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// clear takes the commands out of a rebase that it did not have.
func (d HeldDir) clear(root *os.Root, path string) error {
	text, err := root.ReadFile(path)
	if err != nil {
		return err
	}
	var rest []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if !d.isNew(line) {
			rest = append(rest, line)
		}
	}
	return root.WriteFile(path, []byte(strings.Join(rest, "\n")), 0o600)
}
