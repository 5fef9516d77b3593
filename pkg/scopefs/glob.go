package scopefs

import (
	"context"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"podd/pkg/item"
)

// maxGlob is the default maximum of paths that Glob returns.
const maxGlob = 1000

// Glob finds the files whose path matches a pattern, in the order of Walk, and omits what
// Walk omits. It does not return directories. The pattern is relative to the workspace,
// or absolute inside the scope; it supports *, ?, [a-z], {a,b} and ** for any number of
// directories.
//
// It returns at most most paths, 1000 for zero or less; more says that there are others.
// A malformed pattern is an [item.Error] with reason BAD_PATTERN.
func (f *FS) Glob(ctx context.Context, pattern string, most int) (paths []string, more bool, err error) {
	if most <= 0 {
		most = maxGlob
	}
	err = f.GlobWalk(ctx, pattern, func(e Entry) error {
		if e.IsDir() {
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

// GlobWalk calls fn for the files that Glob finds, and for the directories in which it looks for them, as Walk does.
func (f *FS) GlobWalk(ctx context.Context, pattern string, fn func(Entry) error) error {
	if err := CheckGlob(pattern); err != nil {
		return err
	}
	base, rest := doublestar.SplitPattern(pattern)
	return f.walk(ctx, base, WalkOptions{MaxDepth: depthOf(rest)}, func(rel string, e Entry) error {
		// Depth 0 is a file where the pattern needs a directory.
		if !e.IsDir() && (e.Depth == 0 || !doublestar.MatchUnvalidated(rest, rel)) {
			return nil
		}
		return fn(e)
	})
}

// CheckGlob refuses a malformed pattern: reason BAD_PATTERN.
func CheckGlob(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return item.Errorf(item.KindInvalid, "BAD_PATTERN",
			"the pattern %s is malformed: close each bracket and brace, or put a backslash before it", Display(pattern))
	}
	return nil
}

// MatchesGlob says whether a pattern that CheckGlob accepts matches a path, both clean and relative to the workspace.
func MatchesGlob(pattern, path string) bool { return doublestar.MatchUnvalidated(pattern, path) }

// GlobBase is the directory that a pattern names before its first wildcard, including
// "..": where Glob begins.
func GlobBase(pattern string) string {
	base, _ := doublestar.SplitPattern(pattern)
	return base
}

// depthOf is how deep a pattern can match; 0 means any depth.
func depthOf(pattern string) int {
	if strings.Contains(pattern, "**") {
		return 0
	}
	return strings.Count(pattern, "/") + 1
}
