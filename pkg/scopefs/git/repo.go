package git

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Bounds of what is read of a repository. Anything beyond is not found.
const (
	maxConfig   = 256 << 10
	maxIncludes = 64
	maxHooks    = 256
	maxBelow    = 256
)

// Repo is a repository found from a directory. All paths are absolute; links in those of
// Dirs and Obeyed are resolved as far as they exist.
type Repo struct {
	// Entry is the file or directory called .git; empty for a bare repository.
	Entry string
	// Dirs are its git directories: its own, and the common one of a linked worktree.
	Dirs []string
	// Obeyed are further files and directories that git executes or obeys: the paths in
	// core.hooksPath and include.path, and the targets of a configuration and of hooks that
	// are links. They may be missing.
	Obeyed []string
}

// At returns the repository of which a directory is the working tree or the bare
// repository. home is the user's home directory, whose git configuration counts too; it
// may be empty.
func At(dir, home string) (repo Repo, ok bool) {
	if repo.Entry, repo.Dirs, ok = dirsOf(dir); ok && len(repo.Dirs) > 0 {
		o := obeyed{repo: &repo, top: dir, home: home}
		o.findPaths()
	}
	return repo, ok
}

// dirsOf are the entry called .git and the git directories of a repository; see Repo. A .git that leads
// nowhere has no directories.
func dirsOf(dir string) (entry string, dirs []string, ok bool) {
	own := ""
	path := filepath.Join(dir, ".git")
	switch info, err := os.Lstat(path); {
	case err != nil && IsDir(dir):
		own = dir
	case err != nil:
		return "", nil, false
	case info.Mode().IsRegular():
		entry = path
		target, found := strings.CutPrefix(readSome(entry), "gitdir:")
		if !found {
			return entry, nil, true
		}
		own = beside(dir, strings.TrimSpace(target))
	default:
		entry, own = path, path
	}
	own = Resolve(own)
	dirs = []string{own}
	if common := strings.TrimSpace(readSome(filepath.Join(own, "commondir"))); common != "" {
		if common = Resolve(beside(own, common)); common != own {
			dirs = append(dirs, common)
		}
	}
	return entry, dirs, true
}

// WorkTree is the working tree that the configuration in a git directory names; empty without one.
func WorkTree(dir string) string {
	named := WorkTreeOf(readSome(filepath.Join(dir, "config")), readSome(filepath.Join(dir, "config.worktree")))
	if named == "" {
		return ""
	}
	return Resolve(beside(dir, named))
}

// WorkTreeOf is the working tree that texts of configuration name, the last first, as it is written there.
func WorkTreeOf(texts ...string) (named string) {
	for _, text := range texts {
		for _, s := range parseConfig(text) {
			if s.isTree() && s.value != "" {
				named = s.value
			}
		}
	}
	return named
}

// NamesBack says whether the git directory of the working tree at top is in it, or names it: as that of a linked
// working tree and that of a submodule do. A .git that leads anywhere else may be anybody's.
func (r Repo) NamesBack(top string) bool {
	own, common := r.Dirs[0], r.Dirs[len(r.Dirs)-1]
	if own != common {
		back := strings.TrimSpace(readSome(filepath.Join(own, "gitdir")))
		return back != "" && filepath.Dir(own) == filepath.Join(common, "worktrees") && Resolve(beside(own, back)) == Resolve(filepath.Join(top, ".git"))
	}
	named := WorkTree(own)
	return named == top || named == "" && strings.HasPrefix(own+"/", top+"/")
}

// IsDir says whether git would recognize a directory as a git directory.
func IsDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// HasTrees says whether linked working trees lie in a git directory: as beside what is git's in a bare repository.
func HasTrees(dir string) bool {
	trees, err := os.ReadDir(filepath.Join(dir, "worktrees"))
	return err == nil && slices.ContainsFunc(trees, func(e os.DirEntry) bool {
		own := filepath.Join(dir, "worktrees", e.Name())
		tree := strings.TrimSpace(readSome(filepath.Join(own, "gitdir")))
		return tree != "" && strings.HasPrefix(Resolve(beside(own, tree)), dir+"/")
	})
}

// Below are the git directories in a git directory, outermost first: those of linked
// worktrees and of submodules.
func Below(dir string) (below []string) {
	worktrees, err := os.ReadDir(filepath.Join(dir, "worktrees"))
	if err == nil {
		for _, e := range worktrees[:min(len(worktrees), maxBelow)] {
			if e.IsDir() {
				below = append(below, filepath.Join(dir, "worktrees", e.Name()))
			}
		}
	}
	// The name of a submodule may contain slashes.
	queue := []string{filepath.Join(dir, "modules")}
	for seen := 0; len(queue) > 0 && seen < maxBelow; seen++ {
		at := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(at)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(at, e.Name())
			switch {
			case !e.IsDir():
			case IsDir(path):
				below = append(below, path)
			default:
				queue = append(queue, path)
			}
		}
	}
	return below
}

// obeyed collects what a repository obeys.
type obeyed struct {
	repo      *Repo
	top, home string
	read      []string
}

func (o *obeyed) findPaths() {
	for _, dir := range o.repo.Dirs {
		o.config(filepath.Join(dir, "config"))
		o.config(filepath.Join(dir, "config.worktree"))
		o.hooks(filepath.Join(dir, "hooks"))
	}
	if filepath.IsAbs(o.home) {
		o.config(filepath.Join(o.home, ".gitconfig"))
		o.config(filepath.Join(o.home, ".config", "git", "config"))
	}
}

// add adds a path that git obeys, with the target of its links.
func (o *obeyed) add(path string) {
	if resolved := Resolve(path); !slices.Contains(o.repo.Obeyed, resolved) {
		o.repo.Obeyed = append(o.repo.Obeyed, resolved)
	}
}

// config reads a configuration file, and those that it includes.
func (o *obeyed) config(path string) {
	if slices.Contains(o.read, path) || len(o.read) >= maxIncludes {
		return
	}
	o.read = append(o.read, path)
	o.link(path)
	for _, s := range parseConfig(readSome(path)) {
		switch {
		case s.value == "":
		case s.section == "core" && s.key == "hookspath":
			hooks := beside(o.top, o.expand(s.value))
			o.add(hooks)
			o.hooks(hooks)
		case s.key == "path" && (s.section == "include" || strings.HasPrefix(s.section, "includeif.")):
			included := beside(filepath.Dir(path), o.expand(s.value))
			o.add(included)
			o.config(included)
		}
	}
}

// hooks adds the targets of links in a directory of hooks, and the directory if it is a
// link itself.
func (o *obeyed) hooks(dir string) {
	o.link(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries[:min(len(entries), maxHooks)] {
		o.link(filepath.Join(dir, e.Name()))
	}
}

// link adds the target of a path that is a link.
func (o *obeyed) link(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		o.add(path)
	}
}

// expand replaces a ~ at the beginning.
func (o *obeyed) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && o.home != "" {
		return filepath.Join(o.home, rest)
	}
	return path
}

// beside is a path relative to a directory, unless it is absolute.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Resolve follows the links of a path whose last elements may be missing.
func Resolve(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// readSome is the beginning of a regular file; empty for anything else.
func readSome(path string) string { return readUpTo(path, maxConfig) }

func readUpTo(path string, limit int64) string {
	// A pipe must not block.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return ""
	}
	return string(text)
}
