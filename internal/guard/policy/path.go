package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// compilePath makes a glob of a rule's path; an error continues "the path X ...".
func compilePath(pattern string) (string, error) {
	switch {
	case strings.ContainsFunc(pattern, odd) || strings.ContainsRune(pattern, '\n'):
		return "", errors.New("has a control character: leave it out")
	case strings.HasPrefix(pattern, "~"):
		return "", errors.New("begins with ~, which is not expanded: write the whole path")
	case !doublestar.ValidatePattern(pattern):
		return "", errors.New("is no glob: close each [ and {")
	}
	for _, part := range strings.Split(pattern, "/") {
		if part == ".." {
			return "", errors.New("has .., which no path of a call has: write the path without it")
		}
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return path.Clean(pattern), nil
}

// allPaths are the paths that the call names, and those that they lead to.
func (c Call) allPaths() []string {
	return slices.Concat(append([][]string{c.Paths}, c.Leads...)...)
}

// callPath is a path of a call as rules see it; false if it leaves the workspace upward
// or is not a path, so that no rule can apply to it.
func callPath(p string) (string, bool) {
	cleaned := path.Clean(p)
	return cleaned, p != "" && cleaned != ".." && !strings.HasPrefix(cleaned, "../") && !strings.ContainsRune(p, 0)
}

// matchesPath says whether the glob matches a path from callPath.
func (c *compiled) matchesPath(p string) bool { return doublestar.MatchUnvalidated(c.path, p) }

// coversPath is also true when a directory above the path matches.
func (c *compiled) coversPath(p string) bool {
	for {
		if c.matchesPath(p) {
			return true
		}
		parent := path.Dir(p)
		if parent == p {
			return false
		}
		p = parent
	}
}

// escapeGlob is a glob that matches only one path.
func escapeGlob(p string) string {
	var b strings.Builder
	for _, r := range p {
		if strings.ContainsRune(`\*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
