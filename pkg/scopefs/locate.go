package scopefs

import (
	"path/filepath"
	"strings"
)

// place is where a path leads: a root, and a clean path relative to it.
type place struct {
	*root
	rel string
	// given is the path as the caller wrote it, for errors.
	given string
	// spot is the place that was decided on; nil without a decision.
	spot *spot
}

// abs makes a path absolute and clean. The empty path is the workspace.
func (s *scope) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Dir(), path)
}

// locate finds the root of a path: of those that contain it, the one with the longest
// name, and the writable one of two equals.
//
// This only chooses the root. The root itself ensures that the path stays inside.
func (s *scope) locate(path string) (place, error) {
	if strings.ContainsRune(path, 0) {
		return place{}, sayf(NotFound, path, nil, "contains a NUL byte, which a file name cannot")
	}
	abs, longest := s.abs(path), -1
	found := place{given: path}
	for _, r := range s.roots {
		for _, name := range r.names {
			if rel, ok := within(name, abs); ok && len(name) > longest {
				found.root, found.rel, longest = r, rel, len(name)
			}
		}
	}
	if found.root == nil {
		return place{}, &PathError{Kind: OutOfScope, Path: path}
	}
	return found, nil
}

// abs is the absolute path of the place.
func (p place) abs() string { return filepath.Join(p.names[0], p.rel) }

// resolved is the absolute path of the place with the links of its root resolved.
func (p place) resolved() string { return filepath.Join(p.names[len(p.names)-1], p.rel) }

// within is the part of abs below dir, "." for dir itself. Both are clean.
func within(dir, abs string) (rel string, ok bool) {
	if abs == dir {
		return ".", true
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return strings.CutPrefix(abs, dir)
}

// Names are two names of what a path leads to, with links followed: of the entry, which may be a link
// itself, and of the file. Paths that lead to one entry, or to one file, have the same names.
func (f *FS) Names(path string) (entry, file string, err error) {
	p, err := f.locate(path)
	if err != nil {
		return "", "", err
	}
	named, err := f.led(p, false)
	if err != nil {
		return "", "", err
	}
	followed, err := f.led(p, true)
	if err != nil {
		return "", "", err
	}
	return named.resolved(), followed.resolved(), nil
}
