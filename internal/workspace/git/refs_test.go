package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/workspace/git"
)

// shell runs commands in a directory with no configuration but the repository's.
func shell(t *testing.T, dir, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// repository has two commits on main, the branch side, two commits on other that conflict with main, tags and a stash.
func repository(t *testing.T) string {
	t.Helper()
	dir := tree(t, map[string]string{"a": "1\n"})
	shell(t, dir, `git init -q -b main; git add a; git commit -qm first; git branch side; git tag light; git tag -m note heavy
		echo 2 > a; git commit -qam second; echo 3 > a; git stash -q; git branch a/b/c
		git switch -qc other side; echo 4 > a; git commit -qam third; echo 5 > a; git commit -qam fourth; git switch -q main`)
	return dir
}

func read(t *testing.T, dir string, before *git.Refs) *git.Refs {
	t.Helper()
	r := git.ReadRefs(dir, before)
	if r == nil {
		t.Fatalf("no references of %s", dir)
	}
	return r
}

// said are moves in words, without the names of commits.
func said(moves []git.Move) string {
	var out []string
	for _, m := range moves {
		ref, _, _ := strings.Cut(m.Ref, "@")
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", ref, m.OldBranch, m.NewBranch)))
	}
	return strings.Join(out, "; ")
}

// Each has what an agent does, and what moved by that.
// Also goes back as well: podd names no command that drops an entry of the stash.
var acts = []struct{ name, commands, moved, also string }{
	{"nothing", "git status; git log", "", ""},
	{"a commit", "echo 9 > a; git commit -qam more", "HEAD refs/heads/main refs/heads/main; refs/heads/main", ""},
	{"a branch", "git switch -qc new; git commit -q --allow-empty -m more", "HEAD refs/heads/main refs/heads/new; refs/heads/new", ""},
	{"a commit, and a branch", "git commit -q --allow-empty -m more; git switch -qc 'new;x'", "HEAD refs/heads/main refs/heads/new;x; refs/heads/main; refs/heads/new;x", ""},
	{"another branch", "git switch -q side", "HEAD refs/heads/main refs/heads/side", ""},
	{"a commit elsewhere", "git switch -q side; git commit -q --allow-empty -m x", "HEAD refs/heads/main refs/heads/side; refs/heads/side", ""},
	{"a detached HEAD", "git checkout -q --detach side", "HEAD refs/heads/main", ""},
	{"an amendment", "git commit -q --amend -m other", "HEAD refs/heads/main refs/heads/main; refs/heads/main", ""},
	{"back a commit", "git reset -q --soft HEAD~", "HEAD refs/heads/main refs/heads/main; refs/heads/main", ""},
	{"a deleted branch", "git branch -qD side; git branch -qD a/b/c", "refs/heads/a/b/c; refs/heads/side", ""},
	{"the old branch deleted", "git switch -q side; git branch -qD main", "HEAD refs/heads/main refs/heads/side; refs/heads/main", ""},
	{"a renamed branch", "git branch -m main trunk", "HEAD refs/heads/main refs/heads/trunk; refs/heads/main; refs/heads/trunk", ""},
	{"a moved branch", "git branch -qf side main", "refs/heads/side", ""},
	{"an orphan", "git checkout -q --orphan new", "HEAD refs/heads/main refs/heads/new", ""},
	{"tags", "git tag made; git tag -d light heavy; git tag -f -m x tip", "refs/tags/heavy; refs/tags/light; refs/tags/made; refs/tags/tip", ""},
	{"moved tags", "git tag -f light; git tag -f -m x heavy", "refs/tags/heavy; refs/tags/light", ""},
	{"a stash", "echo 4 > a; git stash -q", "refs/stash", "git -C DIR stash drop -q"},
	{"two stashes", "echo 4 > a; git stash -q; echo 5 > a; git stash -q", "refs/stash; refs/stash", "git -C DIR stash drop -q; git -C DIR stash drop -q"},
	{"a dropped stash", "git stash drop -q", "refs/stash", ""},
	{"packed", "git pack-refs --all; git gc -q", "", ""},
	{"packed and gone", "git pack-refs --all; git branch -qD side", "refs/heads/side", ""},
	{"no branch", "git update-ref -d HEAD", "HEAD refs/heads/main refs/heads/main; refs/heads/main", ""},
	{"a file in place", "git rev-parse side > .git/refs/heads/main", "HEAD refs/heads/main refs/heads/main; refs/heads/main", ""},
	{"a merge", "git switch -q side; git commit -q --allow-empty -m x; git switch -q main; git merge -q side", "HEAD refs/heads/main refs/heads/main; refs/heads/main; refs/heads/side", ""},
	{"an open merge", "git merge other || true", "MERGE_HEAD", ""},
	{"an open merge of two", "git merge -q --no-commit --no-ff -s ours other $(git commit-tree -p side -m x side:)", "MERGE_HEAD", ""},
	{"an open cherry-pick", "git cherry-pick main..other || true", "CHERRY_PICK_HEAD", ""},
	{"an open revert", "git revert --no-edit HEAD~ || true", "REVERT_HEAD", ""},
	{"an open rebase", "git rebase other || true", "HEAD refs/heads/main; REBASE_HEAD", ""},
	{"an open rebase of patches", "git rebase --apply other || true", "HEAD refs/heads/main; REBASE_HEAD", ""},
	{"an open rebase of a new branch", "git switch -qc new; git rebase other || true", "HEAD refs/heads/main; REBASE_HEAD; refs/heads/new", ""},
	{"a commit and an open merge", "git commit -q --allow-empty -m x; git merge other || true", "HEAD refs/heads/main refs/heads/main; MERGE_HEAD; refs/heads/main", ""},
	{"another branch and an open pick", "git switch -q side; git cherry-pick other~..other || true", "HEAD refs/heads/main refs/heads/side; CHERRY_PICK_HEAD", ""},
	{"an ended rebase", "git rebase other || true; git rebase --abort", "", ""},
}

// What moved is named, and the named commands take it back and leave the files.
func TestMovesAndBack(t *testing.T) {
	for _, kind := range []string{"loose", "packed", "worktree"} {
		for _, act := range acts {
			if kind == "worktree" && act.name == "a file in place" {
				continue // The .git of a worktree is a file.
			}
			t.Run(kind+"/"+act.name, func(t *testing.T) {
				t.Parallel()
				dir := repository(t)
				switch kind {
				case "packed":
					shell(t, dir, "git pack-refs --all")
				case "worktree":
					shell(t, dir, "git switch -q --detach; git worktree add -q ../"+filepath.Base(dir)+"-tree main")
					dir += "-tree"
				}
				const state = "git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags; git rev-parse HEAD; git symbolic-ref -q HEAD || true; git stash list --format=%H | sort; git status --porcelain; ls $(git rev-parse --git-dir) | grep -E '^(MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|rebase|sequencer)' || true"
				was, before := shell(t, dir, state), read(t, dir, nil)
				shell(t, dir, act.commands)
				now := read(t, dir, before)
				moves := now.Since(before)
				if got := said(moves); got != act.moved {
					t.Fatalf("moved: %s, want %s", got, act.moved)
				}
				var back []string
				for _, m := range moves {
					if command := now.Back(dir, m, moves); command != "" {
						back = append(back, command)
					}
				}
				t.Log(back)
				shell(t, "/", strings.Join(append(back, strings.ReplaceAll(act.also, "DIR", dir)), "\n"))
				shell(t, dir, "git checkout -q -- .") // As an undo: the commands leave the files.
				if got := shell(t, dir, state); got != was {
					t.Errorf("after going back:\n%swant:\n%s", got, was)
				}
			})
		}
	}
}

// What somebody moved again since is left to them.
func TestBackOfWhatMovedAgain(t *testing.T) {
	dir := repository(t)
	before := read(t, dir, nil)
	shell(t, dir, "git switch -q side; git commit -q --allow-empty -m x; git tag v")
	after := read(t, dir, before)
	moves := after.Since(before)
	shell(t, dir, "git commit -q --allow-empty -m mine; git tag -f v main; git branch -f main light")
	now := read(t, dir, after)
	for _, m := range moves {
		if command := now.Back(dir, m, moves); command != "" {
			t.Errorf("%s: %s", m.Ref, command)
		}
	}
	// HEAD is where the agent left it, and main, to which it goes back, is not.
	shell(t, dir, "git reset -q --hard HEAD~")
	now = read(t, dir, now)
	command := now.Back(dir, moves[0], moves)
	shell(t, "/", command)
	if at := shell(t, dir, "git symbolic-ref HEAD; git rev-parse main light | uniq | wc -l"); at != "refs/heads/main\n1\n" {
		t.Errorf("%s: %s", command, at)
	}
}

// What a person began and the agent ended stays ended, and so does what somebody ended since.
func TestBackOfWhatEnded(t *testing.T) {
	dir := repository(t)
	none := read(t, dir, nil)
	shell(t, dir, "git merge other || true")
	open := read(t, dir, none)
	shell(t, dir, "git merge --abort")
	ended := read(t, dir, open)
	for _, moves := range [][]git.Move{ended.Since(open), open.Since(none)} {
		if got := said(moves); got != "MERGE_HEAD" {
			t.Fatalf("moved: %s", got)
		}
		if command := ended.Back(dir, moves[0], moves); command != "" {
			t.Errorf("%v: %s", moves, command)
		}
	}
}

// Before the first commit, too.
func TestBackToNoCommit(t *testing.T) {
	for _, commands := range []string{"git commit -qm x", "git commit -qm x; git switch -qc new", "git checkout -q --orphan new"} {
		dir := tree(t, map[string]string{"a": "1"})
		shell(t, dir, "git init -q -b main")
		before := read(t, dir, nil)
		shell(t, dir, "git add a; "+commands)
		now := read(t, dir, before)
		moves := now.Since(before)
		for _, m := range moves {
			if command := now.Back(dir, m, moves); command != "" {
				t.Log(command)
				shell(t, "/", command)
			}
		}
		if got := shell(t, dir, "git symbolic-ref HEAD; git for-each-ref; git status --porcelain"); got != "refs/heads/main\n?? a\n" {
			t.Errorf("%s: %s", commands, got)
		}
	}
}

// Of many references, too, those that moved are found.
func TestMovesOfMany(t *testing.T) {
	dir := repository(t)
	shell(t, dir, "for i in $(seq 400); do git rev-parse main > .git/refs/heads/b$i; done; touch -d '1 hour ago' .git/refs/heads")
	before := read(t, dir, nil)
	before = read(t, dir, before)
	shell(t, dir, "git branch -qf b7 side; git branch -qD b9; git branch new")
	if got := said(read(t, dir, before).Since(before)); got != "refs/heads/b7; refs/heads/b9; refs/heads/new" {
		t.Errorf("moved: %s", got)
	}
}

// Nothing is said of what cannot be read as git does.
func TestReadRefsOfOthers(t *testing.T) {
	hash := strings.Repeat("1", 40)
	for name, files := range map[string]map[string]string{
		"no repository":      {"a": ""},
		"reftable":           {".git/HEAD": "ref: refs/heads/.invalid\n", ".git/reftable/tables.list": "x"},
		"reftable detached":  {".git/HEAD": "ref: refs/heads/main\n", ".git/reftable/": ""},
		"no HEAD":            {".git/refs/heads/main": hash},
		"a HEAD of no kind":  {".git/HEAD": "ref: ../../x\n"},
		"an escape":          {".git/HEAD": "ref: refs/heads/\x1b[31m\n"},
		"a .git to nowhere":  {".git": "gitdir: /nonexistent/x\n"},
		"a .git of no kind":  {".git": "nothing"},
		"too many packed":    {".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": strings.Repeat("#", 17<<20)},
		"directories nested": {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads" + strings.Repeat("/d", 30) + "/": ""},
	} {
		if r := git.ReadRefs(tree(t, files), nil); r != nil {
			t.Errorf("%s: %v", name, r)
		}
	}
	dir := tree(t, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": hash + "\n", ".git/refs/heads/\x1b[31m": hash, ".git/refs/heads/\xff": hash,
		".git/refs/heads/a.lock": hash, ".git/refs/heads/empty": "", ".git/refs/heads/other": "ref: refs/heads/main\n", ".git/refs/tags": "->../../outside",
		"outside/tag": hash,
	})
	if err := syscall.Mkfifo(filepath.Join(dir, ".git/refs/heads/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := git.ReadRefs(tree(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n"}), nil)
	if got := said(read(t, dir, nil).Since(empty)); got != "HEAD refs/heads/main refs/heads/main; refs/heads/main; refs/tags/tag" {
		t.Errorf("read %q", got)
	}
}

func TestAhead(t *testing.T) {
	dir := repository(t)
	for _, c := range []struct {
		commands string
		want     int
	}{
		{"git commit -q --allow-empty -m 1", 1},
		{"git commit -q --allow-empty -m 2; git commit -q --allow-empty -m 3", 2},
		{"git reset -q --hard HEAD~3", -3},
		{"git commit -q --amend --allow-empty -m 4", 0},
		{"true", 0},
		{"git switch -qc b; git commit -q --allow-empty -m 5; git switch -q -; git commit -q --allow-empty -m 6; git merge -q b", 0},
		{"git commit -q --allow-empty -m 1; git gc -q", 0},
		{"git switch -q --orphan z; git commit -q --allow-empty -m 7", 0},
	} {
		_, from := read(t, dir, nil).Head()
		shell(t, dir, c.commands)
		_, to := read(t, dir, nil).Head()
		if n := git.Ahead(dir, from, to); n != c.want {
			t.Errorf("%s: %d commits, want %d", c.commands, n, c.want)
		}
	}
}

// A repository with many references is read once.
func BenchmarkReadRefs(b *testing.B) {
	hash := strings.Repeat("1", 40)
	for _, kind := range []string{"loose", "packed"} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			must(os.MkdirAll(filepath.Join(dir, ".git/refs/heads"), 0o700))
			must(os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/b1\n"), 0o600))
			var packed strings.Builder
			for i := range 10_000 {
				name := fmt.Sprintf("refs/heads/b%d", i)
				if kind == "loose" {
					must(os.WriteFile(filepath.Join(dir, ".git", name), []byte(hash+"\n"), 0o600))
				}
				fmt.Fprintf(&packed, "%s %s\n", hash, name)
			}
			if kind == "packed" {
				must(os.WriteFile(filepath.Join(dir, ".git/packed-refs"), []byte(packed.String()), 0o600))
			}
			time.Sleep(30 * time.Millisecond)
			before := git.ReadRefs(dir, nil)
			for b.Loop() {
				if len(git.ReadRefs(dir, before).Since(before)) > 0 {
					b.Fatal("moved")
				}
			}
		})
	}
}
