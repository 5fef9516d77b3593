package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of the search for repositories below a directory.
const (
	maxDepth = 4
	maxDirs  = 1000
	maxRepos = 64
)

// generated are directories that programs fill and empty. Their repositories are copies of
// what lies elsewhere, and who cleans up must be able to remove them.
var generated = []string{"node_modules", "target", "build", "dist", "out", "_build"}

// Find gives the repositories in a directory and below it, outermost first: of those that
// lie at most maxDepth levels deep, in none of the directories that programs fill and in
// none that are hidden.
func Find(dir, home string) (repos []Repo) {
	type place struct {
		path  string
		depth int
	}
	queue := []place{{dir, 0}}
	for seen := 0; len(queue) > 0 && seen < maxDirs && len(repos) < maxRepos; seen++ {
		at := queue[0]
		queue = queue[1:]
		entries, _ := os.ReadDir(at.path)
		names := map[string]bool{}
		for _, e := range entries {
			names[e.Name()] = true
		}
		bare := names["HEAD"] && names["objects"] && names["refs"]
		if bare || names[".git"] {
			if repo, ok := At(at.path, home); ok {
				repos = append(repos, repo)
			}
		}
		if bare || at.depth == maxDepth {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(generated, e.Name()) {
				queue = append(queue, place{filepath.Join(at.path, e.Name()), at.depth + 1})
			}
		}
	}
	return repos
}
