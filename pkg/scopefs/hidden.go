package scopefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"podd/pkg/scopefs/git"
)

// maxHiddenLinks bounds the files of a hidden directory with which a hard link is
// compared.
const maxHiddenLinks = 256

// hiding is what is hidden at one moment: the inodes that the paths of Config.Hidden lead
// to, because a name says little about the file. It is read again for each operation,
// because files are replaced and directories created while podd runs.
type hiding struct {
	files []fs.FileInfo
	// missing are hidden names that do not exist yet, by their directory.
	missing []missingName
}

type missingName struct {
	dir  fs.FileInfo
	name string
}

// hiddenNow looks up the hidden paths.
func (s *scope) hiddenNow() hiding {
	var h hiding
	for _, path := range s.hide {
		if info, err := os.Stat(path); err == nil {
			h.files = append(h.files, info)
		} else if dir, err := os.Stat(filepath.Dir(path)); err == nil {
			h.missing = append(h.missing, missingName{dir, filepath.Base(path)})
		}
	}
	return h
}

// has says whether a file or directory is hidden itself.
func (h hiding) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(h.files, func(file fs.FileInfo) bool { return os.SameFile(file, info) })
}

// reserves says whether a name in a directory is reserved for a file of podd's.
func (h hiding) reserves(dir *os.Root, name string) bool {
	for _, m := range h.missing {
		if !strings.EqualFold(m.name, name) {
			continue
		}
		if info, err := dir.Stat("."); err == nil && os.SameFile(info, m.dir) {
			return true
		}
	}
	return false
}

// links says whether a file with more than one name is one of the files in a hidden
// directory.
func (h hiding) links(info fs.FileInfo, hide []string) bool {
	if HardLinks(info) < 2 {
		return false
	}
	for _, path := range hide {
		dir, err := os.Open(path)
		if err != nil {
			continue
		}
		names, _ := dir.Readdirnames(maxHiddenLinks)
		_ = dir.Close()
		for _, name := range names {
			if other, err := os.Lstat(filepath.Join(path, name)); err == nil && os.SameFile(other, info) {
				return true
			}
		}
	}
	return false
}

// HardLinks is how many names a file has.
func HardLinks(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

func errHidden(path string) error {
	return sayf(OutOfScope, path, nil, "belongs to podd itself; tools cannot read or change its files")
}

// errSwapped is the error of a path on which a directory became a link, or another one,
// while it was opened.
var errSwapped = errors.New("another program changed it while it was being opened: try again")

// nears says whether a hidden path is in the root, by any of its names. Only there can a
// path inside of the root lead to it.
func (r *root) nears(hide []string) bool {
	return slices.ContainsFunc(r.names, func(name string) bool {
		return slices.ContainsFunc(hide, func(path string) bool { return inside(name, path) })
	})
}

// IsCheckout says whether a directory, given without links, is in one of those below checkouts,
// which are podd's to make and a pod's to work in. A name that begins with a dot is podd's alone.
func IsCheckout(checkouts, dir string) bool {
	if checkouts == "" {
		return false
	}
	rel, ok := within(git.Resolve(checkouts), dir)
	return ok && strings.Contains(rel, "/") && !strings.HasPrefix(rel, ".")
}

// insideHidden says whether a directory is, or is in, a hidden one.
func insideHidden(dir string, hide []string) bool {
	return slices.ContainsFunc(hide, func(path string) bool { return inside(path, dir) })
}

// withResolved adds to each path the one that its links lead to, as far as they exist.
func withResolved(paths []string) []string {
	var all []string
	for _, path := range paths {
		path = filepath.Clean(path)
		all = append(all, path)
		if resolved := git.Resolve(path); resolved != path {
			all = append(all, resolved)
		}
	}
	return all
}
