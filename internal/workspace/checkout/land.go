package checkout

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// Landing is a change of a branch of the source.
type Landing struct {
	// Branch is its name, Old and New its commits, Tree the working tree that has it; empty
	// without one.
	Branch string `json:"branch"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Tree   string `json:"tree,omitempty"`
	// Lock is what podd's lock of its index says, and the name of the index that it makes.
	Lock string `json:"lock,omitempty"`
}

// Landed is what became of a landing.
type Landed struct {
	Landing
	// Committed says that there was something to commit first, Merged that the branch had commits
	// of its own.
	Committed, Merged bool
	// Commits is how many commits of the checkout it brought, Subject that of the newest.
	Commits int
	Subject string
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
	return (&lander{Checkouts: all, r: r}).land(ctx, into, message)
}

// lander does one landing.
type lander struct {
	*Checkouts
	r *Record
	// author is what git needs to know where the person has no name.
	author []string
	// changes are those of the landing, config is how git converts the files of the working tree.
	changes []change
	config  [][2]string
}

// look finds out what a landing changes.
func (w *lander) look(ctx context.Context, l Landing) (err error) {
	if w.config != nil {
		return nil
	}
	in := command{dir: cmp.Or(l.Tree, w.r.Source)}
	in.reads = slices.Concat(treeDirs(in.dir), w.r.Reads())
	if w.changes, err = w.between(ctx, in, l.Old, l.New); err == nil {
		w.config, err = w.conversions(ctx, in.dir, in.reads)
	}
	return err
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
	if out.Subject, out.Commits, err = w.brings(ctx, out.Old, tip); err != nil {
		return out, err
	}
	if err := w.carry(ctx, w.r, out.New); err != nil {
		return out, full(err)
	}
	if err := w.unfiltered(ctx, out.Landing); err != nil {
		return out, err
	}
	out.Lock = newLock()
	w.r.Landing = &out.Landing
	if err := w.r.save(); err != nil {
		return out, full(err)
	}
	err = w.finish(ctx, func() (err error) {
		out.Says, err = w.share(ctx, out.Landing)
		return err
	})
	return out, err
}

// share gives the checkout what a landing merged, and the source the checkout's branch. says is as
// that of fetch.
func (w *lander) share(ctx context.Context, l Landing) (says string, err error) {
	if _, err := w.git(ctx, w.writing(ctx, "merge", "--quiet", "--ff-only", l.New)); err != nil {
		return "", full(err)
	}
	says, err = w.fetch(ctx, w.r)
	return says, full(err)
}

// newLock is what the lock of one landing says.
func newLock() string { return "podd-" + rand.Text() }

// brings are what a landing brings to a branch: the number of commits, and the subject of the newest.
func (w *lander) brings(ctx context.Context, old, tip string) (subject string, commits int, err error) {
	out, err := w.git(ctx, w.r.reading("log", "--format=%s", old+".."+tip))
	subject, _, _ = strings.Cut(out, "\n")
	return subject, strings.Count(out, "\n"), err
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
	out, err := w.git(ctx, command{dir: w.r.Common, reads: w.r.Reads(), args: []string{"--git-dir=.", "for-each-ref", "--format=%(refname) %(objectname) %(symref)", "refs/heads/" + into}})
	if err != nil {
		return l, err
	}
	for entry := range strings.Lines(out) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(entry, "\n"), " ")
		id, names, _ := strings.Cut(rest, " ")
		if name != "refs/heads/"+into {
			continue
		}
		l.Old = id
		// A branch may stand for another one.
		if other, ok := strings.CutPrefix(names, "refs/heads/"); ok {
			l.Branch = other
		}
	}
	if l.Old == "" {
		return l, item.Errorf(item.KindInvalid, "UNKNOWN_BRANCH", "%s has no branch %q: git -C %s branch lists them", w.r.Source, into, sanitize.Word(w.r.Source))
	}
	if l.Tree, err = w.treeOf(ctx, l.Branch); err != nil {
		return l, err
	}
	return l, w.idle(l)
}

// sees are the git directories of the source's working tree.
func (r *Record) sees() []string {
	repo, _ := git.At(r.Source, "")
	return append(slices.Clone(repo.Dirs), r.Reads()...)
}

// poddsName is whose commits are where the person has no name.
var poddsName = []string{"GIT_AUTHOR_NAME=podd", "GIT_AUTHOR_EMAIL=podd@localhost", "GIT_COMMITTER_NAME=podd", "GIT_COMMITTER_EMAIL=podd@localhost"}

// writing is a run of git that changes the checkout, by the person or, where that has no name, podd.
func (w *lander) writing(ctx context.Context, args ...string) command {
	c := w.r.reading(args...)
	c.writes = true
	if w.author == nil {
		w.author = []string{}
		if out, _ := w.git(ctx, w.r.reading("config", "--name-only", "--get-regexp", `^user\.(name|email)$`)); len(slices.Compact(strings.Fields(out))) < 2 {
			w.author = poddsName
		}
	}
	c.env = w.author
	return c
}

// commitAll commits all changes and untracked files of a checkout.
func (w *lander) commitAll(ctx context.Context, message string) (did bool, err error) {
	if on, _ := line(w.git(ctx, w.r.reading("symbolic-ref", "--quiet", "--short", "HEAD"))); on != w.r.Branch() {
		return false, item.Errorf(item.KindPrecondition, "OTHER_BRANCH", "the checkout %s is not on branch %s: run git switch %s there first", w.r.Dir(), w.r.Branch(), sanitize.Word(w.r.Branch()))
	}
	if tops := git.Find(w.r.Dir(), nil).Tops; len(tops) > 1 {
		return false, item.Errorf(item.KindPrecondition, "NESTED_REPOSITORY", "a commit cannot have the repository %s: move it out of the checkout", tops[1])
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
	if before, err := line(w.git(ctx, w.r.reading("rev-parse", "--verify", l.Old+"^{tree}"))); err != nil {
		return "", false, err
	} else if before == parts[0] {
		return "", false, item.Errorf(item.KindPrecondition, "NOTHING_TO_LAND", "branch %s of %s has all that pod %s changed already", l.Branch, w.r.Source, w.r.Name)
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

// finish does a landing that is stored, or nothing of it: then the error says why. Once the working
// tree is ready and locked, it calls then.
func (w *lander) finish(ctx context.Context, then func() error) error {
	l := *w.r.Landing
	err := w.move(ctx, l, then)
	w.r.Landing = nil
	if err == nil {
		w.r.Unlanded = ""
	}
	return errors.Join(err, full(w.r.save()))
}

func (w *lander) move(ctx context.Context, l Landing, then func() error) error {
	t, err := w.hold(ctx, l)
	if err != nil {
		return err
	}
	defer t.release()
	if err := t.ready(ctx); err != nil {
		return err
	}
	if err := w.setRef(ctx, l, "abort"); err != nil {
		return err
	}
	if err := then(); err != nil {
		return err
	}
	// What has begun ends: a git that is stopped here would leave files of the person's half changed.
	ctx = context.WithoutCancel(ctx)
	if err := t.follow(ctx); err != nil {
		return err
	}
	if err := w.setRef(ctx, l, "commit"); err != nil {
		return errors.Join(err, t.back(ctx, false))
	}
	return t.settle(ctx)
}

// setRef moves the branch with the end commit. With abort it only tries.
func (w *lander) setRef(ctx context.Context, l Landing, end string) error {
	c := w.r.changing("update-ref", "-m", "podd: land pod "+w.r.Name, "--stdin")
	c.stdin = strings.NewReader("start\nupdate refs/heads/" + l.Branch + " " + l.New + " " + l.Old + "\nprepare\n" + end + "\n")
	if _, err := w.git(ctx, c); err != nil {
		return item.Errorf(item.KindPrecondition, "BRANCH_MOVED", "branch %s of %s cannot be moved (%v); nothing was landed: land again", l.Branch, w.r.Source, err)
	}
	return nil
}

// resume ends a landing that a killed podd began. says is a sentence if a person has to look.
func (all *Checkouts) resume(ctx context.Context, r *Record) (says string, err error) {
	defer all.lock(r)()
	if r.Landing.Lock == "" { // It is of an earlier version.
		r.Landing.Lock = newLock()
	}
	l := *r.Landing
	now, err := line(all.git(ctx, command{dir: r.Common, reads: r.Reads(), args: []string{"--git-dir=.", "rev-parse", "--quiet", "--verify", "refs/heads/" + l.Branch}}))
	if _, ok := errors.AsType[*failure](err); err != nil && !ok {
		return "", err
	}
	w := &lander{Checkouts: all, r: r}
	switch now {
	case l.Old:
		err = w.finish(ctx, func() (err error) {
			if says, err = w.share(ctx, l); err != nil && item.ReasonOf(err) == "" {
				err = item.Errorf(item.KindPrecondition, "NOT_LANDED", "podd was stopped while it landed pod %s, and nothing was landed (%v): land again", r.Name, err)
			}
			return err
		})
	case l.New:
		err = w.catchUp(ctx)
	default:
		(&tree{lander: w, l: l, own: ownDir(l.Tree)}).release()
		r.Landing = nil
		return fmt.Sprintf("podd was stopped while it landed pod %s, and somebody has moved branch %s of %s meanwhile: look whether it has commit %.12s", r.Name, l.Branch, r.Source, l.New), r.save()
	}
	if item.ReasonOf(err) != "" {
		return err.Error(), nil
	}
	return says, err
}

// catchUp gives the working tree the files of a branch that was moved.
func (w *lander) catchUp(ctx context.Context) error {
	l := *w.r.Landing
	t, err := w.hold(ctx, l)
	if err == nil {
		defer t.release()
		if err = t.ready(ctx); err == nil {
			err = t.follow(ctx)
		}
		if err == nil {
			err = t.settle(ctx)
		}
	}
	if err != nil {
		err = item.Errorf(item.KindPrecondition, "TREE_BEHIND", "branch %s is at %.12s, and its files in %s did not follow: run git -C %s read-tree -m -u %s %s (%v)", l.Branch, l.New, l.Tree, sanitize.Word(l.Tree), l.Old, l.New, err)
	}
	w.r.Landing, w.r.Unlanded = nil, ""
	return errors.Join(err, full(w.r.save()))
}

// release ends the landing.
func (t *tree) release() {
	if t.own == "" {
		return
	}
	_ = os.Remove(t.newLock()) // A podd that was killed just before it had the lock left it.
	if t.isOurs() {
		_, _ = os.Remove(t.index()), os.Remove(t.lock())
	}
}
