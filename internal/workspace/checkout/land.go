package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/workspace/git"
	"podd/pkg/item"
)

// Landing is a change of a branch of the source.
type Landing struct {
	// Branch is its name, Old and New its commits, Tree the working tree that has it; empty
	// without one.
	Branch string `json:"branch"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Tree   string `json:"tree,omitempty"`
}

// Landed is what became of a landing.
type Landed struct {
	Landing
	// Committed says that there was something to commit first, Merged that the branch had commits
	// of its own.
	Committed, Merged bool
	// Says is what a person should know; empty without.
	Says string
}

// Land commits what is uncommitted in a checkout, merges that into a branch of the source, and moves
// the branch. A working tree that has the branch follows. Conflicts move nothing.
func (all *Checkouts) Land(ctx context.Context, r *Record, into, message string) (out Landed, err error) {
	defer all.lock(r)()
	if r, err = load(r.place); err != nil {
		return out, err
	}
	return (&lander{all, r}).land(ctx, into, message)
}

// lander does one landing.
type lander struct {
	*Checkouts
	r *Record
}

func (w *lander) land(ctx context.Context, into, message string) (out Landed, err error) {
	if out.Landing, err = w.target(ctx, into); err != nil {
		return out, err
	}
	if out.Committed, err = w.commitAll(ctx, message); err != nil {
		return out, full(err)
	}
	tip, err := line(w.git(ctx, w.r.reading("rev-parse", "--verify", "refs/heads/"+w.r.Branch()+"^{commit}")))
	if err != nil {
		return out, err
	}
	if out.New, out.Merged, err = w.merge(ctx, out.Landing, tip); err != nil {
		return out, full(err)
	}
	if err := w.carry(ctx, w.r, out.New); err != nil {
		return out, full(err)
	}
	if out.Says, err = w.fetch(ctx, w.r); err != nil {
		return out, full(err)
	}
	if err := w.clear(ctx, out.Landing); err != nil {
		return out, err
	}
	w.r.Landing = &out.Landing
	if err := w.r.save(); err != nil {
		return out, full(err)
	}
	// What has begun ends: a git that is stopped here would leave files of the person's half changed.
	return out, w.finish(context.WithoutCancel(ctx))
}

// target is the branch that a landing moves, with its commit and its working tree.
func (w *lander) target(ctx context.Context, into string) (l Landing, err error) {
	if into == "" {
		if into, _ = line(w.git(ctx, command{dir: w.r.Source, reads: w.r.sees(), args: []string{"symbolic-ref", "--quiet", "--short", "HEAD"}})); into == "" {
			into = w.r.Into
		}
	}
	if into == "" {
		return l, item.Errorf(item.KindInvalid, "NO_BRANCH", "%s has no branch checked out: name one with --into", w.r.Source)
	}
	l.Branch = into
	out, err := w.git(ctx, command{dir: w.r.Common, reads: w.r.Reads(), args: []string{"--git-dir=.", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/" + into}})
	if err != nil {
		return l, err
	}
	for entry := range strings.Lines(out) {
		if name, id, _ := strings.Cut(strings.TrimSpace(entry), " "); name == "refs/heads/"+into {
			l.Old = id
		}
	}
	if l.Old == "" {
		return l, item.Errorf(item.KindInvalid, "UNKNOWN_BRANCH", "%s has no branch %q: git -C %s branch lists them", w.r.Source, into, w.r.Source)
	}
	trees, err := w.git(ctx, command{dir: w.r.Common, reads: w.r.Reads(), args: []string{"--git-dir=.", "worktree", "list", "--porcelain"}})
	tree := ""
	for entry := range strings.Lines(trees) {
		entry = strings.TrimSuffix(entry, "\n")
		if path, ok := strings.CutPrefix(entry, "worktree "); ok {
			tree = path
		}
		if entry == "branch refs/heads/"+into {
			l.Tree = git.Resolve(tree)
		}
	}
	return l, err
}

// sees are the git directories of the source's working tree.
func (r *Record) sees() []string {
	repo, _ := git.At(r.Source, "")
	return append(slices.Clone(repo.Dirs), r.Reads()...)
}

// writing is a run of git that changes the checkout, by the person or, where that has no name, podd.
func (w *lander) writing(ctx context.Context, args ...string) command {
	c := w.r.reading(args...)
	c.writes = true
	for _, key := range []string{"user.name", "user.email"} {
		if value, _ := line(w.git(ctx, w.r.reading("config", "--get", key))); value == "" {
			c.env = []string{"GIT_AUTHOR_NAME=podd", "GIT_AUTHOR_EMAIL=podd@localhost", "GIT_COMMITTER_NAME=podd", "GIT_COMMITTER_EMAIL=podd@localhost"}
		}
	}
	return c
}

// commitAll commits all changes and untracked files of a checkout.
func (w *lander) commitAll(ctx context.Context, message string) (did bool, err error) {
	if on, _ := line(w.git(ctx, w.r.reading("symbolic-ref", "--quiet", "--short", "HEAD"))); on != w.r.Branch() {
		return false, item.Errorf(item.KindPrecondition, "OTHER_BRANCH", "the checkout %s is not on branch %s: run git switch %s there first", w.r.Dir(), w.r.Branch(), w.r.Branch())
	}
	if repos, _ := git.Find(w.r.Dir(), ""); len(repos) > 1 {
		return false, item.Errorf(item.KindPrecondition, "NESTED_REPOSITORY", "a commit cannot have the repository %s: move it out of the checkout", repos[1].Place())
	}
	out, err := w.git(ctx, w.r.reading("status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames"))
	if err != nil || out == "" {
		return false, err
	}
	for _, entry := range fields(out) {
		if state := entry[:2]; strings.Contains(state, "U") || state == "AA" || state == "DD" {
			return false, item.Errorf(item.KindPrecondition, "LAND_CONFLICTS", "%s in the checkout %s has an unresolved conflict: let the pod resolve it", entry[3:], w.r.Dir())
		}
	}
	if _, err := w.git(ctx, w.writing(ctx, "add", "--all")); err != nil {
		return false, err
	}
	if message == "" {
		message = "Work of pod " + w.r.Name
	}
	_, err = w.git(ctx, w.writing(ctx, "commit", "--quiet", "--no-verify", "-m", message))
	return err == nil, err
}

// merge is the commit that has both a branch's commits and the checkout's. The checkout gets it too.
func (w *lander) merge(ctx context.Context, l Landing, tip string) (id string, merged bool, err error) {
	// The pod finds what it would have to merge.
	if _, err := w.git(ctx, w.writing(ctx, "update-ref", "refs/remotes/origin/"+l.Branch, l.Old)); err != nil {
		return "", false, err
	}
	out, err := line(w.git(ctx, w.r.reading("rev-list", "--left-right", "--count", l.Old+"..."+tip)))
	if err != nil {
		return "", false, err
	}
	theirs, ours, _ := strings.Cut(out, "\t")
	switch {
	case ours == "0":
		return "", false, item.Errorf(item.KindPrecondition, "NOTHING_TO_LAND", "branch %s of %s has all commits of pod %s already", l.Branch, w.r.Source, w.r.Name)
	case theirs == "0":
		return tip, false, nil
	}
	c := w.writing(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", l.Old, tip)
	out, err = w.git(ctx, c)
	parts := fields(out)
	if failed, ok := errors.AsType[*failure](err); ok && exitedWith(failed.err, 1) && len(parts) > 1 {
		return "", false, item.Errorf(item.KindPrecondition, "LAND_CONFLICTS", "branch %s of %s and pod %s changed the same lines: %s; nothing was landed: let the pod merge origin/%s, or do it yourself",
			l.Branch, w.r.Source, w.r.Name, named(parts[1:]), l.Branch)
	}
	if err != nil || len(parts) == 0 {
		return "", false, err
	}
	if id, err = line(w.git(ctx, w.writing(ctx, "commit-tree", parts[0], "-p", l.Old, "-p", tip, "-m", "Merge branch '"+w.r.Branch()+"'"))); err != nil {
		return "", false, err
	}
	_, err = w.git(ctx, w.writing(ctx, "merge", "--quiet", "--ff-only", id))
	return id, true, err
}

func exitedWith(err error, code int) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == code
}

// mostNamed bounds how many paths an error names.
const mostNamed = 20

func named(paths []string) string {
	text := strings.Join(paths[:min(len(paths), mostNamed)], ", ")
	if more := len(paths) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// clear refuses a landing that would touch local changes in the working tree of the branch.
func (w *lander) clear(ctx context.Context, l Landing) error {
	if l.Tree == "" {
		return nil
	}
	in := command{dir: l.Tree, reads: slices.Concat(treeDirs(l.Tree), w.r.Reads())}
	diff, status := in, in
	diff.args = []string{"diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", l.Old, l.New}
	status.args = []string{"status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all"}
	changes, err := w.git(ctx, diff)
	if err != nil {
		return err
	}
	local, err := w.git(ctx, status)
	if err != nil {
		return err
	}
	changed := make(map[string]bool)
	for _, entry := range fields(local) {
		if len(entry) > 3 {
			changed[entry[3:]] = true
		}
	}
	var blocked []string
	parts := fields(changes)
	for i := 0; i+1 < len(parts); i += 2 {
		kind, path := parts[i], parts[i+1]
		_, err := os.Lstat(filepath.Join(l.Tree, path))
		if changed[path] || kind == "A" && !errors.Is(err, fs.ErrNotExist) {
			blocked = append(blocked, path)
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	return item.Errorf(item.KindPrecondition, "LOCAL_CHANGES", "%s has branch %s checked out, with changes of your own in %s; nothing was landed: commit or stash them, or land into another branch with --into",
		l.Tree, l.Branch, named(blocked))
}

// treeDirs are the git directories of a working tree that are outside of it.
func treeDirs(tree string) []string {
	repo, _ := git.At(tree, "")
	return slices.DeleteFunc(slices.Clone(repo.Dirs), func(dir string) bool { return strings.HasPrefix(dir, tree+"/") })
}

// finish does a landing that is stored.
func (w *lander) finish(ctx context.Context) error {
	l := *w.r.Landing
	_, err := w.git(ctx, w.r.changing("update-ref", "-m", "podd: land pod "+w.r.Name, "refs/heads/"+l.Branch, l.New, l.Old))
	if err != nil {
		w.r.Landing = nil
		return errors.Join(item.Errorf(item.KindPrecondition, "BRANCH_MOVED", "branch %s of %s was not moved: %v; land again", l.Branch, w.r.Source, err), w.r.save())
	}
	return w.follow(ctx)
}

// follow gives the working tree of a branch the files of its new commit.
func (w *lander) follow(ctx context.Context) error {
	l := *w.r.Landing
	var err error
	if l.Tree != "" {
		c := command{dir: l.Tree, writes: true, also: treeDirs(l.Tree), reads: w.r.Reads()[1:], args: []string{"update-index", "-q", "--refresh"}}
		_, _ = w.git(ctx, c) // It fails where a file has changes, which is no harm.
		c.args = []string{"read-tree", "-m", "-u", l.Old, l.New}
		if _, err = w.git(ctx, c); err != nil {
			err = item.Errorf(item.KindPrecondition, "TREE_BEHIND", "branch %s is at %.12s, and its files in %s did not follow (%v): run git -C %s %s", l.Branch, l.New, l.Tree, err, l.Tree, strings.Join(c.args, " "))
		}
	}
	w.r.Landing = nil
	return errors.Join(err, full(w.r.save()))
}

// resume ends a landing that a killed podd began. says is a sentence if a person has to look.
func (all *Checkouts) resume(ctx context.Context, r *Record) (says string, err error) {
	defer all.lock(r)()
	l := *r.Landing
	now, err := line(all.git(ctx, command{dir: r.Common, reads: r.Reads(), args: []string{"--git-dir=.", "rev-parse", "--quiet", "--verify", "refs/heads/" + l.Branch}}))
	if _, ok := errors.AsType[*failure](err); err != nil && !ok {
		return "", err
	}
	switch now {
	case l.Old:
		err = (&lander{all, r}).finish(ctx)
	case l.New:
		err = (&lander{all, r}).follow(ctx)
	default:
		r.Landing = nil
		return fmt.Sprintf("podd was stopped while it landed pod %s, and somebody has moved branch %s of %s meanwhile: look whether it has commit %.12s", r.Name, l.Branch, r.Source, l.New), r.save()
	}
	if item.ReasonOf(err) != "" {
		return err.Error(), nil
	}
	return "", err
}
