package checkpoint

import (
	"maps"
	"path/filepath"
	"slices"
)

// foundGits are the directories with a .git after a look, of those before.
func (s *scanner) foundGits(before map[string]bool) map[string]bool {
	if before == nil || s.whole {
		before = make(map[string]bool)
	}
	for rel, has := range s.gits {
		if has {
			before[rel] = true
		} else {
			delete(before, rel)
		}
	}
	return before
}

// Repositories are the working trees of git in the directory that the last looks found, at most so many; absolute.
func (w *Workspace) Repositories(most int) (dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, rel := range slices.Sorted(maps.Keys(w.gits)) {
		if len(dirs) < most {
			dirs = append(dirs, filepath.Join(w.dir, rel))
		}
	}
	return dirs
}
