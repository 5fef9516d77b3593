package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"podd/pkg/scopefs"
)

const (
	// maxNested bounds the directories below the tops that are examined before a command.
	maxNested = 128
	// maxEntries is how many entries of a directory are checked one by one. In a larger one
	// only the usual names are checked.
	maxEntries = 8192
	// maxHold bounds the paths mounted read-only: each needs a descriptor, of which a
	// command gets few.
	maxHold = 128
	// maxDepth bounds the way through links that lead back.
	maxDepth = 16
)

// place is a directory to examine.
type place struct {
	root *guardedRoot
	// rel is its path from the root, without links; empty for the root.
	rel string
	// rule is the rule for the names in it, besides that for names in any directory; nil
	// without one.
	rule *scopefs.Protection
	// fixed says that it is a top, or on the way from one to a protected path.
	fixed bool
	depth int
}

func (p place) path(name string) string { return filepath.Join(p.root.path, p.rel, name) }

func (p place) below(name string, rule *scopefs.Protection) place {
	return place{p.root, filepath.Join(p.rel, name), rule, p.fixed && rule != nil, p.depth + 1}
}

// look is why a place is examined.
type look int

const (
	// before the command: existing paths are recorded.
	before look = iota
	// found is for paths found later, which may have existed all the time.
	found
	// appeared is for a path that has just appeared.
	appeared
)

// examineAll examines the tops of the roots, and before a command also the nearest
// directories below, which are then watched.
func (g *Guard) examineAll(how look) {
	var nested []place
	for _, root := range g.roots {
		if !root.bare {
			nested = append(nested, g.enter(place{root: root, rule: ruleAt(root.prefix), fixed: true}, how)...)
		}
	}
	for n := 0; how == before && n < maxNested && n < len(nested); n++ {
		nested = append(nested, g.enter(nested[n], how)...)
	}
}

// examineNested examines the watched directories below the tops.
func (g *Guard) examineNested() {
	for _, p := range g.watcher.at {
		if !p.fixed {
			g.enter(p, found)
		}
	}
}

// appeared examines a name that appeared in a place, and a new directory.
func (g *Guard) appeared(p place, name string, isDir bool) {
	rule := nextRule(p.rule, name)
	if rule == nil && (!isDir || !p.root.deep || g.watcher.full()) {
		return
	}
	dir, err := p.open(p.fixed || rule != nil)
	if err != nil {
		return
	}
	defer dir.Close()
	var nested []place
	if sub, ok := g.examine(p, dir, name, isDir, appeared); ok {
		nested = append(nested, sub)
	}
	for n := 0; n < len(nested) && !g.watcher.full(); n++ {
		nested = append(nested, g.enter(nested[n], found)...)
	}
}

// enter watches a place and examines everything in it. It returns the directories in it
// without a rule.
func (g *Guard) enter(p place, how look) (nested []place) {
	dir, err := p.open(p.fixed && how != before)
	if err != nil {
		g.closed(p, how, err)
		return nil
	}
	defer dir.Close()
	g.watcher.add(p, dir)
	all, err := g.entries(p, dir)
	if err != nil {
		g.closed(p, how, err)
	}
	for _, e := range all {
		if sub, ok := g.examine(p, dir, e.name, e.isDir, how); ok {
			nested = append(nested, sub)
		}
	}
	return nested
}

// closed handles a place that cannot be examined. Before a command it must not pass for
// an empty one.
func (g *Guard) closed(p place, how look, err error) {
	switch {
	case how != before || !p.fixed || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
	case errors.Is(err, fs.ErrPermission) && p.rel != "":
		// It is kept as a whole.
		g.there[p.path("")] = ""
		g.protect(p.path(""))
	case g.failed == nil:
		g.failed = err
	}
}

// examine examines one entry of a directory. It returns a directory without a rule.
func (g *Guard) examine(p place, dir *os.File, name string, isDir bool, how look) (nested place, ok bool) {
	rule := nextRule(p.rule, name)
	switch {
	case p.depth > maxDepth || name == gitDir || name == "node_modules" || g.isHidden(p, name):
	case strings.HasPrefix(name, asidePrefix):
		if p.fixed && how == found && g.watcher.stopped() {
			g.sweep(dir, name)
		}
	case rule == nil:
		if isDir && p.root.deep {
			return p.below(name, nil), true
		}
	case rule.Why() != "":
		g.leaf(p, dir, name, rule.Why(), how)
	case isDir:
		// Directories in one on the way are not examined. In one that has just appeared
		// everything is new.
		_ = g.enter(p.below(name, rule), how)
	default:
		g.way(p, dir, name, rule, how)
	}
	return place{}, false
}

// isHidden says whether a command does not see a name.
func (g *Guard) isHidden(p place, name string) bool {
	return len(g.hidden) > 0 && slices.Contains(g.hidden, p.path(name))
}

// leaf examines a path with a protected name.
func (g *Guard) leaf(p place, dir *os.File, name, why string, how look) {
	path := p.path(name)
	if g.lets(path) {
		return
	}
	link, isLink := readLink(dir, name)
	was, there := g.there[path]
	switch {
	case how == before:
		g.there[path] = link
		switch {
		case !p.fixed:
		case isLink:
			g.protectTarget(path)
		default:
			g.protect(path)
		}
	case there && (was == "" || isLink && was == link):
	case !there && how == found && g.older(dir, name):
		// A directory was moved with it.
		g.there[path] = link
	case g.undo(dir, path, name, why) && there:
		_ = unix.Symlinkat(was, int(dir.Fd()), name)
	}
}

// older says whether a name existed before the command, and has not been touched since.
func (g *Guard) older(dir *os.File, name string) bool {
	var stat unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	// A file system's clock may be a little behind.
	return time.Unix(stat.Ctim.Unix()).Before(g.began.Add(-50 * time.Millisecond))
}

// protect mounts a path read-only.
func (g *Guard) protect(path string) {
	switch {
	case slices.Contains(g.hold, path):
	case g.sandbox.mode != Bwrap || len(g.hold) >= maxHold || isLink(path): // No mount holds a link.
		g.keep(path)
	default:
		g.hold = append(g.hold, path)
	}
}

// protectTarget protects the target of a link if a command could change it.
func (g *Guard) protectTarget(path string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if _, rel, ok := g.rootOf(target); ok && rel != "" && !g.lets(target) {
		g.protect(target)
	}
}

// way examines a name on the way to a protected path that is not a directory now.
func (g *Guard) way(p place, dir *os.File, name string, rule *scopefs.Protection, how look) {
	link, isLink := readLink(dir, name)
	path := p.path(name)
	if !isLink || g.lets(path) {
		return
	}
	was, there := g.there[path]
	switch {
	case how == before, !there && how == found && g.older(dir, name):
		g.there[path] = link
	case !there || was != link:
		if g.undo(dir, path, name, "programs obey files in a directory of this name") && there {
			_ = unix.Symlinkat(was, int(dir.Fd()), name)
		}
		return
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if root, rel, ok := g.rootOf(target); ok && p.fixed && !slices.Contains(g.hidden, target) {
		_ = g.enter(place{root, rel, rule, true, p.depth + 1}, how)
	}
}

// restoreLinks restores missing links.
func (g *Guard) restoreLinks() {
	for path, link := range g.there {
		root, rel, ok := g.rootOf(path)
		if link == "" || !ok || g.lets(path) {
			continue
		}
		parent, name := filepath.Split(rel)
		p := place{root: root, rel: filepath.Clean(parent)}
		if dir, err := p.open(true); err == nil {
			// If something else is in its place, leaf has handled it.
			if unix.Symlinkat(link, int(dir.Fd()), name) == nil {
				g.note(path, "it is a link that other programs follow to what they obey")
			}
			_ = dir.Close()
		}
	}
}

// readLink is the target of a link; isLink is false for anything else.
func readLink(dir *os.File, name string) (link string, isLink bool) {
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(dir.Fd()), name, text)
	if err != nil {
		return "", false
	}
	return string(text[:n]), true
}

// open opens the place step by step, through no link. With force it opens up a directory
// that its owner has closed.
func (p place) open(force bool) (*os.File, error) {
	at, err := reopen(p.root.dir, ".", force)
	for name := range strings.SplitSeq(p.rel, "/") {
		if err != nil || name == "" || name == "." {
			continue
		}
		var next *os.File
		next, err = reopen(at, name, force)
		_ = at.Close()
		at = next
	}
	return at, err
}

// reopen opens a directory in another one.
func reopen(at *os.File, name string, force bool) (*os.File, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(int(at.Fd()), name, unix.O_RDONLY|flags, 0)
	if force && errors.Is(err, unix.EACCES) {
		openUp(int(at.Fd()))
		if closed, err := unix.Openat(int(at.Fd()), name, unix.O_PATH|flags, 0); err == nil {
			openUp(closed)
			_ = unix.Close(closed)
		}
		fd, err = unix.Openat(int(at.Fd()), name, unix.O_RDONLY|flags, 0)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(at.Name(), name)), nil
}

// openUp gives a directory's owner all permissions. A directory of another owner cannot
// have been closed by a command.
func openUp(fd int) {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) == nil {
		// Not by fchmod, which an O_PATH descriptor refuses.
		_ = unix.Chmod(descriptorPath(fd), stat.Mode&0o7777|0o700)
	}
}

// entry is a name in a directory.
type entry struct {
	name  string
	isDir bool
}

// entries are the names in a directory. Of a very large one they are the names in the
// rules, as they are commonly written.
func (g *Guard) entries(p place, dir *os.File) ([]entry, error) {
	var all []entry
	if path := p.path(""); !g.large[path] {
		found, err := dir.ReadDir(maxEntries + 1)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for _, e := range found {
			all = append(all, entry{e.Name(), e.IsDir()})
		}
		if len(all) <= maxEntries {
			return all, nil
		}
		// It stays large, or names that were not seen at first would pass for new ones.
		g.large[path] = true
		all = nil
	}
	names := scopefs.Protections().Names()
	if p.rule != nil {
		names = append(names, p.rule.Names()...)
	}
	for _, name := range names {
		var stat unix.Stat_t
		if unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) == nil {
			all = append(all, entry{name, stat.Mode&unix.S_IFMT == unix.S_IFDIR})
		}
	}
	return all, nil
}
