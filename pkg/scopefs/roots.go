package scopefs

import (
	"os"
	"slices"
)

// Root is a root of the scope, for code that confines others to it.
type Root struct {
	// Path is absolute, with all links resolved.
	Path string
	// Writable says that files below may be changed.
	Writable bool
	// Prefix is its path in a directory of Config.Within; empty without.
	Prefix string
	root   *os.Root
}

// Open opens the directory that existed when the scope was opened, whatever its path
// leads to by now.
func (r Root) Open() (*os.File, error) { return r.root.Open(".") }

// Roots are the roots of the scope, the workspace first. One in a protected directory is
// writable only for the file tools, which ask for each change.
func (f *FS) Roots() []Root {
	roots := make([]Root, len(f.roots))
	for i, r := range f.roots {
		_, protected := protectedName(r.prefix)
		roots[i] = Root{Path: r.names[len(r.names)-1], Writable: r.writable && !protected, Prefix: r.prefix, root: r.Root}
	}
	return roots
}

// Held are the directories that the scope opened, by the paths that led to them then.
func (f *FS) Held() map[string]os.FileInfo {
	held := make(map[string]os.FileInfo)
	for _, r := range f.roots {
		if info, err := r.Stat("."); err == nil {
			for _, name := range r.names {
				held[name] = info
			}
		}
	}
	return held
}

// Stale says that the path of a root leads to another directory by now, or nowhere: it
// was moved or replaced since the scope was opened. The scope still uses the directory
// that it opened.
func (f *FS) Stale() bool {
	return slices.ContainsFunc(f.roots, func(r *root) bool {
		opened, err := r.Stat(".")
		now, gone := os.Stat(r.names[0])
		return err != nil || gone != nil || !os.SameFile(opened, now)
	})
}
