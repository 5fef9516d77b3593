package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"podd/internal/workspace/git"
)

// GitAccess is what a command may change in the repositories of its writable roots.
type GitAccess int

// The kinds of access, from the least to the most.
const (
	// GitRead permits no change.
	GitRead GitAccess = iota
	// GitWork permits changing what git works with (objects, references, the index), not
	// what it executes or obeys.
	GitWork
	// GitAll permits every change.
	GitAll
)

// Held is what a command must not change where no mount can prevent it. Whoever runs the
// command checks it while the command runs, and repairs it at the end. The zero value is
// empty.
type Held struct {
	Paths []HeldPath `json:"paths,omitempty"`
	Dirs  []HeldDir  `json:"dirs,omitempty"`
	Roots []HeldRoot `json:"roots,omitempty"`
}

// HeldRoot is a writable root, in which a command makes no repositories.
type HeldRoot struct {
	Path string `json:"path"`
	// Known are the repositories that it had, by git.Repo.Place.
	Known []string `json:"known,omitempty"`
	// Whole says that the search for repositories found all of them. Otherwise only one of
	// the root itself counts.
	Whole bool `json:"whole,omitempty"`
}

// HeldPath is a missing path, or a link, that must not change.
type HeldPath struct {
	// Root is the writable root of Path, which is relative to it.
	Root string `json:"root"`
	Path string `json:"path"`
	// Link is the link's target; empty for a missing path.
	Link string `json:"link,omitempty"`
}

// HeldDir is a git directory that a command may work in. It must not get links through
// which the user's git would write somewhere else, nor new commands in an unfinished
// rebase.
type HeldDir struct {
	Root string `json:"root"`
	Path string `json:"path"`
	// Links and Exec are those that it had: links with their targets, and the lines of a
	// rebase that run commands.
	Links map[string]string `json:"links,omitempty"`
	Exec  []string          `json:"exec,omitempty"`
}

// Broken is a path that was changed; empty without one.
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

// Repair restores everything, and returns what it repaired. It follows no link out of a
// root. It keeps what is in the way under another name, because the user may have made
// it.
func (h Held) Repair() (repaired []string, err error) {
	for _, p := range h.Paths {
		err = errors.Join(err, inRoot(p.Root, func(root *os.Root) error {
			if !p.broken(root) {
				return nil
			}
			repaired = append(repaired, p.Path)
			return p.repair(root)
		}))
	}
	for _, d := range h.Dirs {
		err = errors.Join(err, inRoot(d.Root, func(root *os.Root) error {
			found, err := d.repair(root)
			repaired = append(repaired, found...)
			return err
		}))
	}
	for _, r := range h.Roots {
		err = errors.Join(err, inRoot(r.Path, func(root *os.Root) error {
			made, err := r.repair(root)
			repaired = append(repaired, made...)
			return err
		}))
	}
	return repaired, err
}

func heldRoot(path string, repos []git.Repo, whole bool) HeldRoot {
	r := HeldRoot{Path: path, Whole: whole}
	for _, repo := range repos {
		r.Known = append(r.Known, repo.Place())
	}
	return r
}

// repair removes a new repository.
func (r HeldRoot) repair(root *os.Root) (repaired []string, err error) {
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
			repaired = append(repaired, rel)
			e = HeldPath{Path: rel}.repair(root)
		}
		err = errors.Join(err, e)
	}
	return repaired, err
}

func inRoot(path string, do func(root *os.Root) error) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// asideSuffix ends the name of what was in the way.
const asideSuffix = ".removed-by-podd"

func (p HeldPath) repair(root *os.Root) error {
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

// maxSwept bounds how many files of a git directory are examined.
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

// links are the links in a git directory with their targets, except those in objects,
// which are never written to, and those in read-only parts.
func (d HeldDir) links(root *os.Root) map[string]string {
	links := map[string]string{}
	seen := 0
	_ = fs.WalkDir(root.FS(), d.Path, func(name string, e fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxSwept:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // git reports what cannot be read
		case e.IsDir() && pathpkg.Dir(name) == d.Path && slices.Contains([]string{"objects", "hooks", "modules", "worktrees"}, e.Name()):
			return fs.SkipDir
		case e.Type()&fs.ModeSymlink != 0:
			links[name], _ = root.Readlink(name)
		}
		return nil
	})
	return links
}

func (d HeldDir) repair(root *os.Root) (repaired []string, err error) {
	for link, target := range d.links(root) {
		if before, known := d.Links[link]; !known || before != target {
			repaired = append(repaired, link)
			err = errors.Join(err, root.Remove(link))
		}
	}
	for _, todo := range todos {
		todo = pathpkg.Join(d.Path, todo)
		if !slices.ContainsFunc(execs(root, todo), d.isNew) {
			continue
		}
		repaired = append(repaired, todo)
		err = errors.Join(err, d.clear(root, todo))
	}
	slices.Sort(repaired)
	return repaired, err
}

// todos are the files with the remaining steps of a rebase.
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
	text, err := readTodo(root, path)
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if isExec(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// clear removes new commands from a rebase.
func (d HeldDir) clear(root *os.Root, path string) error {
	text, err := readTodo(root, path)
	if err != nil {
		return err
	}
	var rest []string
	for line := range strings.SplitSeq(text, "\n") {
		if !d.isNew(line) {
			rest = append(rest, line)
		}
	}
	// A new file: a command may have made the name a link to another one.
	if err := root.Remove(path); err != nil {
		return err
	}
	file, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(strings.Join(rest, "\n"))
	return errors.Join(err, file.Close())
}

// maxTodo bounds the bytes of the steps of a rebase that are read.
const maxTodo = 16 << 20

// readTodo reads the steps of a rebase from a regular file: a pipe would block.
func readTodo(root *os.Root, path string) (string, error) {
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxTodo))
	return string(text), err
}
