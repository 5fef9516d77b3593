package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// remote makes a bare repository with the commits of the person's.
func (b *bench) remote() string {
	b.t.Helper()
	dir := filepath.Join(filepath.Dir(b.repo), "server", "app.git")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		b.t.Fatal(err)
	}
	b.git(b.repo, "clone", "--quiet", "--bare", b.repo, dir)
	return dir
}

func (b *bench) clones() checkout.Clones { return checkout.Clones{Checkouts: b.all} }

func (b *bench) clone(w checkout.Remote, n int, resumes bool) *checkout.Record {
	b.t.Helper()
	w.ID = "pod_0123456789"
	w.Dir = b.clones().Place(w, n)
	do := b.clones().Clone
	if resumes {
		do = b.clones().Resume
	}
	r, err := do(b.t.Context(), w)
	if err == nil {
		err = b.all.Keep(r)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) push(r *checkout.Record) {
	b.t.Helper()
	if _, err := b.clones().Save(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
	if err := b.clones().Push(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

// What a pod has when its turn ends comes back in another clone: commits, branches, the stash, and
// what is not committed.
func TestCloneGoesOn(t *testing.T) {
	b := setup(t)
	remote := b.remote()
	w := checkout.Remote{Name: "p", URL: remote}
	r := b.clone(w, 1, false)
	if got := b.git(remote, "rev-parse", "refs/podd/p"); got != r.Base || got != b.git(b.repo, "rev-parse", "HEAD") {
		t.Errorf("the reference is %s", got)
	}
	// One branch, all committed: the reference names its commit.
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.git(r.Dir(), "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-am", "work")
	b.push(r)
	if got := b.git(remote, "log", "-1", "--format=%s", "refs/podd/p"); got != "work" {
		t.Errorf("the commit is %q", got)
	}
	// More than that.
	b.git(r.Dir(), "branch", "other", "HEAD~1")
	b.write(r.Dir(), "a.txt", "stashed\n")
	b.git(r.Dir(), "-c", "user.name=A", "-c", "user.email=a@b", "stash", "--quiet")
	b.write(r.Dir(), "sub/b.txt", "changed\n")
	b.write(r.Dir(), "new file", "new\n")
	b.write(r.Dir(), "out/ignored", "x\n")
	b.push(r)
	first := b.git(remote, "rev-parse", "refs/podd/p")
	b.push(r)
	if got := b.git(remote, "rev-parse", "refs/podd/p"); got != first {
		t.Errorf("an equal state has another commit")
	}
	if got := b.git(remote, "show", "refs/podd/p:new file"); got != "new" {
		t.Errorf("pushed %q", got)
	}

	again := b.clone(w, 2, true)
	if again.Dir() == r.Dir() || again.Base != first {
		t.Errorf("in %s, from %s", again.Dir(), again.Base)
	}
	if got := b.git(again.Dir(), "log", "-1", "--format=%s %D"); !strings.HasPrefix(got, "work HEAD -> podd/p") {
		t.Errorf("HEAD is %q", got)
	}
	if got := b.git(again.Dir(), "status", "--porcelain"); got != "M sub/b.txt\n?? \"new file\"" {
		t.Errorf("status %q", got)
	}
	if b.git(again.Dir(), "rev-parse", "other") != b.git(r.Dir(), "rev-parse", "other") {
		t.Error("the other branch is gone")
	}
	b.git(again.Dir(), "stash", "pop", "--quiet")
	if got := b.read(again.Dir(), "a.txt"); got != "stashed\n" {
		t.Errorf("the stash has %q", got)
	}
	// The first clone pushes nothing any more.
	b.write(r.Dir(), "late", "late\n")
	if _, err := b.clones().Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := b.clones().Push(t.Context(), r); err == nil || !strings.Contains(err.Error(), "it is not what podd pushed last") {
		t.Errorf("a late push: %v", err)
	}
	if removed, err := b.clones().Unneeded(t.Context(), r); err != nil || removed {
		t.Errorf("a clone with more than was pushed is removed: %v, %v", removed, err)
	}
	b.push(again)
	b.fsck(remote, again.Dir())
}

// HEAD on no branch comes back too.
func TestCloneDetached(t *testing.T) {
	b := setup(t)
	w := checkout.Remote{Name: "p", URL: "file://" + b.remote()}
	r := b.clone(w, 1, false)
	b.git(r.Dir(), "checkout", "--quiet", "HEAD~1")
	b.write(r.Dir(), "a.txt", "x\n")
	b.push(r)
	again := b.clone(w, 2, true)
	if got := b.git(again.Dir(), "status", "--porcelain", "--branch"); got != "## HEAD (no branch)\n M a.txt" {
		t.Errorf("status %q", got)
	}
	if b.git(again.Dir(), "rev-parse", "podd/p") != b.git(r.Dir(), "rev-parse", "podd/p") {
		t.Error("the branch is another")
	}
	if removed, err := b.clones().Unneeded(t.Context(), r); err != nil || !removed {
		t.Errorf("a clone that was pushed stays: %v, %v", removed, err)
	}
}

// A clone goes only when its source has what is in it.
func TestCloneRemoval(t *testing.T) {
	b := setup(t)
	remote := b.remote()
	r := b.clone(checkout.Remote{Name: "p", URL: remote, Ref: "main"}, 1, false)
	b.write(r.Dir(), "new", "new\n")
	b.write(r.Dir(), "out/x", "x\n")
	left, err := b.all.Remove(t.Context(), r, nil)
	if got := fmt.Sprint(left); err != nil || !strings.Contains(got, "not pushed") || !strings.Contains(got, "{left out out/}") || strings.Contains(got, "untracked") {
		t.Errorf("left %v, %v", left, err)
	}
	b.push(r)
	if left, err = b.all.Remove(t.Context(), r, []string{"out"}); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	back, err := b.all.Trashed("pod_0123456789")
	if err != nil || back == nil {
		t.Fatal(err)
	}
	if err := b.all.Return(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	b.push(r)
	if got := b.read(r.Dir(), "out/x"); got != "x\n" {
		t.Errorf("brought back: %q", got)
	}
	// The reference stays while no branch has its commits, and comes back with the clone.
	b.git(remote, "update-ref", "refs/heads/taken", "refs/podd/p")
	if left, err = b.all.Remove(t.Context(), r, []string{"out"}); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if got := b.git(remote, "for-each-ref", "refs/podd"); got != "" {
		t.Errorf("the reference stays: %q", got)
	}
	if back, err = b.all.Trashed("pod_0123456789"); err != nil || back == nil {
		t.Fatal(err)
	}
	if err := b.all.Return(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	b.push(back)
	if b.git(remote, "rev-parse", "refs/podd/p") != b.git(remote, "rev-parse", "taken") {
		t.Error("the reference is another")
	}
}

// A clone that is made again is kept: the next turn of the family that asks for it works in the same one.
func TestCloneResumedTwice(t *testing.T) {
	b := setup(t)
	w := checkout.Remote{Name: "p", ID: "pod_0123456789", URL: b.remote()}
	b.clone(w, 1, false)
	w.Dir = b.clones().Place(w, 2)
	resume := func() {
		if _, err := b.clones().Resume(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	resume()
	b.write(w.Dir, "work", "x\n")
	resume()
	if got := b.read(w.Dir, "work"); got != "x\n" {
		t.Errorf("the file has %q", got)
	}
}

// A clone in which nothing happened is not needed once there is another one.
func TestCloneUnneeded(t *testing.T) {
	b := setup(t)
	w := checkout.Remote{Name: "p", URL: b.remote()}
	first := b.clone(w, 1, false)
	for n := 2; n < 8; n += 2 {
		second := b.clone(w, n, true)
		third := b.clone(w, n+1, true)
		if removed, err := b.clones().Unneeded(t.Context(), second); err != nil || !removed {
			t.Errorf("clone %d was removed: %v, %v", n, removed, err)
		}
		switch n {
		case 2:
			b.write(third.Dir(), "more.txt", "2\n") // It is not committed.
		case 4:
			b.git(third.Dir(), "add", "-A")
			b.git(third.Dir(), "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "--quiet", "-m", "more")
			b.git(third.Dir(), "branch", "other")
		}
		b.push(third)
	}
	b.write(first.Dir(), "new.txt", "1\n")
	if removed, err := b.clones().Unneeded(t.Context(), first); err != nil || removed {
		t.Errorf("the clone with what is not pushed was removed: %v, %v", removed, err)
	}
}

// A clone is an earlier one once another clone went on with what it pushed.
func TestCloneWentOn(t *testing.T) {
	b := setup(t)
	remote := b.remote()
	w := checkout.Remote{Name: "p", URL: remote}
	first := b.clone(w, 1, false)
	b.write(first.Dir(), "new.txt", "1\n")
	b.push(first)
	want := func(went bool, what string) {
		t.Helper()
		first, err := b.all.Of(first.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if got := b.clones().WentOn(t.Context(), first); got != went {
			t.Errorf("%s: another clone went on: %v", what, got)
		}
	}
	want(false, "the only clone")
	second := b.clone(w, 2, true)
	want(true, "there is a second one")
	if b.clones().WentOn(t.Context(), second) {
		t.Error("the last clone is not the last")
	}
	b.write(second.Dir(), "more.txt", "2\n")
	b.push(second)
	want(true, "the second one has more files")
	b.git(remote, "update-ref", "refs/podd/p", "refs/heads/main")
	want(false, "somebody moved the reference")
	b.git(remote, "update-ref", "-d", "refs/podd/p")
	want(false, "somebody removed the reference")
	if err := os.RemoveAll(remote); err != nil {
		t.Fatal(err)
	}
	want(false, "the source is gone")
}

// A pod that could not be made leaves nothing, neither here nor there.
func TestCloneDiscard(t *testing.T) {
	b := setup(t)
	remote := b.remote()
	w := checkout.Remote{Name: "p", URL: remote, ID: "pod_1"}
	w.Dir = b.clones().Place(w, 1)
	r, err := b.clones().Clone(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.all.Discard(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := b.git(remote, "for-each-ref", "refs/podd"); got != "" || b.read(r.Dir(), "a.txt") != "gone" {
		t.Errorf("left: %q", got)
	}
}

func TestCloneRefuses(t *testing.T) {
	b := setup(t)
	remote := b.remote()
	b.clone(checkout.Remote{Name: "p", URL: remote}, 1, false)
	empty := filepath.Join(filepath.Dir(remote), "empty.git")
	b.git(b.repo, "init", "--quiet", "--bare", empty)
	locked := filepath.Join(filepath.Dir(remote), "locked.git")
	b.git(b.repo, "clone", "--quiet", "--bare", b.repo, locked)
	b.git(locked, "config", "receive.hideRefs", "refs/podd")
	headless := filepath.Join(filepath.Dir(remote), "headless.git")
	b.git(b.repo, "clone", "--quiet", "--bare", b.repo, headless)
	b.git(headless, "symbolic-ref", "HEAD", "refs/heads/none")
	b.clone(checkout.Remote{Name: "named", URL: headless, Ref: "main"}, 1, false)
	for what, c := range map[string]struct {
		w            checkout.Remote
		reason, says string
	}{
		"no default branch":    {checkout.Remote{URL: headless}, "UNKNOWN_REF", "name another one with --ref"},
		"nothing there":        {checkout.Remote{URL: remote + "x"}, "BAD_REMOTE", "does not appear to be a git repository"},
		"no such ref":          {checkout.Remote{URL: remote, Ref: "nowhere"}, "UNKNOWN_REF", `"nowhere" names no commit`},
		"no such full ref":     {checkout.Remote{URL: remote, Ref: "refs/pull/1/head"}, "UNKNOWN_REF", "has no refs/pull/1/head"},
		"an option":            {checkout.Remote{URL: "--upload-pack=x"}, "BAD_URL", "name a URL"},
		"a program":            {checkout.Remote{URL: "ext::sh -c x"}, "BAD_URL", "begins with https://"},
		"a relative path":      {checkout.Remote{URL: "app.git"}, "BAD_URL", "name a URL"},
		"a password":           {checkout.Remote{URL: "https://me:secret@example.com/app.git"}, "BAD_URL", "leave the password out"},
		"an empty repository":  {checkout.Remote{URL: empty}, "NO_COMMITS", "has no commit yet"},
		"no right to push":     {checkout.Remote{URL: locked}, "CANNOT_PUSH", "podd can't push to"},
		"a reference that is":  {checkout.Remote{URL: remote, Name: "p"}, "REF_EXISTS", "already has refs/podd/p"},
		"a ref that is option": {checkout.Remote{URL: remote, Ref: "--all"}, "UNKNOWN_REF", "names no commit"},
	} {
		c.w.ID = "pod_2"
		if c.w.Name == "" {
			c.w.Name = "other"
		}
		c.w.Dir = b.clones().Place(c.w, 1)
		_, err := b.clones().Clone(t.Context(), c.w)
		if item.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(filepath.Dir(c.w.Dir)); err == nil {
			t.Errorf("%s left %s", what, c.w.Dir)
		}
	}
}

// Programs of a repository on this machine do not run, in whatever way a URL names it.
func TestCloneRunsNoProgramsOfItsSource(t *testing.T) {
	b := setup(t)
	mark, program := filepath.Join(filepath.Dir(b.repo), "mark"), filepath.Join(filepath.Dir(b.repo), "evil")
	plant(b, b.repo, program, mark)
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for name, url := range map[string]string{"path": b.repo, "url": "file://" + b.repo} {
		r := b.clone(checkout.Remote{Name: name, URL: url}, 1, false)
		b.write(r.Dir(), "made", "by the agent\n")
		b.push(r)
		if b.read(filepath.Dir(mark), "mark") != "gone" {
			t.Errorf("%s: a program of the source ran", url)
		}
	}
}
