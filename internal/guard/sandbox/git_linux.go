package sandbox

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"podd/pkg/scopefs/git"
)

// A command may change what git calls data: objects, references, HEAD, the index, logs, messages, the state of
// worktrees. What git executes or obeys stays, as follows. Mounts protect hooks, and what the configuration
// names, in the repositories that the pod works in. All else is compared while the command runs and when it has
// ended, in all repositories of its directories, also in new ones: see docs/security.md.

// gitNames are what git executes or obeys in a git directory.
var gitNames = []string{"hooks", "config", "config.worktree", "commondir", "gitdir", "info/attributes", "objects/info/alternates"}

// guardGit protects the repositories of the roots and those around them.
func (g *Guard) guardGit(scope Scope) error {
	home := g.sandbox.variable("HOME")
	for _, root := range scope.Roots {
		if root.Writable {
			if err := g.around(root.Path); err != nil {
				return err
			}
		}
	}
	for _, root := range slices.Clone(g.roots) {
		if root.bare {
			continue
		}
		found := g.survey(root)
		for _, top := range slices.Concat(found.Tops, found.Filled) {
			repo, ok := git.At(top, home)
			if !ok {
				continue
			}
			g.repository(repo, top == root.path)
			if top == root.path {
				g.index(top)
			}
		}
	}
	return nil
}

// around makes the repository writable that a pod's directory belongs to and that lies outside of it: the one
// of a linked working tree or of a submodule, and the one in whose working tree it is a directory.
func (g *Guard) around(dir string) error {
	repo, top, ok := g.sandbox.around(dir)
	if !ok {
		return nil
	}
	for _, path := range byDepth(slices.Clone(repo.Dirs)) {
		if _, _, inside := g.rootOf(path); inside || !git.IsDir(path) || git.HasTrees(path) || g.overlapsHidden(path) {
			continue
		}
		file, err := openDir(path)
		if err != nil {
			return err
		}
		g.roots = append(g.roots, &guardedRoot{path: path, dir: file, bare: true})
	}
	if top != dir {
		g.repository(repo, true)
		g.index(top)
	}
	return nil
}

// outside are the git directories that the command can change and that lie in none of the pod's directories.
func (g *Guard) outside() (dirs []string) {
	if g == nil {
		return nil
	}
	for _, root := range g.roots {
		if root.bare {
			dirs = append(dirs, root.path)
		}
	}
	return dirs
}

// overlapsHidden says whether a directory has something in it that no command sees, or is in that.
func (g *Guard) overlapsHidden(dir string) bool {
	all := g.sandbox.unseen()
	return slices.ContainsFunc(slices.Concat(all.own, all.others), func(hidden string) bool { return within(hidden, dir) || within(dir, hidden) })
}

// repository protects what git executes or obeys in one repository: by mounts, if the pod works in it; otherwise
// it can be removed like other directories.
func (g *Guard) repository(repo git.Repo, works bool) {
	protect := g.keep
	if works {
		protect = g.protect
	}
	if repo.Entry != "" && !slices.Contains(repo.Dirs, repo.Entry) && !g.lets(repo.Entry) {
		protect(repo.Entry)
	}
	for i, dir := range repo.Dirs {
		root, rel, ok := g.rootOf(dir)
		if !ok {
			continue
		}
		if works && i == len(repo.Dirs)-1 {
			g.protectHooks(dir)
		}
		g.keepIn(root, rel, true, gitNames)
		for _, below := range git.Below(dir) {
			if root, rel, ok := g.rootOf(below); ok {
				g.keepIn(root, rel, true, gitNames)
			}
		}
	}
	for _, path := range repo.Obeyed {
		switch _, rel, ok := g.rootOf(path); {
		case !ok || rel == "" || g.lets(path):
		case exists(path):
			protect(path)
		default:
			g.keep(path)
		}
	}
}

// protectHooks mounts a directory of hooks read-only, which must be there for that.
func (g *Guard) protectHooks(dir string) {
	hooks := filepath.Join(dir, "hooks")
	if g.lets(hooks) || g.sandbox.mode != Bwrap {
		return
	}
	if err := os.Mkdir(hooks, 0o755); err == nil || errors.Is(err, os.ErrExist) && isDir(hooks) && !isLink(hooks) {
		g.protect(hooks)
	}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// byDepth sorts paths so that a directory comes before its contents, each once.
func byDepth(paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(a, b) })
	return slices.Compact(paths)
}

// index remembers what git has in a working tree.
func (g *Guard) index(tree string) {
	if x := git.OpenIndex(tree); x != nil {
		if mixed, known := g.sandbox.mixed.Load(tree); known {
			x.Mixed = maps.Clone(mixed.(map[string]string))
		}
		g.indexes = append(g.indexes, index{x, tree})
	}
}

// index is that of one working tree.
type index struct {
	*git.Index
	tree string
}

// behind are the protected files, and those outside of the pod's directories, that git was kept from.
func (g *Guard) behind() (changed, removed []string) {
	for _, x := range g.indexes {
		kept := func(rel string) bool {
			root, at, inside := g.rootOf(filepath.Join(x.tree, rel))
			if !inside || root.bare {
				return true
			}
			_, why, err := unit(root.prefix, at)
			return err == nil && why != "" && !g.lets(filepath.Join(x.tree, rel))
		}
		c, r := x.Behind(kept)
		if len(x.Mixed) > 0 {
			g.sandbox.mixed.Store(x.tree, x.Mixed)
		} else {
			g.sandbox.mixed.Delete(x.tree)
		}
		for _, rel := range c {
			changed = append(changed, filepath.Join(x.tree, rel))
		}
		for _, rel := range r {
			removed = append(removed, filepath.Join(x.tree, rel))
		}
	}
	return changed, removed
}

// survey looks for repositories in a root.
func (g *Guard) survey(root *guardedRoot) *git.Survey {
	before, _ := g.sandbox.surveys.Load(root.path)
	old, _ := before.(*git.Survey)
	now := git.Find(root.path, old)
	g.sandbox.surveys.Store(root.path, now)
	return now
}

// gitDirs are the git directories in the roots now. A .git that leads elsewhere is moved away.
func (g *Guard) gitDirs() (dirs []string) {
	for _, root := range g.roots {
		if root.bare {
			dirs = append(append(dirs, root.path), git.Below(root.path)...)
			continue
		}
		found := g.survey(root)
		for _, top := range slices.Concat(found.Tops, found.Filled) {
			if repo, ok := git.At(top, ""); ok {
				dirs = append(dirs, g.dirsOf(repo)...)
			}
		}
	}
	for _, k := range g.kept {
		if root := g.rootAt(k.Root); root != nil && k.Git {
			dirs = append(dirs, filepath.Join(root.path, string(k.Path)))
		}
	}
	return byDepth(dirs)
}

// dirsOf are the git directories of a repository, and those in them.
func (g *Guard) dirsOf(repo git.Repo) (dirs []string) {
	for _, dir := range repo.Dirs {
		if _, _, inside := g.rootOf(dir); inside {
			dirs = append(append(dirs, dir), git.Below(dir)...)
		} else if repo.Entry != "" && !g.keeps(repo.Entry) && !slices.Contains(g.hold, repo.Entry) {
			g.moveAway(repo.Entry, "it leads git to "+dir)
		}
	}
	return dirs
}

// leads says whether a .git file of a linked working tree or a submodule is where it should be: gone with all that was
// beside it, or leading to a git directory that names it back.
func (g *Guard) leads(path string, has bool) bool {
	top := filepath.Dir(path)
	if !has {
		entries, err := os.ReadDir(top)
		return err != nil || len(entries) == 0
	}
	repo, ok := git.At(top, "")
	return ok && len(repo.Dirs) > 0 && g.inside("/", repo.Dirs[0]) && repo.NamesBack(top)
}

// moveAway moves a path away.
func (g *Guard) moveAway(path, why string) {
	root, rel, ok := g.rootOf(path)
	if !ok || g.lets(path) {
		return
	}
	dir, err := place{root: root, rel: filepath.Clean(filepath.Dir(rel))}.open(true)
	if err != nil {
		return
	}
	defer dir.Close()
	if !g.older(dir, filepath.Base(path)) {
		g.undo(dir, path, filepath.Base(path), why)
	}
}

// compareGit compares a git directory with what it was: by its identity, since it may have been moved. A new one
// is compared with what git itself makes. New links are looked for only with links, which takes longest.
func (g *Guard) compareGit(path string, links, end bool) {
	root, rel, ok := g.rootOf(path)
	if !ok {
		return
	}
	dir, err := place{root: root, rel: rel}.open(true)
	if err != nil {
		return
	}
	defer dir.Close()
	dev, ino, err := identity(dir)
	if err != nil {
		return
	}
	k := g.keptGit(dev, ino, born(dir))
	if k == nil && g.wasGit(dir, path) {
		g.keepIn(root, rel, true, gitNames)
		return
	}
	if k == nil {
		k = &KeptDir{Root: root.path, Path: []byte(rel), Dev: dev, Ino: ino, Born: born(dir), Git: true, Names: gitNames, Files: map[string]KeptFile{}, good: map[string][]byte{}, made: true}
		g.kept = append(g.kept, k)
		g.watcher.addGit(path, dir)
		if filepath.Base(path) != gitDir && g.hadHooks(dir) {
			g.undo(dir, filepath.Join(path, "HEAD"), "HEAD", "it makes git obey the files beside it")
			return
		}
	}
	if links {
		g.unlink(dir, path, "", k)
	}
	k.waits = !links && !end
	g.compare(root, rel, k, end && exists(filepath.Join(path, "HEAD")))
	if end {
		g.clearTodo(dir, path, k)
		g.clearStrategy(dir, path, "rebase-merge", "strategy", strings.TrimSpace)
		g.clearStrategy(dir, path, "sequencer", "opts", git.StrategyOf)
	}
}

// wasGit says whether a git directory that is not known was one before the command: the search for repositories finds
// only the nearest ones, and finds others when some of those are gone.
func (g *Guard) wasGit(dir *os.File, path string) bool {
	if g.older(dir, ".") || filepath.Base(path) == gitDir && g.older(dir, "..") {
		return true
	}
	return g.older(dir, "HEAD") && g.older(dir, "objects") && g.older(dir, "refs")
}

// hadHooks says whether what git would obey in a directory was there before the command.
func (g *Guard) hadHooks(dir *os.File) bool {
	if _, err := readIn(dir, "config", maxKeptFile); err == nil && g.older(dir, "config") {
		return true
	}
	hooks, err := reopen(dir, "hooks", false)
	if err != nil {
		return false
	}
	defer hooks.Close()
	names, _ := hooks.Readdirnames(maxKeptFiles)
	return slices.ContainsFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".sample") && g.older(hooks, name) })
}

// maybe says whether something new may be at a path of a git directory, which the command made or not.
func (g *Guard) maybe(at, path string, is KeptFile, made bool) bool {
	text := strings.TrimSpace(string(is.Text))
	switch {
	case path == "hooks":
		return is.Dir
	case strings.HasPrefix(path, "hooks/"):
		return is.regular() && strings.HasSuffix(path, ".sample")
	case path == "objects/info/alternates":
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" && !strings.HasPrefix(line, "#") && !g.inside(filepath.Join(at, "objects"), line) {
				return false
			}
		}
		return is.regular()
	case path == "gitdir":
		return is.regular() && (g.inside(at, text) || leadsTo(text, at))
	case path == "commondir":
		return made && is.regular() && text == "../.." // What git writes for a linked working tree.
	}
	return false
}

// follows says whether the gitdir of a working tree says where that has been moved, or is being written.
func (g *Guard) follows(at string, is KeptFile, end bool) bool {
	text := strings.TrimSpace(string(is.Text))
	return is.regular() && (leadsTo(text, at) || text == "" && !end)
}

// leadsTo says whether a .git file is that of a working tree whose git directory is dir.
func leadsTo(entry, dir string) bool {
	repo, ok := git.At(filepath.Dir(entry), "")
	return ok && repo.Entry == entry && repo.Dirs != nil && repo.Dirs[0] == git.Resolve(dir)
}

// inside says whether a path, which may be relative to a directory, leads into the roots.
func (g *Guard) inside(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	_, _, ok := g.rootOf(git.Resolve(path))
	return ok
}

// maxBelowGit bounds how deep links are looked for in a git directory.
const maxBelowGit = 32

// writtenDirs are the directories in a git directory that git writes to, without those that have a look of their own.
var writtenDirs = []string{"info", "logs", "objects", "rebase-apply", "rebase-merge", "refs", "reftable", "sequencer"}

// writes says whether git may write to a name in a git directory. A bare repository may have working trees and all else
// beside what is git's.
func writes(name, dir string) bool {
	if strings.Contains(dir+"/", "/"+gitDir+"/") || strings.ToUpper(name) == name || slices.Contains(writtenDirs, name) {
		return true
	}
	return slices.Contains([]string{"config", "description", "gc.log", "gc.pid", "index", "packed-refs", "shallow"}, strings.TrimSuffix(name, ".lock"))
}

// unlink removes new links from a git directory, or from one in it: git would write through them to somewhere else. It
// leaves out what git never writes to, and what has a look of its own.
func (g *Guard) unlink(dir *os.File, path, rel string, k *KeptDir) {
	entries, err := dir.ReadDir(-1)
	if err != nil || strings.Count(rel, "/") > maxBelowGit {
		return
	}
	for _, e := range entries {
		name := e.Name()
		at := filepath.Join(rel, name)
		switch {
		case rel == "" && !writes(name, path):
		case e.Type()&os.ModeSymlink != 0:
			full := filepath.Join(path, at)
			link, _ := readLink(dir, name)
			// git tries whether there are links, by one to this name.
			if _, known := k.Files[at]; !known && link != "testing" && !g.older(dir, name) && !g.lets(full) {
				m := g.note(full, "git would write through it")
				m.Err = unix.Unlinkat(int(dir.Fd()), name, 0)
			}
		case rel == "" && !slices.Contains(writtenDirs, name), strings.HasPrefix(at, "objects/"):
		case e.IsDir():
			if sub, err := reopen(dir, name, false); err == nil {
				g.unlink(sub, path, at, k)
				_ = sub.Close()
			}
		}
	}
}

// todo is the file with the remaining steps of a rebase.
const todo = "rebase-merge/git-rebase-todo"

// maxTodo bounds the bytes of the steps of a rebase that are read.
const maxTodo = 16 << 20

// isExec says whether a line of a rebase runs a command.
func isExec(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && (words[0] == "exec" || words[0] == "x")
}

// readTodo are the steps of a rebase in a git directory, with the directory that has the file and its name there.
func readTodo(dir *os.File) (at *os.File, name string, lines []string) {
	sub, name := filepath.Split(todo)
	at, err := reopen(dir, strings.TrimSuffix(sub, "/"), false)
	if err != nil {
		return nil, "", nil
	}
	text, err := readIn(at, name, maxTodo)
	if err != nil {
		_ = at.Close()
		return nil, "", nil
	}
	return at, name, strings.Split(string(text), "\n")
}

// clearStrategy removes the name of a new way to merge from what is under way: git runs it as a program, from a path in it
// too.
func (g *Guard) clearStrategy(dir *os.File, path, sub, name string, strategy func(text string) string) {
	at, err := reopen(dir, sub, false)
	if err != nil {
		return
	}
	defer at.Close()
	full := filepath.Join(path, sub, name)
	text, err := readIn(at, name, maxKeptFile)
	if errors.Is(err, unix.ENOENT) || err == nil && slices.Contains(strategies, strategy(string(text))) || g.older(at, name) || g.lets(full) {
		return
	}
	m := g.note(full, "git runs the program that it names")
	m.Err = unix.Unlinkat(int(at.Fd()), name, 0)
}

// strategies are git's own ways to merge.
var strategies = []string{"", "octopus", "ort", "ours", "recursive", "resolve", "subtree"}

// execsIn are the lines of a rebase in a git directory that run a command.
func execsIn(dir *os.File) (execs []string) {
	at, _, lines := readTodo(dir)
	if at == nil {
		return nil
	}
	defer at.Close()
	for _, line := range lines {
		if isExec(line) {
			execs = append(execs, line)
		}
	}
	return execs
}

// clearTodo removes new commands from a rebase that has not ended.
func (g *Guard) clearTodo(dir *os.File, path string, k *KeptDir) {
	at, name, lines := readTodo(dir)
	if at == nil {
		return
	}
	defer at.Close()
	isNew := func(line string) bool { return isExec(line) && !slices.Contains(k.Exec, line) }
	if slices.ContainsFunc(lines, isNew) && !g.lets(filepath.Join(path, todo)) {
		m := g.note(filepath.Join(path, todo), "git runs its exec lines")
		m.Settings, m.Back = []string{"exec"}, true
		m.Err = restore(at, name, KeptFile{Mode: 0o600, Text: []byte(strings.Join(slices.DeleteFunc(lines, isNew), "\n"))})
	}
}
