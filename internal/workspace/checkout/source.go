package checkout

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// source is a person's repository.
type source struct {
	// top is the working tree, common the git directory that all its working trees share, dirs
	// both git directories of a linked one.
	top, common string
	dirs        []string
	// prefix is the directory that was named, in top; empty for top.
	prefix string
	// format is that of object names; shallow says that history is cut.
	format  string
	shallow bool
	// branch is the one that is checked out; empty for none.
	branch string
	// user are settings of the person: name, mail address, file of ignored names.
	user map[string]string
}

// find finds the repository of a directory, given without links.
func find(dir string) (s source, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		repo, ok := git.At(at, "")
		switch {
		case ok && repo.Entry == "":
			return s, item.Errorf(item.KindInvalid, "BARE_REPOSITORY", "%s is a git directory without files: name a directory of a working tree", at)
		case ok && len(repo.Dirs) > 0:
			rel, err := filepath.Rel(at, dir)
			if rel == "." {
				rel = ""
			}
			return source{top: at, common: repo.Dirs[len(repo.Dirs)-1], dirs: repo.Dirs, prefix: rel}, err
		case at == filepath.Dir(at):
			return s, item.Errorf(item.KindInvalid, "NOT_A_REPOSITORY", "%s is in no git repository: run git init there, or leave --worktree out", dir)
		}
	}
}

// sees are the directories outside of top in which git reads.
func (s source) sees() []string {
	r := Record{Common: s.common, Attributes: s.user["core.attributesfile"]}
	return append(slices.Clone(s.dirs), r.Reads()...)
}

// reading is a run of git on the source that changes nothing.
func (s source) reading(args ...string) command {
	return command{dir: s.top, reads: s.sees(), args: args}
}

// userKeys are what a checkout takes over from the person's configuration: so its files are as theirs.
const userKeys = `^(user\.(name|email)|core\.(excludesfile|attributesfile|autocrlf|eol))$`

// userSettings are the person's.
func (all *Checkouts) userSettings(ctx context.Context, s source) (map[string]string, error) {
	pairs, err := all.persons(ctx, s.reading(), userKeys)
	user := make(map[string]string)
	for _, p := range pairs {
		user[p[0]] = p[1]
	}
	if file := all.attributesFile(pairs); isFile(file) {
		user["core.attributesfile"] = file
	}
	return user, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// inspect finds the repository of a directory, and refuses one that cannot have checkouts.
func (all *Checkouts) inspect(ctx context.Context, dir string) (source, error) {
	s, err := find(dir)
	if err != nil {
		return s, err
	}
	if err := s.check(all.Hides); err != nil {
		return s, err
	}
	out, err := all.git(ctx, s.reading("rev-parse", "--show-object-format", "--is-shallow-repository"))
	if err != nil {
		return s, unusable(s.top, err)
	}
	says := strings.Fields(out)
	if len(says) != 2 {
		return s, unusable(s.top, &failure{args: []string{"rev-parse"}, says: "git is too old: install 2.28 or later"})
	}
	s.format, s.shallow = says[0], says[1] == "true"
	// A missing key is no failure.
	if partial, _ := line(all.git(ctx, s.reading("config", "--get", "extensions.partialClone"))); partial != "" {
		return s, item.Errorf(item.KindPrecondition, "PARTIAL_CLONE", "%s is a partial clone, whose files are on a server that the sandbox does not reach: fetch all with git fetch --refetch --no-filter, and unset extensions.partialClone", s.top)
	}
	s.branch, _ = line(all.git(ctx, s.reading("symbolic-ref", "--quiet", "--short", "HEAD")))
	s.user, err = all.userSettings(ctx, s)
	return s, err
}

// unusable is the error of a repository that git cannot use.
func unusable(top string, err error) error {
	if item.ReasonOf(err) != "" {
		return err
	}
	e := item.Errorf(item.KindInvalid, "BAD_REPOSITORY", "git cannot use the repository %s: %v", top, err)
	e.Cause = err
	return e
}

// commit is the commit that a person names.
func (all *Checkouts) commit(ctx context.Context, s source, name string) (string, error) {
	id, err := line(all.git(ctx, s.reading("rev-parse", "--quiet", "--verify", "--end-of-options", name+"^{commit}")))
	if err == nil {
		return id, nil
	}
	if item.ReasonOf(err) != "" || ctx.Err() != nil {
		return "", err
	}
	if name == "HEAD" {
		return "", item.Errorf(item.KindPrecondition, "NO_COMMITS", "the repository %s has no commit yet: make the first one with git commit", s.top)
	}
	return "", item.Errorf(item.KindInvalid, "UNKNOWN_REF", "%q names no commit of %s: git -C %s branch -a lists the branches", name, s.top, sanitize.Word(s.top))
}

// refs are all commits that the references of a repository name.
func (all *Checkouts) refs(ctx context.Context, c command) ([]string, error) {
	c.args = append([]string{"for-each-ref", "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname)"}, c.args...)
	out, err := all.git(ctx, c)
	var tips []string
	for l := range strings.Lines(out) {
		words := strings.Fields(l)
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == "commit" {
				tips = append(tips, words[i+1])
			}
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), err
}
