package checkout

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/workspace/git"
)

// state is what a checkout has: files, branches, and where HEAD is. podd pushes it as one commit: that
// of HEAD if there is nothing else, otherwise one on top of it, which says the rest.
type state struct {
	// Head is the reference that HEAD names, or empty; Refs are branches and the stash, each with
	// its commit.
	Head string
	Refs []string
	// files is a commit with the files, commit that of HEAD.
	files, commit string
	parents       []string
}

// The lines of a commit that says more than its files.
const (
	headLine = "Podd-Head: "
	refLine  = "Podd-Ref: "
	// afterLine names the claim of the clone.
	afterLine = "Podd-After: "
	podLine   = "Podd-Pod: "
	detached  = "detached"
)

// message is that of the commit of a state. Lines may follow.
func (s *state) message(r *Record) string {
	var b strings.Builder
	b.WriteString("Files of pod " + r.Name + " that are not committed\n\n" + podLine + r.Pod + "\n")
	head := s.Head
	if head == "" {
		head = detached
	}
	b.WriteString(headLine + head + "\n")
	for _, ref := range s.Refs {
		b.WriteString(refLine + ref + "\n")
	}
	return b.String()
}

// poddsName is whose commits of states are.
var poddsName = []string{"GIT_AUTHOR_NAME=podd", "GIT_AUTHOR_EMAIL=podd@localhost", "GIT_COMMITTER_NAME=podd", "GIT_COMMITTER_EMAIL=podd@localhost"}

// read reads the state that a commit says.
func (c *cloner) read(ctx context.Context, id string) (*state, error) {
	out, err := c.git(ctx, c.own("show", "--no-patch", "--format=%P%n%B", id))
	if err != nil {
		return nil, err
	}
	parents, message, _ := strings.Cut(out, "\n")
	s := &state{files: id, parents: strings.Fields(parents)}
	for l := range strings.Lines(message) {
		l = strings.TrimSuffix(l, "\n")
		if head, ok := strings.CutPrefix(l, headLine); ok {
			s.Head = head
		} else if ref, ok := strings.CutPrefix(l, refLine); ok {
			s.Refs = append(s.Refs, ref)
		}
	}
	if s.Head == "" || len(s.parents) == 0 {
		return &state{Head: "refs/heads/" + c.r.Branch(), files: id, commit: id, parents: []string{id}}, nil
	}
	if s.Head == detached {
		s.Head = ""
	}
	s.commit = s.parents[0]
	return s, nil
}

// stateScript makes a tree of all files that git does not ignore. The index is a copy, with the
// times of files; the names of untracked ones come by stdin.
const stateScript = `set -e
GIT_INDEX_FILE="${TMPDIR:-/tmp}/index"; export GIT_INDEX_FILE
if [ -f .git/index ]; then cp -p .git/index "$GIT_INDEX_FILE"; else git read-tree "$1"; fi
git add --update .
git update-index --add -z --stdin
git write-tree`

// mostFile bounds the size of an untracked file that podd pushes, in bytes: servers refuse larger ones.
const mostFile = 50 << 20

// look is the state of a clone's checkout now, as one commit there. left are files that it does not
// have: too large ones, and repositories of their own.
func (all Clones) look(ctx context.Context, r *Record) (id string, left []string, err error) {
	s := &state{}
	if s.commit, err = line(all.git(ctx, r.reading("rev-parse", "--quiet", "--verify", "HEAD^{commit}"))); err != nil {
		s.commit = r.Base // Its branch has no commit.
	}
	// It fails where HEAD is detached.
	s.Head, _ = line(all.git(ctx, r.reading("symbolic-ref", "--quiet", "HEAD")))
	out, err := all.git(ctx, r.reading("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/stash"))
	if err != nil {
		return "", nil, err
	}
	s.Refs = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	out, err = all.git(ctx, r.reading("ls-files", "-z", "--others", "--exclude-standard"))
	if err != nil {
		return "", nil, err
	}
	names, left := r.takes(fields(out))
	tree := r.reading(s.commit)
	tree.script, tree.writes, tree.stdin = stateScript, true, strings.NewReader(names)
	if s.files, err = line(all.git(ctx, tree)); err != nil {
		return "", nil, err
	}
	id, err = all.record(ctx, r, s)
	return id, left, err
}

// takes are those of some untracked paths that podd pushes, and those that it leaves.
func (r *Record) takes(paths []string) (taken string, left []string) {
	var b strings.Builder
	for _, p := range paths {
		info, err := os.Lstat(filepath.Join(r.Dir(), p))
		switch {
		case err != nil: // It is gone.
		case info.IsDir() || info.Size() > mostFile:
			left = append(left, p)
		default:
			b.WriteString(p + "\x00")
		}
	}
	return b.String(), left
}

// record is a commit with a state whose files are a tree. It is the same for the same state of a clone, and
// differs from what other clones pushed before: an old node expects one of those, and would push again.
func (all Clones) record(ctx context.Context, r *Record, s *state) (string, error) {
	out, err := all.git(ctx, r.reading("show", "--no-patch", "--format=%T %ct", s.commit))
	if err != nil {
		return "", err
	}
	tree, date, _ := strings.Cut(strings.TrimSpace(out), " ")
	message := s.message(r)
	fresh := true
	if r.Claim != "" {
		if r.Ref == r.Claim {
			if as, err := all.asClaimed(ctx, r, s); as || err != nil {
				return r.Claim, err
			}
		}
		message += afterLine + r.Claim + "\n"
		_, err := all.git(ctx, r.reading("merge-base", "--is-ancestor", s.commit, r.Claim))
		fresh = err != nil
	}
	if fresh && tree == s.files && s.Head == "refs/heads/"+r.Branch() && slices.Equal(s.Refs, []string{s.Head + " " + s.commit}) {
		return s.commit, nil
	}
	tips := []string{s.commit}
	for _, ref := range s.Refs {
		if _, id, ok := strings.Cut(ref, " "); ok {
			tips = append(tips, id)
		}
	}
	out, err = all.git(ctx, r.reading(append([]string{"merge-base", "--independent"}, tips...)...))
	if err != nil {
		return "", err
	}
	c := r.reading("commit-tree", s.files, "-p", s.commit)
	for _, id := range strings.Fields(out) {
		if id != s.commit {
			c.args = append(c.args, "-p", id)
		}
	}
	c.args = append(c.args, "-m", message)
	c.writes, c.env = true, append(slices.Clone(poddsName), "GIT_AUTHOR_DATE=@"+date+" +0000", "GIT_COMMITTER_DATE=@"+date+" +0000")
	return line(all.git(ctx, c))
}

// asClaimed says whether a clone still is what its claim has: nothing happened in it, and there is nothing to push.
func (all Clones) asClaimed(ctx context.Context, r *Record, s *state) (bool, error) {
	c := &cloner{all, r, Remote{}}
	began, err := c.read(ctx, r.Base)
	if err != nil {
		return false, err
	}
	if len(began.Refs) == 0 {
		began.Refs = []string{began.Head + " " + began.commit}
	}
	files, err := line(all.git(ctx, c.own("rev-parse", r.Claim+"^{tree}")))
	return files == s.files && began.commit == s.commit && began.Head == s.Head && slices.Equal(began.Refs, s.Refs), err
}

// Save brings the state of a clone into podd's own repository, from which Push sends it. left are
// files that are not in it.
func (all Clones) Save(ctx context.Context, r *Record) (left []string, err error) {
	defer all.lock(r)()
	if r, err = load(r.place); err != nil {
		return nil, err
	}
	left, err = all.saveState(ctx, r)
	return left, full(err)
}

func (all Clones) saveState(ctx context.Context, r *Record) (left []string, err error) {
	id, left, err := all.look(ctx, r)
	if err != nil || id == r.Ref {
		return left, err
	}
	if err := all.carry(ctx, r, id); err != nil {
		return left, err
	}
	if _, err := all.git(ctx, r.changing("update-ref", "-m", "podd: work of pod "+r.Name, r.ref(), id)); err != nil {
		return left, err
	}
	r.Ref = id
	return left, r.save()
}

// Moved is the error of a push to a reference that is not what podd pushed last. podd leaves it.
type Moved struct{ r *Record }

// Error says what a person has to look at.
func (m *Moved) Error() string {
	return "it is not what podd pushed last: another node has the pod, or somebody moved " + m.r.ref()
}

// Push sends what Save brought to the source of a clone, if it has not got it.
func (all Clones) Push(ctx context.Context, r *Record) error {
	defer all.lockNamed("push " + r.place)()
	for {
		want, old, err := all.pushing(ctx, r)
		if err != nil || want == old {
			return err
		}
		failed := all.putRef(ctx, r, want, old)
		if failed != nil {
			// An answer may be lost: the source says what it has.
			_, ids, err := all.heads(ctx, r, r.ref())
			switch now := ids[r.ref()]; {
			case err != nil || now == old:
				return failed
			case now != want:
				return &Moved{r}
			}
		}
		if err := all.change(r, func(r *Record) { r.Pushed, r.Next = want, "" }); err != nil {
			return err
		}
	}
}

// pushing is what the source of a clone has to get, and what it has. An earlier push, whose answer
// was lost, may have succeeded.
func (all Clones) pushing(ctx context.Context, r *Record) (want, old string, err error) {
	now, err := load(r.place)
	if err != nil || now.Ref == now.Pushed {
		return "", "", err
	}
	if now.Next != "" && now.Next != now.Ref {
		_, ids, err := all.heads(ctx, r, r.ref())
		if err != nil {
			return "", "", err
		}
		if ids[r.ref()] == now.Next {
			now.Pushed = now.Next
		}
	}
	want, old = now.Ref, now.Pushed
	return want, old, all.change(r, func(r *Record) { r.Next, r.Pushed = want, old })
}

// change changes the record of a checkout.
func (all Clones) change(r *Record, do func(r *Record)) error {
	return all.With(r, func(r *Record) error {
		do(r)
		return r.Save()
	})
}

// IsPushed says whether the source of a clone has all that Save brought.
func (r *Record) IsPushed() bool { return r.Pushed == r.Ref }

// All are the clones, those in the trash not included.
func (all Clones) All() (clones []*Record, err error) {
	records, err := all.records(git.Resolve(all.Dir))
	return slices.DeleteFunc(records, func(r *Record) bool { return r.URL == "" }), err
}

// WentOn says whether another clone of the same pod went on with what a clone pushed. If the source does not
// answer soon, or cannot tell, it says no.
func (all Clones) WentOn(ctx context.Context, r *Record) bool {
	defer all.lock(r)()
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	_, ids, err := all.heads(ctx, r, r.ref())
	now := ids[r.ref()]
	if err != nil || now == "" || now == r.Pushed {
		return false
	}
	c := &cloner{all, r, Remote{}}
	if err := c.bring(ctx, r.ref()); err != nil {
		return false
	}
	if _, err := all.git(ctx, c.own("merge-base", "--is-ancestor", r.Pushed, now)); err == nil {
		return true
	}
	// What is not committed is in no history. A later pod may have the same name.
	says, err := all.git(ctx, c.own("show", "--no-patch", "--format=%B", now))
	return err == nil && strings.Contains(says, "\n"+podLine+r.Pod+"\n")
}

// Unneeded removes a clone whose pod has another one, if the source has all that is in it. Files that
// git ignores go with it.
func (all Clones) Unneeded(ctx context.Context, r *Record) (removed bool, err error) {
	defer all.lock(r)()
	if r, err = load(r.place); err != nil {
		return false, err
	}
	left, err := all.saveState(ctx, r)
	if err != nil || len(left) > 0 || !r.IsPushed() {
		return false, err
	}
	return true, removeAll(r.place)
}
