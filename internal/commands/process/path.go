package process

import (
	"path/filepath"
	"slices"
	"strings"
)

// AbsolutePath is the value of PATH without the entries that stand for the working
// directory, or lie below it: there a workspace would decide what a command's name means.
func AbsolutePath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}
