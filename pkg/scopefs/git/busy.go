package git

import (
	"os"
	"path/filepath"
	"strings"
)

// branches begins the name of a branch.
const branches = "refs/heads/"

// Begun is something that a person began with git in a working tree and has not ended.
type Begun struct {
	// What is it, such as "a merge"; End are the commands that end it.
	What, End string
	// Branches are those that it keeps for itself, by their full names.
	Branches []string
}

// begun are the files that tell it, in a git directory of a working tree.
var begun = []struct{ file, what, end string }{
	{"rebase-merge", "a rebase", "git rebase --continue or --abort"},
	{"rebase-apply/applying", "a git am", "git am --continue or --abort"},
	{"rebase-apply", "a rebase", "git rebase --continue or --abort"},
	{"MERGE_HEAD", "a merge", "git merge --continue or --abort"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or --abort"},
	{"REVERT_HEAD", "a revert", "git revert --continue or --abort"},
	{"sequencer", "a cherry-pick or revert", "git cherry-pick --continue or --abort"},
	{"BISECT_LOG", "a bisect", "git bisect reset"},
}

// BegunIn is what was begun in a working tree, by its git directory.
func BegunIn(dir string) (b Begun, ok bool) {
	for _, e := range begun {
		if _, err := os.Lstat(filepath.Join(dir, e.file)); err == nil {
			b.What, b.End, ok = e.what, e.end, true
			break
		}
	}
	add := func(name string) {
		if strings.HasPrefix(name, branches) {
			b.Branches = append(b.Branches, name)
		}
	}
	for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		add(strings.TrimSpace(readSome(filepath.Join(dir, file))))
	}
	for l := range strings.Lines(readSome(filepath.Join(dir, "rebase-merge/update-refs"))) {
		add(strings.TrimSpace(l))
	}
	if start := strings.TrimSpace(readSome(filepath.Join(dir, "BISECT_START"))); start != "" {
		add(branches + strings.TrimPrefix(start, branches))
	}
	return b, ok
}
