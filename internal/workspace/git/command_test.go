package git_test

import (
	"strings"
	"testing"

	"podd/internal/workspace/git"
)

// uses has lines of plain words, without quotes, by their use.
var uses = map[git.Use][]string{
	git.Works: {
		"git add -A", "git add -- -x", "git commit -m x", "git commit -qam x --amend", "git commit -m --exec -a", "git commit --message=x --no-edit", "git commit -F msg",
		"git stash", "git stash -u", "git stash push -m x a.go", "git stash pop", "git stash apply --index", "git switch -c x", "git switch -", "git checkout -b x origin/main", "git checkout -- a",
		"git restore --staged .", "git merge --no-ff x -m y", "git merge -X ours x", "git merge --abort", "git rebase main", "git rebase --onto a b c", "git rebase --continue",
		"git cherry-pick -x abc", "git revert --no-edit HEAD", "git tag -a v1 -m x", "git tag -n3", "git branch x", "git branch -d x", "git branch --merged main", "git rm -r x", "git mv a b",
		"git reset --hard HEAD~1", "git apply -p1 --index x.patch", "git am -3 x.patch", "git update-index -q --refresh",
		"git status && git add -A && git commit -m x | tail -n 3", "cd sub && git add . ; git log -1",
	},
	git.Changes: {
		"git branch -D x", "git branch -vD x", "git branch --force x", "git branch -M x", "git checkout -f", "git checkout -fb x", "git checkout -B x", "git switch -C x", "git tag -f x", "git tag --force x",
		"git rebase -x make main", "git rebase --exec=make main", "git rebase --ex make main", "git rebase -i main", "git rebase --edit-todo", "git rebase -s mine main", "git merge -s mine x", "git merge --strategy=mine x",
		"git cherry-pick --strategy mine x", "git stash drop", "git stash clear", "git stash branch x", "git -c core.hooksPath=x commit -m x", "git -C sub commit -m x", "git --git-dir=x add .", "git --exec-path=x commit -m x",
		"git --no-pager commit -m x", "git init", "git clone a b", "git fetch", "git pull --rebase", "git push", "git config core.hooksPath x", "git config set a.b c", "git config --unset a.b", "git config -e", "git remote add a b", "git remote update",
		"git worktree add ../x", "git submodule update --init", "git submodule foreach make", "git gc", "git reflog expire --all", "git update-ref refs/heads/x y", "git notes add -m x", "git bisect start",
		"git symbolic-ref HEAD refs/heads/x", "git commit -m x && git fetch", "make; git init x",
	},
	git.Reads: {
		"git", "git --version", "git status -sb", "git diff --stat", "git --no-pager log -1", "git -C sub status", "git -c color.ui=never diff", "git blame a", "git show HEAD:a", "git grep x", "git describe --tags --dirty", "git rev-parse HEAD",
		"git ls-files", "git config --get user.name", "git config user.name", "git config -l", "git config get a.b", "git remote -v", "git remote get-url origin", "git worktree list", "git submodule status", "git stash list", "git stash show -p",
		"git reflog", "git bisect log", "git symbolic-ref HEAD", "git hash-object a", "git fsck", "git archive HEAD", "git lg", "go build ./...", "make",
		// Any other command beside them could write what they may write.
		"git add -A && make test", "git commit -m x | tee y", "sh -c x && git commit -m y", "./git commit", "/usr/bin/git commit", "sort -o x && git add .", "printf -v PATH x && git add .", "command git add .", "env git add .",
	},
}

func commandsOf(line string) (commands [][]string) {
	for part := range strings.SplitSeq(strings.NewReplacer("&&", ";", "|", ";").Replace(line), ";") {
		commands = append(commands, strings.Fields(part))
	}
	return commands
}

func TestLineUse(t *testing.T) {
	for want, lines := range uses {
		for _, line := range lines {
			if got, _ := git.LineUse(commandsOf(line)); got != want {
				t.Errorf("%s: %d, want %d", line, got, want)
			}
		}
	}
}

func TestTouches(t *testing.T) {
	for line, want := range map[string]string{
		"rm -rf .git":                        "rm",
		"rm -rf sub/.GIT/":                   "rm",
		"cp x .git/hooks/pre-commit":         "cp",
		"/bin/mv .git old":                   "mv",
		"tar --exclude=.git -czf x.tgz .":    "",
		"rsync -a --exclude .git a b":        "",
		"rsync -a --exclude .git .git b":     "rsync",
		"rsync -a --exclude=x .git b":        "rsync",
		"find .git -delete":                  "find",
		"ls .git; tee .git/config":           "tee",
		"cat .git/HEAD | grep ref":           "",
		"find . -path ./.git -prune -o -a":   "",
		"rg -g !.git x":                      "",
		"grep -r --exclude-dir=.git x":       "",
		"git --git-dir=.git status":          "",
		"rm .gitignore x.git y/.github/z":    "",
		"curl https://example.com/a/b.git":   "",
		"ls -la .git/hooks && du -sh ./.git": "",
	} {
		if got := git.Touches(commandsOf(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A command that no table has is not a working command, whatever its name.
func TestUnknownOptionsDoNotWork(t *testing.T) {
	for _, line := range uses[git.Works] {
		words := strings.Fields(line)
		if strings.ContainsAny(line, ";&|") || words[1] == "stash" && len(words) > 2 {
			continue
		}
		for _, option := range []string{"--no-such-option", "--exec=x", "--forc", "-Z", "-aZ"} {
			if use, _ := git.LineUse([][]string{append([]string{"git", words[1], option}, words[2:]...)}); use == git.Works {
				t.Errorf("%s with %s works", line, option)
			}
		}
	}
}
