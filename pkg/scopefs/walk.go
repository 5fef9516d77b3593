package scopefs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"podd/pkg/scopefs/ignore"
)

// gitDir is what a walk never visits: the git directory of a repository.
const gitDir = ".git"

// maxDepth bounds the directories that a walk has open.
const maxDepth = 200

// WalkOptions says what a walk visits.
type WalkOptions struct {
	// MaxDepth is how many levels are visited; 0 means all. 1 is the directory's own
	// entries.
	MaxDepth int
	// Ignored visits what .gitignore files rule out, too.
	Ignored bool
}

// Entry is something that a walk found.
type Entry struct {
	// Path is the path to show: relative to the workspace if it is inside.
	Path string
	// Depth is 1 for the entries of the directory where the walk began.
	Depth int
	Type  fs.FileMode
	// Size is in bytes; meaningful for regular files.
	Size    int64
	ModTime time.Time
	// Err says why the entries of this directory are not visited; otherwise nil.
	Err error
}

// IsDir says whether the entry is a directory. A link to one is not.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// Walk calls fn for everything below a directory, each directory before its
// entries, which come sorted by name. A regular file is its own only entry, with
// depth 0.
//
// It does not follow links and never visits .git. Unless opt.Ignored is set it omits what
// git ignores, by the .gitignore files from the root of the scope down and by
// .git/info/exclude. An ignored directory can still be walked by its name.
//
// If fn returns [fs.SkipDir], the walk skips a directory's entries (for anything else,
// the rest of its directory). [fs.SkipAll] ends the walk without an error, and any other
// error ends it with that error. So does the end of ctx.
func (f *FS) Walk(ctx context.Context, dir string, opt WalkOptions, fn func(Entry) error) error {
	return f.walk(ctx, dir, opt, func(_ string, e Entry) error { return fn(e) })
}

// walk is Walk with the entry's path relative to dir as well.
func (f *FS) walk(ctx context.Context, dir string, opt WalkOptions, fn func(rel string, e Entry) error) error {
	p, err := f.locate(dir)
	if err != nil {
		return err
	}
	info, err := f.stat(p)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if err := regular(dir, info); err != nil {
			return err
		}
		return endOfWalk(fn(path.Base(p.rel), newEntry(f.Rel(dir), 0, info)))
	}
	if p, err = f.follow(p, true); err != nil {
		return err
	}
	if opt.MaxDepth <= 0 || opt.MaxDepth > maxDepth {
		opt.MaxDepth = maxDepth
	}
	w := walker{ctx: ctx, fs: f, opt: opt, fn: fn}
	top := branch{rel: p.rel, shown: f.Rel(dir)}
	if !opt.Ignored {
		top.ignoring, _ = rulesAbove(p)
	}
	if err := w.openTop(&top, p); err != nil {
		return f.wrap(dir, err)
	}
	defer top.dir.Close()
	return endOfWalk(w.visit(&top))
}

// rulesAbove returns the rules of the directories between the root and the place, and
// whether they ignore the place itself or a directory that contains it. Rules around a
// repository do not apply inside of it.
func rulesAbove(p place) (g *ignore.Rules, ignored bool) {
	for at := range parents(p.rel) {
		_, err := p.Lstat(path.Join(at, gitDir))
		g = g.Enter(p.Root, at, at, err == nil, true)
		ignored = ignored && err != nil || g.Ignores(stepDown(at, p.rel), true)
	}
	return g, ignored
}

// stepDown is the entry of the directory at that is on the way to rel.
func stepDown(at, rel string) string {
	start := 0
	if at != "." {
		start = len(at) + 1
	}
	if i := strings.IndexByte(rel[start:], '/'); i >= 0 {
		return rel[:start+i]
	}
	return rel
}

// parents yields the directories above rel, the root first.
func parents(rel string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if rel == "." || !yield(".") {
			return
		}
		for i, c := range rel {
			if c == '/' && !yield(rel[:i]) {
				return
			}
		}
	}
}

func endOfWalk(err error) error {
	if errors.Is(err, fs.SkipAll) || errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

func newEntry(shown string, depth int, info fs.FileInfo) Entry {
	return Entry{Path: shown, Depth: depth, Type: info.Mode().Type(), Size: info.Size(), ModTime: info.ModTime()}
}

type walker struct {
	ctx context.Context
	fs  *FS
	// opening is set if something hidden may be on the way.
	opening *opening
	opt     WalkOptions
	fn      func(rel string, e Entry) error
}

// branch is a directory that a walk is in.
type branch struct {
	dir     *os.Root
	entries []fs.DirEntry
	// rel is relative to the root of the scope, below to the start of the walk (empty
	// there), and shown is the path to show.
	rel, below, shown string
	depth             int
	ignoring          *ignore.Rules
}

// openTop opens the directory at a place, as open does for those below.
func (w *walker) openTop(b *branch, p place) error {
	if p.near || w.fs.bound != nil {
		o := w.fs.newOpening(false)
		w.opening = &o
	}
	dir, err := w.fs.dirAt(p)
	if err != nil {
		return err
	}
	return w.read(b, dir)
}

// open opens the directory at name in parent and reads its entries and rules. On
// success the caller closes b.dir.
func (w *walker) open(b *branch, parent *os.Root, name string) error {
	var dir *os.Root
	var err error
	if w.opening != nil {
		dir, err = w.opening.step(parent, name)
		err = w.fs.at(b.shown, err)
	} else {
		// With "/." only a directory opens, whatever name is by now.
		dir, err = parent.OpenRoot(name + "/.")
	}
	if err != nil {
		return err
	}
	return w.read(b, dir)
}

// read reads the entries and rules of a directory opened for b.
func (w *walker) read(b *branch, dir *os.Root) (err error) {
	if b.entries, err = readRoot(dir, b.shown); err != nil {
		return errors.Join(err, dir.Close())
	}
	b.dir = dir
	if !w.opt.Ignored {
		b.ignoring = b.ignoring.Enter(dir, ".", b.rel, b.has(gitDir), b.has(ignore.File))
	}
	return nil
}

func readRoot(dir *os.Root, shown string) ([]fs.DirEntry, error) {
	file, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSorted(file, shown)
}

// has says whether the directory has an entry of this name.
func (b *branch) has(name string) bool {
	_, found := slices.BinarySearchFunc(b.entries, name, func(e fs.DirEntry, name string) int {
		return cmp.Compare(e.Name(), name)
	})
	return found
}

// leavesOut says whether to omit the entry, which is at rel.
func (b *branch) leavesOut(rel string, e fs.DirEntry) bool {
	return e.Name() == gitDir || b.ignoring.Ignores(rel, e.IsDir())
}

// visit calls fn for the entries of b and all below them.
func (w *walker) visit(b *branch) error {
	for _, e := range b.entries {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		rel := path.Join(b.rel, e.Name())
		if b.leavesOut(rel, e) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // It is gone.
		}
		err = w.visitEntry(b, rel, info)
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visitEntry calls fn for one entry and visits it if it is a directory. SkipDir
// means the rest of b.
func (w *walker) visitEntry(b *branch, rel string, info fs.FileInfo) error {
	child := branch{
		rel: rel, below: path.Join(b.below, info.Name()), shown: path.Join(b.shown, info.Name()),
		depth: b.depth + 1, ignoring: b.ignoring,
	}
	entry := newEntry(child.shown, child.depth, info)
	switch {
	case !entry.IsDir():
		return w.fn(child.below, entry)
	case child.depth == maxDepth:
		entry.Err = sayf(TooLarge, child.shown, nil, "is more than %d levels deep: walk it by its name", maxDepth)
	case child.depth < w.opt.MaxDepth:
		entry.Err = w.fs.wrap(child.shown, w.open(&child, b.dir, info.Name()))
	}
	if child.dir != nil {
		defer child.dir.Close()
	}
	err := w.fn(child.below, entry)
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil || child.dir == nil {
		return err
	}
	return w.visit(&child)
}
