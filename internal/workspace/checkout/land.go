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
	if err := w.clear(ctx, out.Landing); err != nil {
		return out, err
	}
	if out.Merged {
		if _, err := w.git(ctx, w.writing(ctx, "merge", "--quiet", "--ff-only", out.New)); err != nil {
			return out, full(err)
		}
	}
	if out.Says, err = w.fetch(ctx, w.r); err != nil {
		return out, full(err)
	}
	w.r.Landing, w.r.Unlanded = &out.Landing, ""
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
	if err != nil {
		return false, err
	}
	if out == "" {
		return w.reword(ctx, message)
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
	return true, w.commit(ctx, "-m", message)
}

// commit commits what is staged in a checkout, and notes the commit until a landing succeeds.
func (w *lander) commit(ctx context.Context, args ...string) error {
	_, err := w.git(ctx, w.writing(ctx, append([]string{"commit", "--quiet", "--no-verify"}, args...)...))
	if err != nil {
		return err
	}
	if w.r.Unlanded, err = line(w.git(ctx, w.r.reading("rev-parse", "HEAD"))); err != nil {
		return err
	}
	return w.r.save()
}

// reword gives the newest commit of a checkout another message, if a landing that was refused later
// made it: the person of this landing has that commit in mind.
func (w *lander) reword(ctx context.Context, message string) (did bool, err error) {
	if message == "" || w.r.Unlanded == "" {
		return false, nil
	}
	head, err := line(w.git(ctx, w.r.reading("rev-parse", "HEAD")))
	if err != nil || head != w.r.Unlanded {
		return false, err
	}
	return true, w.commit(ctx, "--amend", "-m", message)
}

// merge is the commit that has both a branch's commits and the checkout's.
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
	id, err = line(w.git(ctx, w.writing(ctx, "commit-tree", parts[0], "-p", l.Old, "-p", tip, "-m", "Merge branch '"+w.r.Branch()+"'")))
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
	_, blocked, err := w.local(ctx, l)
	if err != nil || len(blocked) == 0 {
		return err
	}
	return item.Errorf(item.KindPrecondition, "LOCAL_CHANGES", "%s has branch %s checked out, with changes of your own in %s; nothing was landed: commit or stash them, or land into another branch with --into",
		l.Tree, l.Branch, named(blocked))
}

// local are the files of a landing that differ from the old commit in the working tree: those that
// are as the new commit has them, as after Apply, and those that block the landing. It does not
// depend on where the branch is.
func (w *lander) local(ctx context.Context, l Landing) (landed, blocked []string, err error) {
	in := command{dir: l.Tree, reads: slices.Concat(treeDirs(l.Tree), w.r.Reads())}
	diff := func(args ...string) ([]string, error) {
		c := in
		c.args = append([]string{"diff", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"}, args...)
		out, err := w.git(ctx, c)
		return fields(out), err
	}
	changes, err := diff("--raw", "--no-abbrev", l.Old, l.New)
	if err != nil {
		return nil, nil, err
	}
	staged, err := diff("--name-only", "--ignore-submodules=all", "--cached", l.Old)
	if err != nil {
		return nil, nil, err
	}
	changed, err := diff("--name-only", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	isStaged, isChanged := set(staged), set(changed)
	var paths, wanted []string
	for i := 0; i+1 < len(changes); i += 2 {
		// :MODE MODE OLD NEW KIND
		change, path := strings.Fields(changes[i]), changes[i+1]
		mode, id, kind := change[1], change[3], change[4]
		info, err := os.Lstat(filepath.Join(l.Tree, path))
		exists := !errors.Is(err, fs.ErrNotExist)
		switch {
		case !isStaged[path] && !isChanged[path] && !(kind == "A" && exists):
		case isStaged[path] && isChanged[path]:
			blocked = append(blocked, path)
		case kind == "D" && !exists:
			landed = append(landed, path)
		case err == nil && info.Mode().IsRegular() && mode == fileMode(info) && !strings.Contains(path, "\n"):
			paths, wanted = append(paths, path), append(wanted, id)
		default:
			blocked = append(blocked, path)
		}
	}
	if len(paths) == 0 {
		return landed, blocked, nil
	}
	in.args, in.stdin = []string{"hash-object", "--stdin-paths"}, strings.NewReader(strings.Join(paths, "\n")+"\n")
	out, err := w.git(ctx, in)
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(paths) {
		err = fmt.Errorf("git hash-object named %d of %d files", len(ids), len(paths))
	}
	if err != nil {
		return nil, nil, err
	}
	for i, path := range paths {
		if ids[i] == wanted[i] {
			landed = append(landed, path)
		} else {
			blocked = append(blocked, path)
		}
	}
	return landed, blocked, nil
}

func set(paths []string) map[string]bool {
	all := make(map[string]bool, len(paths))
	for _, path := range paths {
		all[path] = true
	}
	return all
}

// fileMode is the mode that git has for a regular file.
func fileMode(info fs.FileInfo) string {
	if info.Mode()&0o100 != 0 {
		return "100755"
	}
	return "100644"
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
		err = w.take(ctx, l, c)
		c.args = []string{"read-tree", "-m", "-u", l.Old, l.New}
		if err == nil {
			_, err = w.git(ctx, c)
		}
		if err != nil {
			err = item.Errorf(item.KindPrecondition, "TREE_BEHIND", "branch %s is at %.12s, and its files in %s did not follow (%v): run git -C %s %s", l.Branch, l.New, l.Tree, err, l.Tree, strings.Join(c.args, " "))
		}
	}
	w.r.Landing = nil
	return errors.Join(err, full(w.r.save()))
}

// take brings the files that a working tree has already into its index, as c runs git there: git
// would take them for changes that the new commit overwrites.
func (w *lander) take(ctx context.Context, l Landing, c command) error {
	landed, _, err := w.local(ctx, l)
	if err != nil || len(landed) == 0 {
		return err
	}
	c.args, c.stdin = []string{"update-index", "--add", "--remove", "-z", "--stdin"}, strings.NewReader(strings.Join(landed, "\x00")+"\x00")
	_, err = w.git(ctx, c)
	return err
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
