package scopefs

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"podd/pkg/scopefs/git"
)

// obeyedByGit says whether a repository above the place executes or obeys what is there:
// core.hooksPath or include.path names it, or a hook is a link to it.
func obeyedByGit(p place) bool {
	home, _ := os.UserHomeDir()
	// The last name has the links resolved.
	top := p.names[len(p.names)-1]
	abs := fold(filepath.Join(top, p.rel))
	for at := range parents(p.rel) {
		if _, err := p.Lstat(path.Join(at, ".git")); err != nil {
			if _, err := p.Lstat(at); err != nil {
				break // Nothing is below a missing directory.
			}
			continue
		}
		repo, _ := git.At(filepath.Join(top, at), home)
		for _, obeyed := range repo.Obeyed {
			if obeyed = fold(obeyed); abs == obeyed || strings.HasPrefix(abs, obeyed+"/") {
				return true
			}
		}
	}
	return false
}
