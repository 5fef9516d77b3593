package files

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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

// overlay reads files that looks leave out.
type overlay struct {
	repo *repo
	scan *scanner
	// before is what the last checkpoint has.
	before *node
}

// cover adds named files that the look left out to those that the last checkpoint covers.
func (o overlay) cover(s *seen, named []string) {
	for _, rel := range named {
		if never(rel, o.scan.hidden) || slices.Contains(s.covers, rel) || find(s.root, rel) != nil {
			continue
		}
		info, err := lstat(o.scan.root, rel)
		there := err == nil
		if errors.Is(err, errWay) || there && (info.IsDir() || info.Size() > maxFile) || !there && !ignoredAt(o.scan.root, rel) {
			continue
		}
		s.covers = append(s.covers, rel)
	}
	s.covers = s.covers[max(len(s.covers)-maxCovers, 0):]
}

// lstat is what a path is, never through a link.
func lstat(root *os.Root, rel string) (os.FileInfo, error) {
	dir, name, err := way(root, rel, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Lstat(name)
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

// lay is a tree with what paths have now, and with the directories on the way to them.
func (o overlay) lay(tree *node, paths []string) (*node, error) {
	var all []change
	known := map[string]bool{".": true}
	for _, rel := range paths {
		f, err := o.read(rel)
		if err != nil {
			return nil, err
		}
		all, known[rel] = append(all, change{Path: rel, Old: f}), true
		for at := range above(rel) {
			if known[at] || !f.Exists() || find(tree, at) != nil {
				continue
			}
			dir, err := o.read(at)
			if err != nil {
				return nil, err
			}
			all, known[at] = append(all, change{Path: at, Old: dir}), true
		}
	}
	return o.repo.without(tree, all)
}

// read keeps what a path has. What cannot be read is what it was.
func (o overlay) read(rel string) (File, error) {
	f, data, err := lookAt(o.scan.root, rel)
	switch {
	case errors.Is(err, errWay):
		return File{}, nil
	case err != nil:
		return o.repo.kept(o.before, rel)
	case data != nil:
		_, err = o.scan.keep(data)
	}
	return f, err
}

// kept is what a checkpoint has at a path.
func (r *repo) kept(n *node, rel string) (File, error) {
	for name := range strings.SplitSeq(rel, "/") {
		kids, err := r.tree(n)
		if err != nil {
			return File{}, err
		}
		n = (&node{kids: kids}).kid(name)
	}
	return n.file(), nil
}

// partial has the paths that the checkpoint before has, and the named ones.
func (o overlay) partial(named []string) (*node, error) {
	known, err := o.repo.between(nil, o.before)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, c := range known {
		paths = append(paths, c.Path)
	}
	for _, rel := range named {
		if !o.scan.hidden[rel] {
			paths = append(paths, rel)
		}
	}
	if o.before == nil {
		return o.lay(directory("", 0o755, nil), paths)
	}
	return o.lay(o.before, paths)
}

// ignoredAt says whether a path lies in a directory that git ignores, or would if it was there.
func ignoredAt(root *os.Root, rel string) bool {
	var rules *ignore.Rules
	has := func(name string) bool {
		_, err := root.Lstat(name)
		return err == nil
	}
	for at := range above(rel) {
		base := at
		if at == "." {
			base = ""
		} else if rules.Ignores(at, true) {
			return true
		}
		rules = rules.Enter(root, at, base, has(path.Join(at, ".git")), has(path.Join(at, ignore.File)))
	}
	return false
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
