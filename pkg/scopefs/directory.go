package scopefs

import (
	"os"
	"path/filepath"
	"slices"

	"podd/pkg/item"
)

// Directory checks that a path is an existing directory and resolves its links, so that
// one directory has one name. what names the directory's purpose in errors. It may hang.
func Directory(path, what string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", item.Errorf(item.KindInvalid, "BAD_DIR", format, args...)
	}
	if !filepath.IsAbs(path) {
		return bad("the %s %q is not absolute: give the whole path", what, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return bad("the %s %q can't be opened: %s", what, path, reason(err))
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return bad("the %s %q can't be opened: %s", what, path, reason(err))
	}
	if !info.IsDir() {
		return bad("the %s %q is a file: give a directory", what, path)
	}
	return resolved, nil
}

// LiesIn says whether a clean path is, or is in, one of some directories.
func LiesIn(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		_, ok := within(dir, path)
		return ok
	})
}
