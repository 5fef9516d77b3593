package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/scopefs"
	"podd/pkg/scopefs/git"
)

// Undone is what podd took back of a command's changes.
type Undone struct {
	Moved []Moved
	// Behind are the files that git has other content for now and could not change, Left those that it has no more:
	// they are protected, or outside of the pod's directories. Their paths are absolute.
	Behind, Left []string
}

// Moved is a protected path that a command changed, and its new place.
type Moved struct {
	// Path is relative to the first root, or absolute; Why says what obeys it.
	Path, Why string
	// To is where the file or directory is now; empty if it was removed.
	To string
	// Back says that it is what it was before; Settings are the only parts of it that are.
	Back     bool
	Settings []string
	// times is how often that was so.
	times int
	// Err says why it is still in place.
	Err error
}

// GuardNote is what a podd needs to know about a Guard of an earlier podd that was
// killed.
type GuardNote struct {
	Roots []GuardedRoot `json:"roots"`
	// There are the protected paths that existed, Changes those that a person agreed to.
	There   []GuardedPath `json:"there,omitempty"`
	Changes []string      `json:"changes,omitempty"`
	Began   time.Time     `json:"began"`
	// Hold are the paths that are mounted read-only, Kept those that are put back.
	Hold []string   `json:"hold,omitempty"`
	Kept []*KeptDir `json:"kept,omitempty"`
	// Hidden are the paths that the command does not see, Large directories that are too
	// large to be listed.
	Hidden []string `json:"hidden,omitempty"`
	Large  []string `json:"large,omitempty"`
}

// GuardedRoot is a directory that a command can change.
type GuardedRoot struct {
	Path string `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	// Prefix is its path in a directory relative to which protected paths are named.
	Prefix string `json:"prefix,omitempty"`
	// Deep says that directories in it are watched, too; Bare that it is a git directory.
	Deep bool `json:"deep,omitempty"`
	Bare bool `json:"bare,omitempty"`
}

// GuardedPath is a protected path. Names need not be UTF-8, so both fields are bytes.
type GuardedPath struct {
	Path []byte `json:"path"`
	// Link is the target of a link; empty for anything else.
	Link []byte `json:"link,omitempty"`
}

// gitDir is git's directory, which has its own guards.
const gitDir = ".git"

// ruleAt is the rules for the names in a directory, by its path from where rules begin.
func ruleAt(rel string) (rule *scopefs.Protection) {
	for name := range strings.SplitSeq(rel, "/") {
		rule = nextRule(rule, name)
	}
	return rule
}

// nextRule is the rule for a name in a directory with a rule; nil without one.
func nextRule(rule *scopefs.Protection, name string) *scopefs.Protection {
	next := scopefs.Protections().Next(name)
	if rule == nil || next != nil && next.Why() != "" {
		return next
	}
	if below := rule.Next(name); below != nil {
		return below
	}
	return next
}

// ofGit is why git's own paths are protected.
const ofGit = "git executes it or uses it as configuration"

// upToHooks is a path of git's without what it has below a directory of hooks, which is protected as one.
func upToHooks(path string) string {
	if before, _, below := strings.Cut(path, "/hooks/"); below {
		return before + "/hooks"
	}
	return path
}

// unit is the part of a path, relative to a root, that a question to a person names: the
// first file or directory in it that the rules name. why says what obeys it.
func unit(prefix, rel string) (path, why string, err error) {
	rule := ruleAt(prefix)
	names := strings.Split(rel, "/")
	for i, name := range names {
		if name == gitDir {
			return upToHooks(rel), ofGit, nil
		}
		if rule = nextRule(rule, name); rule != nil && rule.Why() != "" {
			return strings.Join(names[:i+1], "/"), rule.Why(), nil
		}
	}
	if rule == nil {
		return "", "", fmt.Errorf("changes: %s is not protected: leave it out", scopefs.Display(rel))
	}
	return rel, "programs run or obey files in it", nil
}

// Change is a protected path that a command will change.
type Change struct {
	// Path is absolute, Why says what obeys it.
	Path, Why string
}

// Change is what a person has to agree to before a command changes a path, absolute or
// relative to the first root.
func (s *Sandbox) Change(roots []scopefs.Root, path string) (Change, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(roots[0].Path, path)
	}
	path = filepath.Clean(path)
	root, prefix := "", ""
	for _, r := range roots {
		if r.Writable && within(r.Path, path) && len(r.Path) >= len(root) {
			root, prefix = r.Path, r.Prefix
		}
		if r.Writable && s.ofGit(r.Path, path) {
			return Change{upToHooks(path), ofGit}, nil
		}
	}
	for _, dir := range s.Write {
		if within(dir, path) && len(dir) > len(root) {
			root, prefix = dir, ""
		}
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
	if root == "" || rel == "" {
		return Change{}, fmt.Errorf("changes: %s is in no directory that a command can change: leave it out", scopefs.Display(path))
	}
	what, why, err := unit(prefix, rel)
	return Change{filepath.Join(root, what), why}, err
}

// around is the repository that a directory belongs to, with its working tree, if that is really its own.
func (s *Sandbox) around(dir string) (repo git.Repo, top string, ok bool) {
	if top = git.Enclosing(dir); top == "" {
		return repo, top, false
	}
	repo, ok = git.At(top, s.variable("HOME"))
	return repo, top, ok && len(repo.Dirs) > 0 && repo.NamesBack(top)
}

// ofGit says whether git obeys a path in or around a directory that the rules do not name: in a git directory, or
// because its configuration names it.
func (s *Sandbox) ofGit(dir, path string) bool {
	if repo, _, ok := s.around(dir); ok {
		for _, obeyed := range slices.Concat(repo.Dirs, repo.Obeyed) {
			if within(obeyed, path) && obeyed != path || slices.Contains(repo.Obeyed, path) {
				return true
			}
		}
	}
	for at := filepath.Dir(path); within(dir, at) && at != dir; at = filepath.Dir(at) {
		if git.IsDir(at) {
			return true
		}
	}
	return false
}
