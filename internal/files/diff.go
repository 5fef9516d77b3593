package files

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// change is what became of a path between two checkpoints.
type change struct {
	// Path is relative to the directory.
	Path     string
	Old, New File
}

// differ compares trees, of which it reads only what differs.
type differ struct {
	repo *repo
	out  []change
}

func (d *differ) dirs(rel string, a, b *node) error {
	if a != nil && b != nil && (a == b || a.Hash == b.Hash && !a.Hash.IsZero()) {
		return nil
	}
	old, err := d.repo.tree(a)
	if err != nil {
		return err
	}
	now, err := d.repo.tree(b)
	if err != nil {
		return err
	}
	for len(old) > 0 || len(now) > 0 {
		var x, y *node
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].name < now[0].name:
			x, old = old[0], old[1:]
		case len(old) == 0 || now[0].name < old[0].name:
			y, now = now[0], now[1:]
		default:
			x, y, old, now = old[0], now[0], old[1:], now[1:]
		}
		if err := d.entry(rel, x, y); err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) entry(rel string, a, b *node) error {
	name := ""
	if a != nil {
		name = a.name
	} else {
		name = b.name
	}
	at := path.Join(rel, name)
	if x, y := a.file(), b.file(); x != y {
		d.out = append(d.out, change{Path: at, Old: x, New: y})
	}
	var x, y *node
	if a.isDir() {
		x = a
	}
	if b.isDir() {
		y = b
	}
	if x == nil && y == nil {
		return nil
	}
	return d.dirs(at, x, y)
}

// between compares two directories; either may be nil.
func (r *repo) between(a, b *node) ([]change, error) {
	d := differ{repo: r}
	if err := d.dirs("", a, b); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out, func(a, b change) int { return cmp.Compare(a.Path, b.Path) })
	return d.out, nil
}

// with is a directory in which one path has something else; the zero File removes what is
// there, but no directory that has something. Missing directories on the way are made.
func (r *repo) with(dir *node, name string, names []string, f File) (*node, error) {
	kids, err := r.tree(dir)
	if err != nil {
		return nil, err
	}
	kids = slices.Clone(kids)
	var old *node
	if at := slices.IndexFunc(kids, func(k *node) bool { return k.name == names[0] }); at >= 0 {
		old = kids[at]
		kids = slices.Delete(kids, at, at+1)
	}
	now := old
	var below []*node
	if old.isDir() {
		if below, err = r.tree(old); err != nil {
			return nil, err
		}
	}
	switch {
	case len(names) > 1 && !f.Exists() && !old.isDir():
	case len(names) > 1:
		if !old.isDir() {
			old = nil
		}
		if now, err = r.with(old, names[0], names[1:], f); err != nil {
			return nil, err
		}
	case f.IsDir():
		now = directory(names[0], f.Perm(), below)
	case f.Exists():
		now = &node{name: names[0], File: f}
	case len(below) == 0:
		now = nil
	}
	if now != nil {
		kids = append(kids, now)
	}
	perm := uint32(0o755)
	if dir != nil {
		perm = dir.Perm()
	}
	return directory(name, perm, kids), nil
}

// without is a directory in which changes were not made.
func (r *repo) without(dir *node, changes []change) (_ *node, err error) {
	slices.SortFunc(changes, func(a, b change) int { return order(a.Old, b.Old, a.Path, b.Path) })
	for _, c := range changes {
		if dir, err = r.with(dir, "", strings.Split(c.Path, "/"), c.Old); err != nil {
			return nil, err
		}
	}
	return dir, nil
}

// order puts what is removed first, the deepest first, and then what gets something.
func order(a, b File, pathA, pathB string) int {
	switch {
	case a.Exists() != b.Exists() && b.Exists():
		return -1
	case a.Exists() != b.Exists():
		return 1
	case !a.Exists():
		return cmp.Compare(pathB, pathA)
	}
	return cmp.Compare(pathA, pathB)
}

// hashOf reads the name of a commit.
func hashOf(id string) plumbing.Hash {
	if !plumbing.IsHash(id) {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(id)
}
