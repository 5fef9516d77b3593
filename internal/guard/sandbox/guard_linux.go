package sandbox

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Guard keeps the protected paths of a pod's writable directories unchanged while a
// command runs. Existing ones are mounted read-only if the sandbox can; new ones are
// moved away, as soon as they appear and once more when the command has ended. Existing
// paths that were not touched are never moved.
//
// That is so for the fixed paths from the top of a directory. In the nearest directories
// below, only new paths are moved away.
//
// Make a Guard before its command starts. Close must follow; after Watch, End must.
type Guard struct {
	sandbox *Sandbox
	log     *slog.Logger
	roots   []*guardedRoot
	// away creates the directory to which things are moved.
	away func() (string, error)
	// hold are the paths to mount read-only.
	hold []string
	// hidden are paths that the command does not see.
	hidden []string
	// unseen are all such paths, if they were found.
	unseen *unseen
	// indexes are those of the working trees that the command can change files of.
	indexes []index
	began   time.Time
	// failed is what kept the first look from being complete.
	failed  error
	watcher *watcher
	done    sync.WaitGroup

	mu sync.Mutex
	// changes are the paths that a person agreed to.
	changes []string
	// there has what was at protected paths: the target of a link, otherwise empty.
	there map[string]string
	// large are directories in which only the usual names are checked.
	large map[string]bool
	moved map[string]*Moved
	order []string
	// aside are things that could only be renamed in place; garbage is what no result names.
	aside   []aside
	garbage []string
	// forget are paths that are gone, for other guards.
	forget []string
	// kept are the paths that no mount protects.
	kept []*KeptDir
	// room is how many bytes of them may still be read to be put back.
	room int64
}

// guardedRoot is a directory, opened.
type guardedRoot struct {
	path   string
	prefix string
	dir    *os.File
	// deep says that directories in it are watched, too; bare that it is a git directory.
	deep, bare bool
}

// Guard examines the directories that a command of the scope can change. The command may
// change the paths of changes, which are absolute. Without a sandbox it returns nil.
func (s *Sandbox) Guard(scope Scope, changes []string) (*Guard, error) {
	return s.guard(scope, changes, newWatcher(&s.spare))
}

func (s *Sandbox) guard(scope Scope, changes []string, watcher *watcher) (*Guard, error) {
	scope = scope.reading()
	g := s.newGuard(changes, watcher)
	for _, root := range scope.Roots {
		if !root.Writable {
			continue
		}
		dir, err := root.Open()
		if err != nil {
			g.Close()
			return nil, err
		}
		g.roots = append(g.roots, &guardedRoot{path: root.Path, prefix: root.Prefix, dir: dir, deep: true})
	}
	for _, path := range s.shared(scope) {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			var dir *os.File
			if dir, err = openDir(resolved); err == nil {
				g.roots = append(g.roots, &guardedRoot{path: resolved, dir: dir})
			}
		}
		if err != nil {
			g.Close()
			return nil, err
		}
	}
	for _, path := range changes {
		s.Allow(path) // Commands that run already would take it back.
	}
	g.hidden = s.hiddenIn(g, scope)
	s.guards.Store(g, nil)
	g.mu.Lock()
	g.failed = g.guardGit(scope)
	g.examineAll(before)
	g.mu.Unlock()
	if g.failed != nil {
		g.Close()
		return nil, fmt.Errorf("what is protected cannot be looked at: %w", g.failed)
	}
	return g, nil
}

// hiddenIn are the paths in a guard's roots that its command does not see.
func (s *Sandbox) hiddenIn(g *Guard, scope Scope) []string {
	if s.mode != Bwrap {
		return nil
	}
	all := s.unseen()
	g.unseen = &all
	hidden := slices.DeleteFunc(slices.Clone(all.others), func(path string) bool { return !s.visible(scope, path) })
	return slices.DeleteFunc(append(hidden, all.own...), func(path string) bool {
		_, _, ok := g.rootOf(path)
		return !ok
	})
}

func (s *Sandbox) newGuard(changes []string, watcher *watcher) *Guard {
	return &Guard{
		sandbox: s, log: slog.New(slog.DiscardHandler), began: time.Now(), changes: slices.Clone(changes),
		there: map[string]string{}, large: map[string]bool{}, moved: map[string]*Moved{}, watcher: watcher, room: maxKeptAll,
	}
}

// Resume is the guard of a command that an earlier podd started. It ignores a directory
// that is a different one now.
func (s *Sandbox) Resume(note GuardNote) *Guard {
	g := s.newGuard(note.Changes, newWatcher(&s.spare))
	g.began, g.hidden, g.hold, g.kept = note.Began, note.Hidden, note.Hold, note.Kept
	for _, k := range g.kept {
		k.good = map[string][]byte{}
		if k.Files == nil {
			k.Files = map[string]KeptFile{}
		}
	}
	for _, path := range note.Large {
		g.large[path] = true
	}
	for _, root := range note.Roots {
		dir, err := os.OpenFile(root.Path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if dev, ino, err := identity(dir); err != nil || dev != root.Dev || ino != root.Ino {
			_ = dir.Close()
			continue
		}
		g.roots = append(g.roots, &guardedRoot{root.Path, root.Prefix, dir, root.Deep, root.Bare})
	}
	for _, path := range note.There {
		g.there[string(path.Path)] = string(path.Link)
	}
	s.guards.Store(g, nil)
	return g
}

// Note is what Resume needs; nil without a guard.
func (g *Guard) Note() (*GuardNote, error) {
	if g == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	note := &GuardNote{Began: g.began, Changes: slices.Clone(g.changes), Hidden: g.hidden, Hold: g.hold, Large: slices.Sorted(maps.Keys(g.large))}
	for _, root := range g.roots {
		dev, ino, err := identity(root.dir)
		if err != nil {
			return nil, err
		}
		note.Roots = append(note.Roots, GuardedRoot{root.path, dev, ino, root.prefix, root.deep, root.bare})
	}
	for _, k := range g.kept {
		copied := *k
		copied.Files = maps.Clone(k.Files)
		note.Kept = append(note.Kept, &copied)
	}
	for _, path := range slices.Sorted(maps.Keys(g.there)) {
		note.There = append(note.There, GuardedPath{[]byte(path), bytes.Clone([]byte(g.there[path]))})
	}
	return note, nil
}

func identity(file *os.File) (dev, ino uint64, err error) {
	var stat unix.Stat_t
	err = unix.Fstat(int(file.Fd()), &stat)
	return stat.Dev, stat.Ino, err
}

// Held are the paths mounted read-only.
func (g *Guard) Held() []string { return g.hold }

// Watch starts to move away what appears, to a directory that away creates.
func (g *Guard) Watch(away func() (string, error), log *slog.Logger) {
	if g == nil {
		return
	}
	g.away, g.log = away, log
	g.done.Go(func() {
		// No event reports earlier changes.
		g.pass(func() { g.examineAll(found); g.compareAll(false) })
		g.watcher.run(g)
	})
}

// pass acts with the guard locked, and reports the result to the others.
func (g *Guard) pass(do func()) {
	g.mu.Lock()
	do()
	forget := g.forget
	g.forget = nil
	g.mu.Unlock()
	if len(forget) > 0 {
		g.sandbox.each(func(other *Guard) {
			if other != g {
				other.mu.Lock()
				defer other.mu.Unlock()
				for _, path := range forget {
					delete(other.there, path)
				}
			}
		})
	}
}

// End is called when no process of the command is left: it checks once more, and returns
// what was taken back, in order.
func (g *Guard) End() (undone Undone) {
	g.watcher.stop()
	g.done.Wait()
	g.pass(func() {
		g.watcher.drain(g)
		g.examineAll(found)
		if g.watcher.blind.Load() {
			g.examineNested()
		}
		g.restoreLinks()
		g.compareAll(true)
		undone.Behind, undone.Left = g.behind()
		g.tidy()
	})
	g.Close()
	for _, path := range g.order {
		m := *g.moved[path]
		if rel, below := strings.CutPrefix(path, g.roots[0].path+"/"); below {
			m.Path = rel
		}
		undone.Moved = append(undone.Moved, m)
	}
	return undone
}

// Stubborn is a path that the command changes again and again, although it is put back; empty without one.
func (g *Guard) Stubborn() string {
	if g == nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, m := range g.moved {
		if m.times > maxBack {
			return path
		}
	}
	return ""
}

// Close ends a guard without a check. It may be called again, after End, and on nil.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.watcher.stop()
	g.done.Wait()
	g.sandbox.guards.Delete(g)
	g.watcher.close()
	for _, root := range g.roots {
		_ = root.dir.Close()
	}
	for _, x := range g.indexes {
		x.Close()
	}
}

// lets says whether a person agreed to the change of a path.
func (g *Guard) lets(path string) bool {
	return slices.ContainsFunc(g.changes, func(change string) bool { return within(change, path) })
}

// Allow is for a change that a person agreed to while commands run: their guards leave
// the path alone.
func (s *Sandbox) Allow(path string) {
	if s == nil {
		return
	}
	s.each(func(g *Guard) {
		root, rel, ok := g.rootOf(path)
		if !ok {
			return
		}
		what, _, err := unit(root.prefix, rel)
		if err != nil {
			what = rel // The configuration of git names it.
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.changes = append(g.changes, filepath.Join(root.path, what))
	})
}

func (s *Sandbox) each(do func(*Guard)) {
	s.guards.Range(func(g, _ any) bool {
		do(g.(*Guard))
		return true
	})
}

// rootOf is the innermost root that contains a path.
func (g *Guard) rootOf(path string) (root *guardedRoot, rel string, ok bool) {
	for _, r := range g.roots {
		if within(r.path, path) && (root == nil || len(r.path) > len(root.path)) {
			root = r
		}
	}
	if root == nil {
		return nil, "", false
	}
	return root, strings.TrimPrefix(strings.TrimPrefix(path, root.path), "/"), true
}
