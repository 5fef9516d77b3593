package checkout_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// was is all that a landing may change of a person's repository.
func (b *bench) was() string {
	b.t.Helper()
	var s strings.Builder
	s.WriteString(b.git(b.repo, "for-each-ref", "refs/heads") + "\n" + b.git(b.repo, "ls-files", "--stage", "-v") + "\n")
	err := filepath.WalkDir(b.repo, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(b.repo, path)
		switch {
		case err != nil:
			return err
		case rel == ".git/objects" || rel == ".git/logs" || rel == ".git/refs/podd":
			return fs.SkipDir
		case strings.HasPrefix(rel, ".git/") && rel != ".git/index.lock" && !strings.HasPrefix(rel, ".git/podd-"):
		case e.Type().IsRegular():
			info, err := e.Info()
			fmt.Fprintf(&s, "%s %s %q %v\n", info.Mode(), rel, b.read(b.repo, rel), err)
		default:
			fmt.Fprintf(&s, "%s %s\n", e.Type(), rel)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s.String()
}

// conflicts runs git where it ends with a conflict.
func (b *bench) conflicts(args ...string) {
	b.t.Helper()
	cmd := b.command(b.repo, args...)
	if out, err := cmd.CombinedOutput(); err == nil {
		b.t.Fatalf("git %q has no conflict: %s", args, out)
	}
}

// side makes a branch that conflicts with main in a file which no pod touches.
func (b *bench) side() {
	b.t.Helper()
	b.git(b.repo, "switch", "--quiet", "-c", "side", "HEAD~1")
	b.write(b.repo, "own.txt", "of the side\n")
	b.git(b.repo, "add", "own.txt")
	b.git(b.repo, "commit", "--quiet", "-m", "side")
	b.git(b.repo, "switch", "--quiet", "main")
	b.write(b.repo, "own.txt", "of main\n")
	b.git(b.repo, "add", "own.txt")
	b.git(b.repo, "commit", "--quiet", "-m", "mine")
}

// busy are states of a repository in which a landing changes nothing, with what ends them.
var busy = map[string]struct {
	begin  func(b *bench)
	reason string
	says   string
	end    func(b *bench)
}{
	"a lock of the index":    {func(b *bench) { b.write(b.repo, ".git/index.lock", "") }, "TREE_BUSY", "another git works in", func(b *bench) { b.remove(".git/index.lock") }},
	"a lock of the branch":   {func(b *bench) { b.write(b.repo, ".git/refs/heads/main.lock", "") }, "BRANCH_MOVED", "main.lock", func(b *bench) { b.remove(".git/refs/heads/main.lock") }},
	"a merge with conflicts": {func(b *bench) { b.side(); b.conflicts("merge", "side") }, "TREE_BUSY", "a merge of branch main", func(b *bench) { b.git(b.repo, "merge", "--abort") }},
	"a merge to commit": {func(b *bench) {
		b.git(b.repo, "branch", "other", "HEAD~1")
		b.git(b.repo, "switch", "--quiet", "other")
		b.git(b.repo, "commit", "--quiet", "--allow-empty", "-m", "other")
		b.git(b.repo, "switch", "--quiet", "main")
		b.git(b.repo, "merge", "--quiet", "--no-commit", "--no-ff", "other")
	}, "TREE_BUSY", "a merge of branch main", func(b *bench) { b.git(b.repo, "merge", "--abort") }},
	"a rebase of the branch": {func(b *bench) { b.side(); b.conflicts("rebase", "side") }, "TREE_BUSY", "a rebase of branch main", func(b *bench) { b.git(b.repo, "rebase", "--abort") }},
	"a rebase by patches":    {func(b *bench) { b.side(); b.conflicts("rebase", "--apply", "side") }, "TREE_BUSY", "a rebase of branch main", func(b *bench) { b.git(b.repo, "rebase", "--abort") }},
	"a rebase elsewhere": {func(b *bench) {
		b.side()
		b.git(b.repo, "switch", "--quiet", "side")
		linked := filepath.Join(filepath.Dir(b.repo), "linked")
		b.git(b.repo, "worktree", "add", "--quiet", linked, "main")
		if out, err := b.command(linked, "rebase", "side").CombinedOutput(); err == nil {
			b.t.Fatalf("no conflict: %s", out)
		}
	}, "TREE_BUSY", "a rebase of branch main", func(b *bench) {
		b.git(b.repo, "worktree", "remove", "--force", filepath.Join(filepath.Dir(b.repo), "linked"))
		b.git(b.repo, "switch", "--quiet", "main")
	}},
	"a cherry-pick": {func(b *bench) { b.side(); b.conflicts("cherry-pick", "side") }, "TREE_BUSY", "a cherry-pick of", func(b *bench) { b.git(b.repo, "cherry-pick", "--abort") }},
	"a revert": {func(b *bench) {
		b.side()
		b.write(b.repo, "own.txt", "again\n")
		b.git(b.repo, "commit", "--quiet", "-am", "again")
		b.conflicts("revert", "HEAD~1")
	}, "TREE_BUSY", "a revert of", func(b *bench) { b.git(b.repo, "revert", "--abort") }},
	"patches of a mail": {func(b *bench) {
		b.side()
		b.write(b.repo, "../patch", b.git(b.repo, "format-patch", "-1", "--stdout", "side")+"\n")
		b.conflicts("am", "../patch")
	}, "TREE_BUSY", "a git am of", func(b *bench) { b.git(b.repo, "am", "--abort") }},
	"a bisect": {func(b *bench) { b.git(b.repo, "bisect", "start", "HEAD", "HEAD~1") }, "TREE_BUSY", "a bisect of", func(b *bench) { b.git(b.repo, "bisect", "reset") }},
	"a stash with conflicts": {func(b *bench) {
		b.side()
		b.write(b.repo, "own.txt", "stashed\n")
		b.git(b.repo, "stash", "--quiet")
		b.write(b.repo, "own.txt", "other\n")
		b.git(b.repo, "commit", "--quiet", "-am", "other")
		b.conflicts("stash", "pop")
	}, "TREE_BUSY", "a conflict in own.txt", func(b *bench) { b.git(b.repo, "reset", "--quiet", "--hard") }},
	"two working trees": {func(b *bench) {
		b.git(b.repo, "worktree", "add", "--quiet", "--force", filepath.Join(filepath.Dir(b.repo), "linked"), "main")
	}, "TREE_BUSY", "several working trees", func(b *bench) {
		b.git(b.repo, "worktree", "remove", "--force", filepath.Join(filepath.Dir(b.repo), "linked"))
	}},
	"text that git overlooks": {func(b *bench) {
		b.git(b.repo, "update-index", "--assume-unchanged", "a.txt")
		b.write(b.repo, "a.txt", "of the person\n")
	}, "LOCAL_CHANGES", "in a.txt", func(b *bench) {
		b.git(b.repo, "update-index", "--no-assume-unchanged", "a.txt")
		b.git(b.repo, "checkout", "--", "a.txt")
	}},
	"text that git skips": {func(b *bench) {
		b.git(b.repo, "update-index", "--skip-worktree", "a.txt")
		b.write(b.repo, "a.txt", "of the person\n")
	}, "LOCAL_CHANGES", "in a.txt", func(b *bench) {
		b.git(b.repo, "update-index", "--no-skip-worktree", "a.txt")
		b.git(b.repo, "checkout", "--", "a.txt")
	}},
	"a new file staged": {func(b *bench) { b.write(b.repo, "new/made", "mine\n"); b.git(b.repo, "add", "-N", "new/made") }, "LOCAL_CHANGES", "in new/made", func(b *bench) { b.git(b.repo, "rm", "-r", "--quiet", "--force", "new") }},
	"a file in the way": {func(b *bench) { b.write(b.repo, "new", "mine\n") }, "LOCAL_CHANGES", "in new/made", func(b *bench) { b.remove("new") }},
	"a link in the way": {func(b *bench) {
		if err := os.Symlink("sub", filepath.Join(b.repo, "new")); err != nil {
			b.t.Fatal(err)
		}
	}, "LOCAL_CHANGES", "new", func(b *bench) { b.remove("new") }},
	"a directory in the way": {func(b *bench) { b.write(b.repo, "new/made/deep", "mine\n") }, "LOCAL_CHANGES", "new/made", func(b *bench) { b.remove("new") }},
	"files where one comes":  {func(b *bench) { b.write(b.repo, "sub/mine", "mine\n") }, "LOCAL_CHANGES", "sub", func(b *bench) { b.remove("sub/mine") }},
	"an ignored file there":  {func(b *bench) { b.write(b.repo, ".git/info/exclude", "new\n"); b.write(b.repo, "new/made", "mine\n") }, "LOCAL_CHANGES", "in new/made", func(b *bench) { b.write(b.repo, ".git/info/exclude", ""); b.remove("new") }},
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(filepath.Join(b.repo, name)); err != nil {
		b.t.Fatal(err)
	}
}

// A landing that cannot be done whole does nothing, and can be done later.
func TestLandsWholeOrNotAtAll(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.write(r.Dir(), "new/made", "by the agent\n")
	if err := os.RemoveAll(filepath.Join(r.Dir(), "sub")); err != nil {
		t.Fatal(err)
	}
	b.write(r.Dir(), "sub", "a file now\n")
	for name, c := range busy {
		c.begin(b)
		before := b.was()
		_, err := b.all.Land(t.Context(), r, "main", "")
		if item.ReasonOf(err) != c.reason || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(fmt.Sprint(err), "nothing was landed") {
			t.Errorf("%s: %v", name, err)
		}
		if after := b.was(); after != before {
			t.Errorf("%s: a refused landing changed something: before\n%s\nafter\n%s", name, before, after)
		}
		c.end(b)
		b.git(b.repo, "reset", "--quiet", "--hard", r.Base)
		b.git(b.repo, "clean", "--quiet", "-d", "-x", "--force")
		for _, branch := range []string{"side", "other"} {
			_ = b.command(b.repo, "branch", "-D", branch).Run()
		}
	}
	if _, err := b.all.Land(t.Context(), r, "main", ""); err != nil {
		t.Fatalf("land later: %v", err)
	}
	if got := b.git(b.repo, "status", "--porcelain"); got != "" || b.read(b.repo, "a.txt") != "of the agent\n" || b.read(b.repo, "sub") != "a file now\n" || b.read(b.repo, "new/made") != "by the agent\n" {
		t.Errorf("after the landing: %s", got)
	}
	if strings.Contains(b.was(), ".git/") {
		t.Errorf("left: %s", b.was())
	}
	b.fsck(b.repo)
}

// Files that git overlooks follow if the person did not change them, and stay overlooked.
func TestLandsOverlookedFiles(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.write(r.Dir(), "sub/b.txt", "of the agent\n")
	b.git(b.repo, "update-index", "--assume-unchanged", "a.txt")
	b.git(b.repo, "update-index", "--skip-worktree", "sub/b.txt")
	if _, err := b.all.Land(t.Context(), r, "", ""); err != nil {
		t.Fatal(err)
	}
	if b.read(b.repo, "a.txt")+b.read(b.repo, "sub/b.txt") != "of the agent\nof the agent\n" || b.git(b.repo, "status", "--porcelain") != "" {
		t.Error("the files did not follow")
	}
	if got := b.git(b.repo, "ls-files", "-v"); got != "H .gitignore\nh a.txt\nS sub/b.txt" {
		t.Errorf("marked are: %s", got)
	}
}

// A sparse checkout follows with the files that it has.
func TestLandsInSparseCheckout(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.git(b.repo, "sparse-checkout", "set", "--cone", "other")
	b.write(r.Dir(), "a.txt", "of the agent\n")
	b.write(r.Dir(), "sub/b.txt", "of the agent\n")
	b.write(r.Dir(), "sub/new", "of the agent\n")
	if _, err := b.all.Land(t.Context(), r, "", ""); err != nil {
		t.Fatal(err)
	}
	if b.read(b.repo, "a.txt") != "of the agent\n" || b.read(b.repo, "sub/b.txt") != "gone" || b.git(b.repo, "status", "--porcelain") != "" {
		t.Errorf("after the landing: %s, %q", b.git(b.repo, "status", "--porcelain"), b.read(b.repo, "sub/b.txt"))
	}
	b.git(b.repo, "sparse-checkout", "disable")
	if b.read(b.repo, "sub/b.txt")+b.read(b.repo, "sub/new") != "of the agent\nof the agent\n" || b.git(b.repo, "status", "--porcelain") != "" {
		t.Error("not all landed")
	}
}

// A branch that stands for another one lands in that, and its working tree follows.
func TestLandsInNamedBranch(t *testing.T) {
	b := setup(t)
	r := b.make(checkout.Wanted{Name: "p"})
	b.git(b.repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	b.write(r.Dir(), "a.txt", "of the agent\n")
	out, err := b.all.Land(t.Context(), r, "alias", "")
	if err != nil || out.Branch != "main" || out.Tree != b.repo || b.git(b.repo, "status", "--porcelain") != "" {
		t.Errorf("landed: %+v, %v: %s", out, err, b.git(b.repo, "status", "--porcelain"))
	}
}

// A second pod that did the same has nothing to land.
func TestSameWorkLandsOnce(t *testing.T) {
	b := setup(t)
	p, q := b.make(checkout.Wanted{Name: "p"}), b.make(checkout.Wanted{Name: "q"})
	for _, r := range []*checkout.Record{p, q} {
		b.write(r.Dir(), "made", "by the agent\n")
	}
	if _, err := b.all.Land(t.Context(), p, "", "first"); err != nil {
		t.Fatal(err)
	}
	before := b.was()
	if _, err := b.all.Land(t.Context(), q, "", "second"); item.ReasonOf(err) != "NOTHING_TO_LAND" || b.was() != before {
		t.Errorf("the same again: %v", err)
	}
}
