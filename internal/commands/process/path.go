package process

import (
	"path/filepath"
	"slices"
	"strings"
)

// AbsolutePath is the value of PATH without entries that are, or are below, the working
// directory: there a workspace would decide what a command's name means.
func AbsolutePath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}
