package ignore

import (
	"io"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// File is the name of the files that say what git ignores.
const File = ".gitignore"

const (
	gitExclude  = ".git/info/exclude"
	maxIgnoring = 1 << 20 // bytes of one such file
)

// Rules are those of one file, and of those that it overrides. Nil ignores nothing.
type Rules struct {
	// base is the directory of the rules, relative to the root.
	base  string
	rules []rule
	outer *Rules
}

// Ignores says whether git would ignore the entry at rel, provided that it does not
// ignore one of the directories above. rel is below the base of all rules. The last
// matching rule decides.
func (g *Rules) Ignores(rel string, isDir bool) bool {
	name := path.Base(rel)
	for ; g != nil; g = g.outer {
		below := rel
		if g.base != "." {
			below = rel[len(g.base)+1:]
		}
		var segments []string // of below, split when the first rule needs it
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := &g.rules[i]
			if r.dirOnly && !isDir {
				continue
			}
			if r.glob != nil && segments == nil {
				segments = strings.Split(below, "/")
			}
			if r.matches(below, name, segments) {
				return !r.negated
			}
		}
	}
	return false
}

// Enter adds the rules that begin to apply in the directory at base, which is at in dir.
// A repository does not use the rules around it.
func (g *Rules) Enter(dir *os.Root, at, base string, hasGit, hasIgnore bool) *Rules {
	if hasGit {
		g = (*Rules)(nil).add(base, readRules(dir, path.Join(at, gitExclude)))
	}
	if hasIgnore {
		g = g.add(base, readRules(dir, path.Join(at, File)))
	}
	return g
}

func (g *Rules) add(base string, rules []rule) *Rules {
	if len(rules) == 0 {
		return g
	}
	return &Rules{base: base, rules: rules, outer: g}
}

// readRules reads the rules of a file. One that is missing, not a regular file or not
// readable has none: then more is shown, not less.
func readRules(dir *os.Root, name string) []rule {
	if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxIgnoring))
	if err != nil {
		return nil
	}
	return parseRules(string(data))
}

func parseRules(text string) []rule {
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseRule(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// rule is one line of such a file.
type rule struct {
	// glob is the pattern, in the syntax of doublestar and split at the slashes.
	glob []string
	// suffix is set for a pattern of one star and literal text, and plain for only literal
	// text: most rules are of these two kinds.
	suffix, plain string
	// anchored patterns match the path below the rule's base, the others a name.
	anchored bool
	negated  bool
	dirOnly  bool
}

func parseRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	var r rule
	line = trimSpaces(line)
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule{}, false
	}
	const special = `*?[]{}\`
	switch rest, star := strings.CutPrefix(line, "*"); {
	case !strings.ContainsAny(line, special):
		r.plain = line
	case star && !r.anchored && rest != "" && !strings.ContainsAny(rest, special):
		r.suffix = rest
	default:
		r.glob = splitPattern(line)
	}
	return r, true
}

// matches says whether the pattern matches a path below the rule's base, given whole and
// in segments, or its last element; the caller checks dirOnly.
func (r *rule) matches(rel, name string, segments []string) bool {
	subject := name
	if r.anchored {
		subject = rel
	} else {
		segments = segments[max(0, len(segments)-1):]
	}
	switch {
	case r.plain != "":
		return subject == r.plain
	case r.suffix != "":
		return strings.HasSuffix(subject, r.suffix)
	}
	return matchSegments(r.glob, segments)
}

// matchSegments matches a path with a pattern, segment by segment: the segment ** matches
// any number of others, and at the end of several at least one. (doublestar supports **,
// too, but lets [!a] match a slash.)
func matchSegments(pattern, path []string) bool {
	p, s := 0, 0
	star, resume := -1, 0 // the last ** met, and where to continue after it
	for s < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, resume = p, s
			p++
		case p < len(pattern) && doublestar.MatchUnvalidated(pattern[p], path[s]):
			p, s = p+1, s+1
		case star >= 0:
			resume++
			p, s = star+1, resume
		default:
			return false
		}
	}
	return p == len(pattern)
}

// trimSpaces removes trailing spaces; one after a backslash stays.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
			end = i + 1
		} else if line[i] != ' ' {
			end = i + 1
		}
	}
	return line[:end]
}

// splitPattern splits a pattern at its slashes. One in brackets does not split: it is an
// element of the class, and no name has it. It escapes what git reads literally and
// doublestar does not: braces, and a bracket that comes first in a class.
func splitPattern(pattern string) []string {
	var parts []string
	var b strings.Builder
	first := -1 // index of the first character of the class that i is in; -1 outside of one
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '/' && first < 0:
			parts = append(parts, b.String())
			b.Reset()
			continue
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
		case c == '{' || c == '}':
			b.WriteByte('\\')
		case c == '[' && first < 0:
			if first = i + 1; first < len(pattern) && (pattern[first] == '!' || pattern[first] == '^') {
				first++
			}
		case c == ']' && i == first && strings.IndexByte(pattern[i+1:], ']') >= 0:
			b.WriteByte('\\')
		case c == ']':
			first = -1
		}
		b.WriteByte(pattern[i])
	}
	return append(parts, b.String())
}
