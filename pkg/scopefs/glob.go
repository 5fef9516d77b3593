package scopefs

import (
	"context"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"podd/pkg/item"
)

// maxGlob is how many paths Glob finds unless it is told otherwise.
const maxGlob = 1000

// Glob finds the files whose path fits a pattern, in the order of Walk, and leaves
// out what Walk leaves out. Directories are not found. The pattern is relative to
// the workspace, or absolute inside the scope; it knows *, ?, [a-z], {a,b} and **
// for any number of directories.
//
// At most most paths are returned, 1000 for zero or less; more says that there are
// others. A pattern that is malformed is an [item.Error] with reason BAD_PATTERN.
func (f *FS) Glob(ctx context.Context, pattern string, most int) (paths []string, more bool, err error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, false, item.Errorf(item.KindInvalid, "BAD_PATTERN",
			"the pattern %s is malformed: close each bracket and brace, or put a backslash before it", Display(pattern))
	}
	if most <= 0 {
		most = maxGlob
	}
	base, rest := doublestar.SplitPattern(pattern)
	err = f.walk(ctx, base, WalkOptions{MaxDepth: depthOf(rest)}, func(rel string, e Entry) error {
		// Depth 0 is a file where the pattern asks for a directory.
		if e.IsDir() || e.Depth == 0 || !doublestar.MatchUnvalidated(rest, rel) {
			return nil
		}
		if len(paths) == most {
			more = true
			return fs.SkipAll
		}
		paths = append(paths, e.Path)
		return nil
	})
	return paths, more, err
}

// GlobBase is the directory that a pattern names before its first wildcard, ".." and all:
// where Glob begins.
func GlobBase(pattern string) string {
	base, _ := doublestar.SplitPattern(pattern)
	return base
}

// depthOf is how deep a pattern can reach; 0 means any depth.
func depthOf(pattern string) int {
	if strings.Contains(pattern, "**") {
		return 0
	}
	return strings.Count(pattern, "/") + 1
}
