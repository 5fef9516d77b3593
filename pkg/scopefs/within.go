package scopefs

import (
	"errors"
	"os"
	"strings"
)

var errOutside = errors.New("outside of the directories that roots must lie in")

// openDir opens a directory by its absolute path. If it must be in certain directories,
// it is opened from the uppermost of them, name by name, and no name may be a link;
// prefix is its path there.
func openDir(dir string, within []string) (handle *os.Root, prefix string, err error) {
	if len(within) == 0 {
		// With "/." the system opens only a directory: a named pipe would block.
		handle, err = os.OpenRoot(dir + "/.")
		return handle, "", err
	}
	base, prefix := uppermost(dir, within)
	if base == "" {
		return nil, "", errOutside
	}
	if handle, err = os.OpenRoot(base + "/."); err != nil || prefix == "." {
		return handle, "", err
	}
	for name := range strings.SplitSeq(prefix, "/") {
		next, err := openChild(handle, name)
		_ = handle.Close()
		if err != nil {
			return nil, "", err
		}
		handle = next
	}
	return handle, prefix, nil
}

// uppermost is the outermost of some directories that contains dir.
func uppermost(dir string, dirs []string) (base, rel string) {
	for _, w := range dirs {
		if r, ok := within(w, dir); ok && (base == "" || len(w) < len(base)) {
			base, rel = w, r
		}
	}
	return base, rel
}

// openChild opens the directory with a name in another one, unless the name is a link.
func openChild(parent *os.Root, name string) (*os.Root, error) {
	dir, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = isNamed(parent, name, info)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// isNamed says whether a file is what a name means, not the target of a link there.
func isNamed(parent *os.Root, name string, info os.FileInfo) error {
	link, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(link, info) {
		return errSwapped
	}
	return nil
}
