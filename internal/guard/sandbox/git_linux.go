package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"podd/internal/workspace/git"
)

// ofGitDir are what git executes or obeys in a git directory.
var ofGitDir = []string{"hooks", "config", "config.worktree", "commondir", "gitdir", "worktrees", "modules", "objects/info/alternates"}

// repositories limits a command's changes to repositories. Directories come before their
// contents.
func (m *mounts) repositories() error {
	for _, dir := range m.scope.GitDirs {
		if err := m.outside(dir); err != nil {
			return err
		}
	}
	if m.scope.Git == GitAll {
		return nil
	}
	var entries, dirs, obeyed []string
	for _, root := range m.roots {
		repos, whole := git.Find(root.path, m.sandbox.variable("HOME"))
		m.command.Held.Roots = append(m.command.Held.Roots, heldRoot(root.path, repos, whole))
		for _, repo := range repos {
			entries, dirs, obeyed = append(entries, repo.Entry), append(dirs, repo.Dirs...), append(obeyed, repo.Obeyed...)
		}
	}
	for _, dir := range byDepth(dirs) {
		switch {
		case m.isRoot(dir):
			m.work(dir)
		case m.scope.Git == GitWork:
			m.reopen(dir)
			m.work(dir)
		default:
			m.hold(dir)
		}
	}
	for _, path := range byDepth(slices.Concat(entries, obeyed)) {
		if !slices.Contains(dirs, path) {
			m.hold(path)
		}
	}
	return nil
}

// outside makes a git directory writable that is in no root.
func (m *mounts) outside(dir string) error {
	for _, hidden := range slices.Concat(m.unseen.own, m.unseen.others) {
		if within(hidden, dir) || within(dir, hidden) {
			return fmt.Errorf("the git directory %s overlaps %s, which no command sees", dir, hidden)
		}
	}
	if !git.IsDir(dir) {
		return fmt.Errorf("%s is no git directory", dir)
	}
	file, err := openDir(dir)
	if err != nil {
		return err
	}
	m.writable(dir, file)
	return nil
}

// byDepth sorts paths so that a directory comes before its contents, each once.
func byDepth(paths []string) []string {
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(paths)
}

// work makes read-only what git executes or obeys in a writable git directory, and in
// those inside of it.
func (m *mounts) work(dir string) {
	root, rel, ok := m.rootOf(dir)
	switch {
	case m.worked[dir]:
		return
	case m.isRoot(dir):
		root.path, rel = dir, "."
	case !ok || m.pinned[dir] == nil:
		return
	}
	m.worked[dir] = true
	if at := m.pinned[dir]; at != nil && git.IsDir(dir) {
		// An existing path can be mounted, which is better than repairing it later; git ignores
		// an empty one.
		for _, name := range []string{"hooks", "worktrees", "modules"} {
			_ = unix.Mkdirat(int(at.Fd()), name, 0o755)
		}
	}
	for _, name := range ofGitDir {
		m.hold(filepath.Join(dir, name))
	}
	m.command.Held.Dirs = append(m.command.Held.Dirs, heldDir(root.path, rel))
	for _, below := range git.Below(dir) {
		m.reopen(below)
		m.work(below)
	}
}

// hold makes a path below a root read-only. One that cannot be mounted is left to whoever
// runs the command.
func (m *mounts) hold(path string) {
	root, rel, ok := m.rootOf(path)
	if !ok || !m.writableAt(filepath.Dir(path)) || m.protect(path) {
		return
	}
	held := HeldPath{Root: root.path, Path: rel}
	if target, err := os.Readlink(path); err == nil {
		held.Link = target
	} else if _, err := os.Lstat(path); err == nil {
		return
	}
	m.command.Held.Paths = append(m.command.Held.Paths, held)
}

// reopen makes a directory below a root writable, even if its parent is read-only.
func (m *mounts) reopen(path string) {
	if m.mode[path] {
		return
	}
	if file := m.descend(path); file != nil {
		m.add(path, "--bind-fd", m.command.add(file), path)
		m.pinned[path], m.mode[path] = file, true
	}
}
