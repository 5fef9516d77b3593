package checkout_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/guard/sandbox"
	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// bench is a person's repository and the checkouts of it.
type bench struct {
	t           *testing.T
	repo, state string
	all         *checkout.Checkouts
	now         time.Time
}

// setup makes a repository with two commits.
func setup(t *testing.T, init ...string) *bench {
	t.Helper()
	return setupIn(t, "auto", init...)
}

// setupIn does so for checkouts whose git runs in a kind of sandbox.
func setupIn(t *testing.T, mode string, init ...string) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, repo: filepath.Join(top, "repo"), state: filepath.Join(top, "state"), now: time.Now()}
	for _, dir := range []string{b.repo, b.state, filepath.Join(top, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	box := sandbox.Detect(t.Context(), sandbox.Config{Mode: mode, Hidden: []string{b.state}, Checkouts: filepath.Join(b.state, "checkouts")})
	if box.Fate() != sandbox.Confined && mode != "auto" {
		t.Skip(box.Why())
	} else if box.Fate() != sandbox.Confined {
		box = sandbox.Detect(t.Context(), sandbox.Config{Mode: "off"})
	}
	b.all = checkout.New(checkout.Config{
		Dir: filepath.Join(b.state, "checkouts"), Home: filepath.Join(top, "home"), Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
		Confine: box.Confine,
	})
	b.git(b.repo, append([]string{"init", "--quiet", "--initial-branch=main"}, init...)...)
	b.git(b.repo, "config", "user.name", "A Person")
	b.git(b.repo, "config", "user.email", "person@example.com")
	b.write(b.repo, "a.txt", "first\n")
	b.write(b.repo, "sub/b.txt", "b\n")
	b.write(b.repo, ".gitignore", "out/\n")
	b.git(b.repo, "add", "-A")
	b.git(b.repo, "commit", "--quiet", "-m", "first")
	b.write(b.repo, "a.txt", "second\n")
	b.git(b.repo, "commit", "--quiet", "-am", "second")
	return b
}

func (b *bench) command(dir string, args ...string) *exec.Cmd {
	return exec.CommandContext(b.t.Context(), "git", append([]string{"-C", dir}, args...)...)
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.command(dir, args...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) write(dir, name, text string) {
	b.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "gone"
	}
	return string(data)
}

// make makes the checkout of a pod.
func (b *bench) make(w checkout.Wanted) *checkout.Record {
	b.t.Helper()
	if w.Dir == "" {
		w.Dir = b.repo
	}
	w.ID = "pod_" + w.Name
	r, err := b.all.Make(b.t.Context(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.all.Keep(r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) fsck(dirs ...string) {
	b.t.Helper()
	for _, dir := range dirs {
		b.git(dir, "fsck", "--full", "--strict", "--no-dangling")
	}
}

func TestMake(t *testing.T) {
	b := setup(t)
	b.write(b.repo, "a.txt", "of the person\n")
	b.write(b.repo, "new file", "new\n")
	b.write(b.repo, "out/log", "ignored\n")
	if err := os.Remove(filepath.Join(b.repo, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	head := b.git(b.repo, "rev-parse", "HEAD")
	for _, c := range []struct {
		want                  checkout.Wanted
		a, b, fresh, log, tip string
	}{
		{checkout.Wanted{Name: "plain"}, "second\n", "b\n", "gone", "gone", head},
		{checkout.Wanted{Name: "older", Base: "HEAD~1"}, "first\n", "b\n", "gone", "gone", b.git(b.repo, "rev-parse", "HEAD~1")},
		{checkout.Wanted{Name: "with", Changes: true}, "of the person\n", "gone", "new\n", "gone", head},
	} {
		r := b.make(c.want)
		dir := r.Dir()
		if got := b.read(dir, "a.txt"); got != c.a {
			t.Errorf("%s: a.txt is %q", c.want.Name, got)
		}
		if got := b.read(dir, "sub/b.txt"); got != c.b {
			t.Errorf("%s: b.txt is %q", c.want.Name, got)
		}
		if fresh, log := b.read(dir, "new file"), b.read(dir, "out/log"); fresh != c.fresh || log != c.log {
			t.Errorf("%s: the new file is %q, the log %q", c.want.Name, fresh, log)
		}
		if got := b.git(dir, "symbolic-ref", "--short", "HEAD"); got != "podd/"+c.want.Name {
			t.Errorf("%s: on branch %s", c.want.Name, got)
		}
		if tip, pin := b.git(dir, "rev-parse", "HEAD"), b.git(b.repo, "rev-parse", "refs/podd/"+c.want.Name); tip != c.tip || pin != c.tip {
			t.Errorf("%s: at %s, pinned %s, want %s", c.want.Name, tip, pin, c.tip)
		}
		if got := b.git(dir, "config", "user.email"); got != "person@example.com" {
			t.Errorf("%s: commits are of %s", c.want.Name, got)
		}
		if objects, _ := filepath.Glob(filepath.Join(dir, ".git/objects/??/*")); len(objects) > 0 {
			t.Errorf("%s: the checkout has objects of its own: %q", c.want.Name, objects)
		}
		if of, err := b.all.Of(filepath.Join(dir, "sub")); err != nil || of == nil || of.Name != c.want.Name {
			t.Errorf("%s: the record of the directory is %v, %v", c.want.Name, of, err)
		}
		b.fsck(dir)
	}
	b.fsck(b.repo)
	if got := b.git(b.repo, "status", "--porcelain"); got != "M a.txt\n D sub/b.txt\n?? \"new file\"" {
		t.Errorf("the person's tree changed: %q", got)
	}
}

// What cannot be a checkout is refused, and nothing is left of it.
func TestRefused(t *testing.T) {
	b := setup(t)
	bare, empty, none, partial := filepath.Join(b.state, "bare.git"), filepath.Join(b.state, "empty"), filepath.Join(b.state, "none"), filepath.Join(b.state, "partial")
	b.git(b.repo, "clone", "--quiet", "--bare", ".", bare)
	b.git(b.repo, "init", "--quiet", empty)
	b.git(b.repo, "clone", "--quiet", ".", partial)
	b.git(partial, "config", "extensions.partialClone", "origin")
	b.git(b.repo, "update-ref", "refs/podd/taken", "HEAD~1")
	if err := os.Mkdir(none, 0o700); err != nil {
		t.Fatal(err)
	}
	b.make(checkout.Wanted{Name: "there"})
	for _, c := range []struct {
		want   checkout.Wanted
		reason string
	}{
		{checkout.Wanted{Name: "x", Dir: none}, "NOT_A_REPOSITORY"},
		{checkout.Wanted{Name: "x", Dir: filepath.Join(b.state, "missing")}, "BAD_DIR"},
		{checkout.Wanted{Name: "x", Dir: bare}, "BARE_REPOSITORY"},
		{checkout.Wanted{Name: "x", Dir: filepath.Join(b.repo, ".git")}, "BARE_REPOSITORY"},
		{checkout.Wanted{Name: "x", Dir: empty}, "NO_COMMITS"},
		{checkout.Wanted{Name: "x", Dir: partial}, "PARTIAL_CLONE"},
		{checkout.Wanted{Name: "x", Base: "nowhere"}, "UNKNOWN_REF"},
		{checkout.Wanted{Name: "x", Base: "--all"}, "UNKNOWN_REF"},
		{checkout.Wanted{Name: "x", Base: "HEAD:a.txt"}, "UNKNOWN_REF"},
		{checkout.Wanted{Name: "x", Base: "HEAD~1", Changes: true}, "BASE_WITH_CHANGES"},
		{checkout.Wanted{Name: "x", Dir: filepath.Join(b.repo, "late"), Base: "HEAD"}, "BAD_DIR"},
		{checkout.Wanted{Name: "taken"}, "REF_EXISTS"},
		{checkout.Wanted{Name: "there"}, "CHECKOUT_EXISTS"},
	} {
		if c.want.Dir == "" {
			c.want.Dir = b.repo
		}
		if c.want.Dir == filepath.Join(b.repo, "late") {
			b.write(b.repo, "late/file", "not in the commit")
		}
		_, err := b.all.Make(t.Context(), c.want)
		if item.ReasonOf(err) != c.reason {
			t.Errorf("%+v: %v, want %s", c.want, err, c.reason)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.state, "checkouts/[a-z]*")); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
	if refs := b.git(b.repo, "for-each-ref", "--format=%(refname)", "refs/podd"); refs != "refs/podd/taken\nrefs/podd/there" {
		t.Errorf("the references are %q", refs)
	}
}

func TestFetch(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			b := setup(t, "--object-format="+format)
			r := b.make(checkout.Wanted{Name: "p"})
			fetch := func() string {
				t.Helper()
				moved, err := b.all.Fetch(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				return moved
			}
			at := func() string { return b.git(b.repo, "rev-parse", "refs/podd/p") }
			if moved := fetch(); moved != "" || at() != r.Base {
				t.Errorf("nothing new: %q, at %s", moved, at())
			}
			b.write(r.Dir(), "made", "by the agent\n")
			b.git(r.Dir(), "add", "-A")
			b.git(r.Dir(), "commit", "--quiet", "-m", "work")
			first := b.git(r.Dir(), "rev-parse", "HEAD")
			if moved := fetch(); moved != "" || at() != first {
				t.Errorf("a commit: %q, at %s, want %s", moved, at(), first)
			}
			b.git(r.Dir(), "commit", "--quiet", "--amend", "-m", "better")
			second := b.git(r.Dir(), "rev-parse", "HEAD")
			if moved := fetch(); moved != "" || at() != second {
				t.Errorf("an amended commit: %q, at %s, want %s", moved, at(), second)
			}
			b.fsck(b.repo, r.Dir())

			b.git(b.repo, "update-ref", "refs/podd/p", first)
			b.git(r.Dir(), "commit", "--quiet", "--allow-empty", "-m", "more")
			if moved := fetch(); !strings.Contains(moved, "somebody moved refs/podd/p") || at() != first {
				t.Errorf("a moved reference: %q, at %s", moved, at())
			}
			if moved := fetch(); moved != "" || at() != first {
				t.Errorf("it is reported again: %q", moved)
			}
			b.git(b.repo, "update-ref", "refs/podd/p", second)
			if moved := fetch(); moved != "" || at() != b.git(r.Dir(), "rev-parse", "HEAD") {
				t.Errorf("moved back: %q, at %s", moved, at())
			}
			b.git(b.repo, "update-ref", "-d", "refs/podd/p")
			b.git(r.Dir(), "commit", "--quiet", "--allow-empty", "-m", "last")
			if moved := fetch(); !strings.Contains(moved, "somebody removed refs/podd/p") {
				t.Errorf("a removed reference: %q", moved)
			}
			b.fsck(b.repo, r.Dir())
		})
	}
}

func TestRemove(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	left := func(drop ...string) string {
		t.Helper()
		all, err := b.all.Left(t.Context(), r, drop)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, l := range all {
			lines = append(lines, l.What+" "+l.Name)
		}
		return strings.Join(lines, "; ")
	}
	if got := left(); got != "" {
		t.Errorf("left of a fresh checkout: %s", got)
	}
	b.write(r.Dir(), "a.txt", "changed\n")
	b.git(r.Dir(), "update-index", "--assume-unchanged", "a.txt")
	b.write(r.Dir(), "new", "new\n")
	b.write(r.Dir(), "out/log", "log\n")
	b.write(r.Dir(), "staged", "staged\n")
	b.git(r.Dir(), "add", "staged")
	if err := os.Remove(filepath.Join(r.Dir(), "staged")); err != nil {
		t.Fatal(err)
	}
	b.git(r.Dir(), "init", "--quiet", "nested")
	if got, want := left(), "uncommitted a.txt; untracked new; left out out/; uncommitted staged; repository nested/"; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
	if got, want := left("out", "nested", "staged"), "uncommitted a.txt; untracked new"; got != want {
		t.Errorf("left without what may go: %s, want %s", got, want)
	}
	b.git(r.Dir(), "update-index", "--no-assume-unchanged", "a.txt")
	b.git(r.Dir(), "rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "staged", "nested")
	if err := os.RemoveAll(filepath.Join(r.Dir(), "nested")); err != nil {
		t.Fatal(err)
	}
	b.git(r.Dir(), "stash", "--quiet", "-u")
	if got := left("out"); strings.Count(got, "commit ") != 3 || !strings.Contains(got, "WIP on podd/p") {
		t.Errorf("left with a stash: %s", got)
	}
	b.git(r.Dir(), "stash", "drop", "--quiet")
	b.git(r.Dir(), "switch", "--quiet", "-c", "side")
	b.git(r.Dir(), "commit", "--quiet", "--allow-empty", "-m", "aside")
	b.git(r.Dir(), "switch", "--quiet", "podd/p")
	if got := left("out"); !strings.HasSuffix(got, " aside") || !strings.HasPrefix(got, "commit ") {
		t.Errorf("left with a branch: %s", got)
	}
	b.git(r.Dir(), "branch", "-D", "--quiet", "side")

	if got, err := b.all.Remove(t.Context(), r, nil); err != nil || len(got) != 1 || b.read(r.Dir(), "out/log") != "log\n" {
		t.Errorf("a removal with an ignored file: %v, %v", got, err)
	}
	if got, err := b.all.Remove(t.Context(), r, []string{"out"}); err != nil || len(got) != 0 {
		t.Errorf("a removal: %v, %v", got, err)
	}
	if refs := b.git(b.repo, "for-each-ref", "refs/podd"); refs != "" || b.read(r.Dir(), "a.txt") != "gone" {
		t.Errorf("after the removal: %q", refs)
	}
	trashed, err := b.all.Trashed("pod_p")
	if err != nil || trashed == nil {
		t.Fatalf("in the trash: %v, %v", trashed, err)
	}
	if err := b.all.Return(t.Context(), trashed); err != nil || b.read(r.Dir(), "out/log") != "log\n" {
		t.Fatalf("brought back: %v", err)
	}
	if pin := b.git(b.repo, "rev-parse", "refs/podd/p"); pin != r.Base {
		t.Errorf("pinned at %s", pin)
	}
	b.fsck(b.repo, r.Dir())
}

// The trash goes by age only if still nothing is in it that is nowhere else.
func TestSweep(t *testing.T) {
	b := setup(t)
	sweep := func() {
		t.Helper()
		if err := b.all.Sweep(t.Context(), 14*24*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	r := b.make(checkout.Wanted{Name: "p"})
	if left, err := b.all.Remove(t.Context(), r, nil); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	trashed, err := b.all.Trashed("pod_p")
	if err != nil {
		t.Fatal(err)
	}
	sweep()
	if b.read(trashed.Dir(), "a.txt") == "gone" {
		t.Fatal("it went at once")
	}
	b.write(trashed.Dir(), "late", "somebody wrote this\n")
	b.now = b.now.Add(15 * 24 * time.Hour)
	sweep()
	if b.read(trashed.Dir(), "late") == "gone" {
		t.Fatal("an untracked file went")
	}
	if err := os.Remove(filepath.Join(trashed.Dir(), "late")); err != nil {
		t.Fatal(err)
	}
	sweep()
	if b.read(trashed.Dir(), "a.txt") != "gone" {
		t.Error("it stays for ever")
	}
}

// What a killed podd left of a checkout goes, and the same name can be made again.
func TestSettle(t *testing.T) {
	b := setup(t)
	r, err := b.all.Make(t.Context(), checkout.Wanted{Name: "p", ID: "pod_p", Dir: b.repo})
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.all.Make(t.Context(), checkout.Wanted{Name: "q", ID: "pod_q", Dir: b.repo})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.all.Settle(t.Context(), func(pod string) (bool, error) { return pod == "pod_q", nil }); err != nil {
		t.Fatal(err)
	}
	if b.read(r.Dir(), "a.txt") != "gone" || b.read(other.Dir(), "a.txt") == "gone" {
		t.Error("the wrong one went")
	}
	if _, err := b.all.Settle(t.Context(), func(string) (bool, error) { return false, nil }); err != nil || b.read(other.Dir(), "a.txt") == "gone" {
		t.Errorf("a checkout that has its pod went: %v", err)
	}
	b.make(checkout.Wanted{Name: "p"})
	b.fsck(b.repo)
}

// A podd that was killed before it stored what it makes leaves a name that can be taken.
func TestEmptyPlace(t *testing.T) {
	b := setup(t)
	if err := os.MkdirAll(filepath.Join(b.state, "checkouts", "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.make(checkout.Wanted{Name: "p"})
}

// A podd that starts waits for the git that a killed one started.
func TestSettleWaitsForGit(t *testing.T) {
	b := setup(t)
	b.make(checkout.Wanted{Name: "p"})
	held, err := os.Open(filepath.Join(b.state, "checkouts", ".running"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	exists := func(string) (bool, error) { return true, nil }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.all.Settle(ctx, exists); !errors.Is(err, context.Canceled) {
		t.Fatalf("it did not wait: %v", err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if _, err := b.all.Settle(t.Context(), exists); err != nil {
		t.Error(err)
	}
}

func TestLand(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	land := func(into, reason string) checkout.Landed {
		t.Helper()
		out, err := b.all.Land(t.Context(), r, into, "")
		if item.ReasonOf(err) != reason || err != nil && reason == "" {
			t.Errorf("land into %q: %v, want %q", into, err, reason)
		}
		return out
	}
	land("", "NOTHING_TO_LAND")
	land("nowhere", "UNKNOWN_BRANCH")

	// Uncommitted files land in the branch that is checked out, and its files follow.
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.write(r.Dir(), "new", "new\n")
	b.write(b.repo, "sub/b.txt", "of the person\n")
	out := land("", "")
	if !out.Committed || out.Merged || out.Branch != "main" || out.Tree != b.repo || b.read(b.repo, "a.txt") != "of the agent\n" || b.read(b.repo, "new") != "new\n" {
		t.Errorf("landed: %+v", out)
	}
	if got := b.git(b.repo, "status", "--porcelain"); got != "M sub/b.txt" {
		t.Errorf("the person's tree: %q", got)
	}
	if main, pin := b.git(b.repo, "rev-parse", "main"), b.git(b.repo, "rev-parse", "refs/podd/p"); main != out.New || pin != main {
		t.Errorf("main is at %s, the reference at %s", main, pin)
	}

	// Local changes of its paths, and files in the way, stop it.
	b.write(r.Dir(), "sub/b.txt", "of the agent\n")
	b.write(r.Dir(), "way", "of the agent\n")
	b.write(b.repo, "way", "of the person\n")
	before := b.git(b.repo, "rev-parse", "main")
	land("", "LOCAL_CHANGES")
	if b.git(b.repo, "rev-parse", "main") != before || b.read(b.repo, "sub/b.txt") != "of the person\n" || b.read(b.repo, "way") != "of the person\n" {
		t.Error("a refused landing changed something")
	}

	// Another branch is moved without files, and merged where it went on.
	b.git(b.repo, "stash", "--quiet", "-u")
	b.git(b.repo, "switch", "--quiet", "-c", "other", "HEAD~1")
	b.write(b.repo, "third", "third\n")
	b.git(b.repo, "add", "third")
	b.git(b.repo, "commit", "--quiet", "-m", "third")
	b.git(b.repo, "switch", "--quiet", "main")
	if out := land("other", ""); !out.Merged || out.Tree != "" || b.read(b.repo, "third") != "gone" {
		t.Errorf("landed elsewhere: %+v", out)
	}
	if got := b.git(b.repo, "show", "other:third") + b.git(b.repo, "show", "other:way"); got != "thirdof the agent" {
		t.Errorf("the branch has %q", got)
	}

	// A conflict names the file and moves nothing.
	b.write(b.repo, "a.txt", "of the person\n")
	b.git(b.repo, "commit", "--quiet", "-am", "mine")
	b.write(r.Dir(), "a.txt", "again\n")
	before = b.git(b.repo, "rev-parse", "main")
	if _, err := b.all.Land(t.Context(), r, "", ""); item.ReasonOf(err) != "LAND_CONFLICTS" || !strings.Contains(err.Error(), "changed the same lines: a.txt;") || b.git(b.repo, "rev-parse", "main") != before {
		t.Errorf("a conflict: %v", err)
	}
	b.fsck(b.repo, r.Dir())
}

// Repositories of other kinds have checkouts too.
func TestKinds(t *testing.T) {
	b := setup(t)
	top := filepath.Dir(b.repo)
	shallow, linked, holder := filepath.Join(top, "shallow"), filepath.Join(top, "linked"), filepath.Join(top, "holder")
	b.git(top, "clone", "--quiet", "--depth=1", "file://"+b.repo, shallow)
	b.git(b.repo, "worktree", "add", "--quiet", "-b", "side", linked)
	b.git(top, "init", "--quiet", "--initial-branch=podd", holder)
	b.git(holder, "config", "user.name", "A Person")
	b.git(holder, "config", "user.email", "person@example.com")
	b.git(holder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", b.repo, "module")
	b.git(holder, "commit", "--quiet", "-m", "with a submodule")
	b.write(linked, "a.txt", "of the person\n")
	// The module comes last: what is landed in it changes what git says of its holder.
	for _, dir := range []string{shallow, linked, holder, filepath.Join(holder, "module")} {
		name := filepath.Base(dir)
		b.git(dir, "config", "user.name", "A Person")
		b.git(dir, "config", "user.email", "person@example.com")
		r := b.make(checkout.Wanted{Name: name, Dir: dir, Changes: true})
		b.write(r.Dir(), "made", "by the agent\n")
		if name == "linked" {
			b.write(linked, "a.txt", "of the person again\n")
		}
		out, err := b.all.Land(t.Context(), r, "", "from "+name)
		if name == "linked" {
			if item.ReasonOf(err) != "LOCAL_CHANGES" {
				t.Errorf("%s: %v", name, err)
			}
			b.git(linked, "checkout", "--quiet", "--", "a.txt")
			out, err = b.all.Land(t.Context(), r, "", "")
		}
		if err != nil || out.Tree != dir || b.read(dir, "made") != "by the agent\n" || b.git(dir, "status", "--porcelain") != "" {
			t.Errorf("%s: %+v, %v: %s", name, out, err, b.git(dir, "status", "--porcelain"))
		}
		if left, err := b.all.Remove(t.Context(), r, nil); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		b.fsck(dir)
	}
}

// A landing that is refused leaves the checkout where its own commits are, and the next one may
// give the commit of the first another message.
func TestLandAgain(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(r.Dir(), "sub/b.txt", "of the agent\n")
	b.git(b.repo, "commit", "--quiet", "--allow-empty", "-m", "mine")
	b.write(b.repo, "sub/b.txt", "of the person\n")
	for _, message := range []string{"", "second", "third"} {
		if _, err := b.all.Land(t.Context(), r, "", message); item.ReasonOf(err) != "LOCAL_CHANGES" {
			t.Errorf("land: %v", err)
		}
		if got := b.git(r.Dir(), "rev-list", "--count", r.Base+".."); got != "1" {
			t.Errorf("the checkout has %s commits", got)
		}
	}
	b.git(b.repo, "checkout", "--quiet", "--", "sub/b.txt")
	if out, err := b.all.Land(t.Context(), r, "", ""); err != nil || !out.Merged || out.Committed {
		t.Errorf("landed: %+v, %v", out, err)
	}
	if got := b.git(b.repo, "log", "-1", "--format=%s", "main^2"); got != "third" || b.read(b.repo, "sub/b.txt") != "of the agent\n" {
		t.Errorf("landed %q", got)
	}
	// A message is for what a landing commits, never for what has landed.
	b.write(b.repo, "mine", "of the person\n")
	b.git(b.repo, "add", "mine")
	b.git(b.repo, "commit", "--quiet", "-m", "mine")
	b.write(r.Dir(), "made", "by the agent\n")
	b.git(r.Dir(), "add", "made")
	b.git(r.Dir(), "commit", "--quiet", "-m", "of the agent")
	if out, err := b.all.Land(t.Context(), r, "", "fourth"); err != nil || out.Committed {
		t.Errorf("landed: %+v, %v", out, err)
	}
	if got := b.git(b.repo, "log", "--format=%s", r.Base+"..main"); strings.Contains(got, "fourth") {
		t.Errorf("main has %q", got)
	}
}

// Files that the person's working tree has already, as after an apply, are in no landing's way,
// unless it would lose what the person staged.
func TestLandsWhatIsThere(t *testing.T) {
	b := setup(t)
	base := b.git(b.repo, "rev-parse", "main")
	for name, c := range map[string]struct {
		then    func(b *bench)
		blocked string
	}{
		"as they are":      {func(*bench) {}, ""},
		"staged":           {func(b *bench) { b.git(b.repo, "add", "--all") }, ""},
		"other text":       {func(b *bench) { b.write(b.repo, "a.txt", "of the person\n") }, "a.txt"},
		"another new file": {func(b *bench) { b.write(b.repo, "new", "of the person\n") }, "new"},
		"not executable":   {func(b *bench) { chmod(t, b.repo, 0o600) }, "x"},
		"a file back":      {func(b *bench) { b.write(b.repo, "sub/b.txt", "of the person\n") }, "sub/b.txt"},
		"other text staged": {func(b *bench) {
			b.write(b.repo, "a.txt", "of the person\n")
			b.git(b.repo, "add", "a.txt")
			b.write(b.repo, "a.txt", "of the agent\n")
		}, "a.txt"},
		"staged, then other": {func(b *bench) { b.git(b.repo, "add", "--all"); b.write(b.repo, "new", "of the person\n") }, "new"},
	} {
		b.git(b.repo, "reset", "--quiet", "--hard", base)
		b.git(b.repo, "clean", "--quiet", "-d", "--force")
		r := b.make(checkout.Wanted{Name: strings.NewReplacer(" ", "-", ",", "").Replace(name)})
		for _, dir := range []string{r.Dir(), b.repo} {
			b.write(dir, "a.txt", "of the agent\n")
			b.write(dir, "new", "of the agent\n")
			b.write(dir, "x", "#!/bin/sh\n")
			chmod(t, dir, 0o700)
			if err := os.Remove(filepath.Join(dir, "sub/b.txt")); err != nil {
				t.Fatal(err)
			}
		}
		c.then(b)
		before := b.git(b.repo, "status", "--porcelain") + b.read(b.repo, "a.txt") + b.read(b.repo, "new")
		out, err := b.all.Land(t.Context(), r, "", "")
		after := b.git(b.repo, "status", "--porcelain")
		if c.blocked == "" {
			if err != nil || after != "" || b.git(b.repo, "rev-parse", "main") != out.New || b.read(b.repo, "new") != "of the agent\n" {
				t.Errorf("%s: %v, %q", name, err, after)
			}
		} else if item.ReasonOf(err) != "LOCAL_CHANGES" || !strings.Contains(err.Error(), "in "+c.blocked+";") || after+b.read(b.repo, "a.txt")+b.read(b.repo, "new") != before {
			t.Errorf("%s: %v, %q", name, err, after)
		}
		b.fsck(b.repo)
	}
}

func chmod(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(filepath.Join(dir, "x"), mode); err != nil {
		t.Fatal(err)
	}
}

// Where a killed podd had not yet given the checkout what its landing merged, the next one does.
func TestLandingGoesOnBeforeTheCheckoutHasIt(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "agent"})
	b.write(r.Dir(), "made", "by the agent\n")
	b.git(r.Dir(), "add", "-A")
	b.git(r.Dir(), "commit", "--quiet", "-m", "made")
	b.git(b.repo, "commit", "--quiet", "--allow-empty", "-m", "mine")
	l := checkout.Landing{Branch: "main", Old: b.git(b.repo, "rev-parse", "main"), Tree: b.repo, Lock: "podd-lock"}
	b.git(b.repo, "fetch", "--quiet", r.Dir(), "HEAD")
	tree := b.git(b.repo, "merge-tree", "--write-tree", "main", "FETCH_HEAD")
	l.New = b.git(b.repo, "commit-tree", tree, "-p", "main", "-p", "FETCH_HEAD", "-m", "merged")
	if err := b.all.With(r, func(r *checkout.Record) error { r.Landing = &l; return r.Save() }); err != nil {
		t.Fatal(err)
	}
	says, err := b.all.Settle(t.Context(), func(string) (bool, error) { return true, nil })
	if err != nil || len(says) > 0 || b.git(b.repo, "rev-parse", "main") != l.New || b.read(b.repo, "made") != "by the agent\n" {
		t.Fatalf("%q, %v", says, err)
	}
	if has, pinned := b.git(r.Dir(), "rev-parse", "HEAD"), b.git(b.repo, "rev-parse", "refs/podd/agent"); has != l.New || pinned != l.New {
		t.Errorf("the checkout has %s, its reference is %s, want %s", has, pinned, l.New)
	}
	b.fsck(b.repo)
}

// A landing that a killed podd began ends when podd starts, wherever it was.
func TestLandingGoesOn(t *testing.T) {
	b := setup(t)
	for name, do := range map[string]func(old, made string){
		"before": func(string, string) {},
		"moved":  func(old, made string) { b.git(b.repo, "update-ref", "refs/heads/main", made, old) },
		"locked": func(string, string) { b.write(b.repo, ".git/index.lock", "podd-lock") },
		"followed": func(string, string) {
			b.write(b.repo, ".git/index.lock", "podd-lock")
			b.write(b.repo, ".git/podd-lock", "a half index")
			b.write(b.repo, "followed", "by the agent\n")
		},
		"unsettled": func(old, made string) {
			b.write(b.repo, ".git/index.lock", "podd-lock")
			b.write(b.repo, "unsettled", "by the agent\n")
			b.git(b.repo, "update-ref", "refs/heads/main", made, old)
		},
		"done":    func(_, made string) { b.git(b.repo, "merge", "--quiet", "--ff-only", made) },
		"applied": func(string, string) { b.write(b.repo, "applied", "by the agent\n") },
		"thenmoved": func(old, made string) {
			b.write(b.repo, "thenmoved", "by the agent\n")
			b.git(b.repo, "update-ref", "refs/heads/main", made, old)
		},
		"another": func(string, string) {
			b.write(b.repo, ".git/podd-lock.new", "podd-lock")
			b.git(b.repo, "commit", "--quiet", "--allow-empty", "-m", "mine")
		},
	} {
		b.git(b.repo, "reset", "--quiet", "--hard")
		r := b.make(checkout.Wanted{Name: name})
		b.write(r.Dir(), name, "by the agent\n")
		b.git(r.Dir(), "add", "-A")
		b.git(r.Dir(), "commit", "--quiet", "-m", name)
		if _, err := b.all.Fetch(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		l := checkout.Landing{Branch: "main", Old: b.git(b.repo, "rev-parse", "main"), New: b.git(r.Dir(), "rev-parse", "HEAD"), Tree: b.repo, Lock: "podd-lock"}
		if err := b.all.With(r, func(r *checkout.Record) error { r.Landing = &l; return r.Save() }); err != nil {
			t.Fatal(err)
		}
		do(l.Old, l.New)
		says, err := b.all.Settle(t.Context(), func(string) (bool, error) { return true, nil })
		if err != nil {
			t.Fatal(err)
		}
		if name == "another" {
			if len(says) != 1 || !strings.Contains(says[0], "somebody has moved branch main") || b.read(b.repo, name) != "gone" {
				t.Errorf("%s: %q", name, says)
			}
		} else if len(says) > 0 || b.git(b.repo, "rev-parse", "main") != l.New || b.read(b.repo, name) != "by the agent\n" || b.git(b.repo, "status", "--porcelain") != "" {
			t.Errorf("%s: %q, %s", name, says, b.git(b.repo, "status", "--porcelain"))
		}
		if says, err := b.all.Settle(t.Context(), func(string) (bool, error) { return true, nil }); err != nil || len(says) > 0 {
			t.Errorf("%s: once more: %q, %v", name, says, err)
		}
		for _, left := range []string{"index.lock", "podd-lock", "podd-lock.new"} {
			if b.read(b.repo, ".git/"+left) != "gone" {
				t.Errorf("%s: left .git/%s", name, left)
			}
		}
	}
	b.fsck(b.repo)
}
