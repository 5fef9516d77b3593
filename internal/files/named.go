package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"podd/pkg/scopefs"
	"podd/pkg/scopefs/ignore"
)

// maxCovers is how many files of a pod are covered that looks leave out: the last ones.
const maxCovers = 200

// named says whether one of the absolute paths is, or lies below, a path of the directory.
func (w *Workspace) named(paths []string, rel string) bool {
	for _, p := range paths {
		// A tool makes the directories on the way to its file.
		if in, ok := w.within(p); ok && (in == rel || strings.HasPrefix(in, rel+"/")) {
			return true
		}
	}
	return false
}

func (w *Workspace) within(path string) (rel string, ok bool) {
	rel, err := filepath.Rel(w.dir, path)
	return rel, err == nil && filepath.IsLocal(rel) && rel != "."
}

// inside are those of absolute paths that lie in the directory, relative to it.
func (w *Workspace) inside(paths []string) (rels []string) {
	for _, path := range paths {
		if rel, ok := w.within(path); ok {
			rels = append(rels, rel)
		}
	}
	return rels
}

// coverage is how the left-out files that two checkpoints cover differ: old are those of the first.
type coverage struct{ old, fresh, gone []string }

func compare(old, now []string) coverage {
	less := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(rel string) bool { return slices.Contains(b, rel) })
	}
	return coverage{old: old, fresh: less(now, old), gone: less(old, now)}
}

// changed says that the coverage makes the change: nothing happened to the path.
func (c coverage) changed(ch change) bool {
	of := c.fresh
	switch {
	case ch.Old.Exists() && ch.New.Exists():
		return false
	case ch.Old.Exists():
		of = c.gone
	}
	return through(of, ch.Path)
}

// looked says that the first checkpoint would have the path if it had been there.
func (c coverage) looked(rel string) bool { return through(c.old, rel) }

// through says whether a path is one of others, or a directory on the way to one.
func through(others []string, rel string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return o == rel || strings.HasPrefix(o, rel+"/") })
}

// overlay reads the left-out files that a checkpoint covers.
type overlay struct {
	repo *repo
	root *os.Root
	scan *scanner
	// before is what the last checkpoint has, stamps are those of the last look.
	before *node
	stamps map[string]looked
}

// cover adds named files that the look left out to those that the last checkpoint covers.
func (o *overlay) cover(s *seen, named []string) {
	for _, rel := range named {
		if never(rel, o.scan.hidden) || slices.Contains(s.covers, rel) || find(s.scan, rel) != nil {
			continue
		}
		f, err := statAt(o.root, rel)
		if err != nil || f.IsDir() || f.size > maxFile {
			continue
		}
		_, ignored := rulesAt(o.root, rel)
		if f.Exists() || ignored {
			s.covers = append(s.covers, rel)
		}
	}
	if n := len(s.covers) - maxCovers; n > 0 {
		s.covers = s.covers[n:]
	}
}

// never says that no checkpoint may have a path.
func never(rel string, hidden map[string]bool) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if name := path.Base(rel); name == ".git" || scopefs.Writing(name) || hidden[rel] {
			return true
		}
	}
	return false
}

// find is the node of a path in a tree that is read.
func find(n *node, rel string) *node {
	for name := range strings.SplitSeq(rel, "/") {
		n = n.kid(name)
	}
	return n
}

// looked is what a path has, with the stamp of the look.
type looked struct {
	File
	stamp
}

// statAt is what a path has, without its bytes; one in no directory has nothing.
func statAt(root *os.Root, rel string) (f looked, err error) {
	dir, name, err := way(root, rel, false)
	if err == nil {
		defer dir.Close()
		var st unix.Stat_t
		err = at(dir, func(fd int) error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
		f = looked{File{Mode: modeOf(&st)}, stampOf(&st)}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errWay) {
		return looked{}, nil
	}
	return f, err
}

// add adds the covered files to what a look found, and the directories on the way to them.
func (o *overlay) add(out *seen) (err error) {
	out.root, out.stamps = out.scan, make(map[string]looked)
	for _, rel := range out.covers {
		if find(out.scan, rel) != nil {
			continue
		}
		names := strings.Split(rel, "/")
		if err := o.way(out, names); err != nil {
			return err
		}
		f, err := o.again(rel)
		if err != nil {
			// What can't be read stays as it was.
			if f, err = o.repo.kept(o.before, names); err != nil {
				return err
			}
		}
		if !f.Exists() {
			continue
		}
		out.stamps[rel] = f
		if out.root, err = o.repo.with(out.root, "", names, f.File); err != nil {
			return err
		}
	}
	return nil
}

// way adds the directories on the way to a file.
func (o *overlay) way(out *seen, names []string) error {
	for i := 1; i < len(names); i++ {
		at := path.Join(names[:i]...)
		if find(out.root, at) != nil {
			continue
		}
		dir, err := statAt(o.root, at)
		if err != nil || !dir.IsDir() {
			return nil
		}
		if out.root, err = o.repo.with(out.root, "", names[:i], File{Mode: typeDir | dir.Mode&0o777}); err != nil {
			return err
		}
	}
	return nil
}

// again reads a covered file, unless it is as the last look found it.
func (o *overlay) again(rel string) (f looked, err error) {
	f, err = statAt(o.root, rel)
	switch {
	case err != nil || !f.Exists():
		return f, err
	case f.IsDir():
		return looked{File: File{Mode: typeDir | f.Mode&0o777}}, nil
	}
	if old := o.stamps[rel]; old.stamp == f.stamp && f.stamp != (stamp{}) && o.repo.has(old.Hash) {
		return old, nil
	}
	f.stamp = o.scan.settled(f.stamp)
	var data []byte
	f.File, data, err = lookAt(o.root, rel)
	if err == nil && data != nil {
		_, err = o.scan.keep(data)
	}
	return f, err
}

// kept is what a checkpoint has at a path.
func (r *repo) kept(n *node, names []string) (f looked, err error) {
	for _, name := range names {
		kids, err := r.tree(n)
		if err != nil {
			return f, err
		}
		n = (&node{kids: kids}).kid(name)
	}
	return looked{File: n.file()}, nil
}

// partial looks at the paths that the checkpoint before has, and at the named ones.
func (w *Workspace) partial(root *os.Root, s *scanner, before *node, named []string) (now *node, err error) {
	now = before
	if now == nil {
		now = directory("", 0o755, nil)
	}
	known, err := w.repo.between(nil, before)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]bool)
	for _, c := range known {
		paths[c.Path] = true
	}
	for _, rel := range w.inside(named) {
		if !s.hidden[rel] {
			paths[rel] = true
		}
	}
	for rel := range paths {
		f, data, err := lookAt(root, rel)
		if err != nil {
			continue // What can't be read stays as it was.
		}
		if data != nil {
			if f.Hash, err = s.keep(data); err != nil {
				return nil, err
			}
		}
		if now, err = w.repo.with(now, "", strings.Split(rel, "/"), f); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// rulesAt are the rules for a path, and whether it lies in a directory that git ignores, or would if
// it was there.
func rulesAt(root *os.Root, rel string) (rules *ignore.Rules, ignored bool) {
	has := func(name string) bool {
		_, err := root.Lstat(name)
		return err == nil
	}
	for at := range above(rel) {
		base := at
		if at == "." {
			base = ""
		} else if rules.Ignores(at, true) {
			return rules, true
		}
		rules = rules.Enter(root, at, base, has(path.Join(at, ".git")), has(path.Join(at, ignore.File)))
	}
	return rules, false
}

// above are the directories above a path, from ".".
func above(rel string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(".") {
			return
		}
		for i, c := range rel {
			if c == '/' && !yield(rel[:i]) {
				return
			}
		}
	}
}
