package scopefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"podd/pkg/item"
)

// Config says what an FS may reach. All paths are absolute directories.
type Config struct {
	// Dir is the workspace: readable, writable, and the base of relative paths.
	Dir string
	// Read are further roots that may only be read.
	Read []string
	// Write are further roots that may be read and written.
	Write []string
	// Hidden are podd's own files and directories, by absolute paths that need not exist: no
	// method reads, lists or changes them or their content, by whatever name. A root must
	// not be in one.
	Hidden []string
	// Shown are roots that may nevertheless be in a hidden directory, and outside of Within.
	Shown []string
	// Checkouts is a directory that may be in a hidden one. A root may be in a directory below
	// it; empty without.
	Checkouts string
	// Within are directories that must contain the roots, unless it is empty. No link is
	// followed on the way from there to a root, so that changing their content can't lead a
	// root elsewhere. Protected paths are named from there.
	Within []string
	// OnApproved is called with each path, absolute, whose change a person has approved,
	// before the change; may be nil.
	OnApproved func(path string)
}

// FS is the files of one pod.
type FS struct {
	*scope
	*reads
	// bound limits a call to its targets; nil for any call.
	bound *bound
	// against says why a path is not read; nil except in a guarded FS.
	against Against
}

// scope is the roots, and the resolution of paths in them.
type scope struct {
	// roots has the workspace first, then the writable roots, then the others.
	roots []*root
	// escapes is what an os.Root answers to a path that leaves it; the os package
	// does not export it.
	escapes error
	// hide is Config.Hidden, with the targets of its links.
	hide []string
}

// root is a directory of the scope.
type root struct {
	*os.Root
	// names are the absolute paths that lead to it: as configured, and with all
	// links resolved where that differs.
	names    []string
	writable bool
	// near says that something hidden is in it.
	near bool
	// shown says that it is in Config.Shown.
	shown bool
	// prefix is its path in one of Within; empty without.
	prefix string
	// onApproved is Config.OnApproved.
	onApproved func(path string)
}

// Open opens the roots of cfg. A root that is missing or not a directory is an
// [item.Error] of kind invalid with reason BAD_DIR. Close the FS after use.
func Open(cfg Config) (*FS, error) {
	s := &scope{hide: withResolved(cfg.Hidden)}
	f := &FS{scope: s, reads: &reads{scope: s, digests: make(map[string][32]byte)}}
	add := func(writable bool, dirs ...string) error {
		for _, dir := range dirs {
			within := cfg.Within
			if slices.Contains(cfg.Shown, dir) {
				within = nil
			}
			r, err := openRoot(dir, writable, within)
			if err != nil {
				return errors.Join(err, f.Close())
			}
			r.onApproved, r.shown = cfg.OnApproved, slices.Contains(cfg.Shown, dir)
			f.roots = append(f.roots, r)
			r.near = r.nears(f.hide)
			if slices.ContainsFunc(r.names, func(name string) bool { return insideHidden(name, f.hide) }) && !r.shown && !IsCheckout(cfg.Checkouts, r.names[len(r.names)-1]) {
				return errors.Join(badDir(dir, "belongs to podd itself: name another directory", nil), f.Close())
			}
		}
		return nil
	}
	if err := add(true, cfg.Dir); err != nil {
		return nil, err
	}
	if err := add(true, cfg.Write...); err != nil {
		return nil, err
	}
	if err := add(false, cfg.Read...); err != nil {
		return nil, err
	}
	_, err := f.roots[0].Lstat("..")
	if f.escapes = errors.Unwrap(err); f.escapes == nil {
		return nil, errors.Join(errors.New("scopefs: os.Root does not confine"), f.Close())
	}
	return f, nil
}

func openRoot(dir string, writable bool, within []string) (*root, error) {
	if !filepath.IsAbs(dir) {
		return nil, badDir(dir, "is not absolute: give the full path of a directory", nil)
	}
	dir = filepath.Clean(dir)
	handle, prefix, err := openDir(dir, within)
	switch {
	case errors.Is(err, errOutside):
		return nil, badDir(dir, "lies outside of what may be used: name a directory in it", nil)
	case errors.Is(err, errSwapped):
		return nil, badDir(dir, "is reached by a link: name the directory itself", nil)
	case errors.Is(err, fs.ErrNotExist):
		return nil, badDir(dir, "does not exist: create the directory first, or name another one", err)
	case errors.Is(err, syscall.ENOTDIR):
		return nil, badDir(dir, "is not a directory: name the directory that holds it", err)
	case err != nil:
		return nil, badDir(dir, "cannot be opened: "+reason(err), err)
	}
	r := &root{Root: handle, names: []string{dir}, writable: writable, prefix: prefix}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil && resolved != dir {
		r.names = append(r.names, resolved)
	}
	return r, nil
}

func badDir(dir, says string, cause error) error {
	e := item.Errorf(item.KindInvalid, "BAD_DIR", "%s %s", Display(dir), says)
	e.Cause = cause
	return e
}

// Close releases the roots; files that are open stay so. Every later call fails.
func (f *FS) Close() error {
	var errs []error
	for _, r := range f.roots {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Dir is the workspace, absolute and clean, as configured.
func (s *scope) Dir() string { return s.roots[0].names[0] }

// Rel is the path to show for path: relative to the workspace if it is inside, otherwise
// absolute. It does not access the disk and does not quote; Display does.
func (s *scope) Rel(path string) string {
	abs := s.abs(path)
	for _, name := range s.roots[0].names {
		if rel, ok := within(name, abs); ok {
			return rel
		}
	}
	return abs
}
