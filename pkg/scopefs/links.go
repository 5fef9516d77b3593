package scopefs

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 40

// follow replaces the symbolic links in a place by their targets. With last false the
// last element stays. Elements that do not exist stay, so that a file to be created has a
// place too.
//
// The result may change on the disk a moment later. That cannot leave the root: each use
// of the place resolves it in the root again.
func (s *scope) follow(p place, last bool) (place, error) {
	rest := strings.Split(p.rel, "/")
	var done []string
	// missing is how many elements lead to the first that does not exist; 0 without one.
	// There are no links below it.
	missing := 0
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch {
		case name == "." || name == "":
			continue
		case name == ".." && len(done) == 0:
			return place{}, &PathError{Kind: OutOfScope, Path: p.given}
		case name == "..":
			done = done[:len(done)-1]
			continue
		}
		done = append(done, name)
		below := missing > 0 && len(done) > missing
		if below || len(rest) == 0 && !last {
			continue
		}
		var target string
		var err error
		if target, missing, err = p.link(done); err != nil {
			return place{}, s.wrap(p.given, err)
		}
		if target == "" {
			continue
		}
		if links++; links > maxLinks {
			return place{}, s.wrap(p.given, syscall.ELOOP)
		}
		if filepath.IsAbs(target) {
			return place{}, &PathError{Kind: OutOfScope, Path: p.given}
		}
		done = done[:len(done)-1]
		rest = append(strings.Split(target, "/"), rest...)
	}
	p.rel = "."
	if len(done) > 0 {
		p.rel = strings.Join(done, "/")
	}
	return p, nil
}

// link is the target of the symbolic link at a path; empty if it is not a link. missing
// is the number of names in the path if nothing is there, otherwise 0.
func (r *root) link(names []string) (target string, missing int, err error) {
	rel := strings.Join(names, "/")
	info, err := r.Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return "", len(names), nil
	}
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		return "", 0, err
	}
	target, err = r.Readlink(rel)
	return target, 0, err
}

// writable locates a path that is about to change, with its links followed (all, or all
// but the last element), so that a link cannot lead a write into a read-only root inside
// of a writable one. A protected path needs an approval in ctx.
func (f *FS) writable(ctx context.Context, path string, last bool) (place, error) {
	p, err := f.locate(path)
	if err != nil {
		return place{}, err
	}
	named := p
	switch {
	case !p.root.writable:
	case f.bound != nil:
		p, err = f.decided(p, last, true)
	default:
		p, err = f.led(p, last)
	}
	if err != nil {
		return place{}, err
	}
	if !p.root.writable {
		return place{}, sayf(OutOfScope, path, nil,
			"is in a read-only directory: write in the workspace, or ask the user to make the directory writable for the pod")
	}
	if p.rel == "." {
		return place{}, &PathError{Kind: IsDir, Path: path}
	}
	if p.spot != nil {
		if why, _ := protects(named, p); why != p.spot.protected {
			return place{}, changed(path)
		}
	}
	return p, mayChange(ctx, named, p)
}
