package git

import (
	"os"
	"path/filepath"
	"slices"
)

// Bounds of the search for repositories below a directory.
const (
	maxDepth = 4
	maxDirs  = 1000
	maxRepos = 64
)

// generated are directories that programs fill and delete. Their repositories are copies
// of others, and a clean-up must be able to remove them.
var generated = []string{"node_modules", "target", "build", "dist", "out", "_build"}

// Find returns the repositories in a directory and below it, outermost first: those at
// most maxDepth levels deep that are in no hidden directory and in none that programs
// fill. whole says that the search was complete.
func Find(dir, home string) (repos []Repo, whole bool) {
	type place struct {
		path  string
		depth int
	}
	queue := []place{{dir, 0}}
	for seen := 0; len(queue) > 0 && seen < maxDirs && len(repos) < maxRepos; seen++ {
		at := queue[0]
		queue = queue[1:]
		look := inspect(at.path)
		if look.bare() || look.git {
			if repo, ok := At(at.path, home); ok {
				repos = append(repos, repo)
			}
		}
		if look.bare() || at.depth == maxDepth {
			continue
		}
		for _, name := range look.dirs {
			queue = append(queue, place{filepath.Join(at.path, name), at.depth + 1})
		}
	}
	return repos, len(queue) == 0
}

// inside is what matters here about a directory.
type inside struct {
	git, head, objects, refs bool
	// dirs are the directories to search next.
	dirs []string
}

func (i inside) bare() bool { return i.head && i.objects && i.refs }

func inspect(path string) (look inside) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		name := e.Name()
		switch name {
		case ".git":
			look.git = true
		case "HEAD":
			look.head = true
		case "objects":
			look.objects = true
		case "refs":
			look.refs = true
		}
		if e.IsDir() && name[0] != '.' && !slices.Contains(generated, name) {
			look.dirs = append(look.dirs, name)
		}
	}
	return look
}
