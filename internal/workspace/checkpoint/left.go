package checkpoint

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
)

// leftFile has what the last look left out. It says after a kill that the agent did not make a
// file which rules or its size left out until now.
const leftFile = "left"

// leftOut are the names that a look left out, by the directory that has them.
type leftOut map[string][]string

// loadLeft reads the file; one that is missing or of no use has nothing.
func (w *Workspace) loadLeft() (left leftOut) {
	data, err := os.ReadFile(filepath.Join(w.path, leftFile))
	if err != nil || json.Unmarshal(data, &left) != nil {
		return nil
	}
	return left
}

// leave keeps what a look left out of the directories that it read: of all of them, with whole.
func (w *Workspace) leave(outs leftOut, whole bool) error {
	now := make(leftOut)
	if !whole {
		maps.Copy(now, w.left)
	}
	for dir, names := range outs {
		slices.Sort(names)
		now[dir] = names
	}
	maps.DeleteFunc(now, func(_ string, names []string) bool { return len(names) == 0 })
	if reflect.DeepEqual(now, w.left) || len(now)+len(w.left) == 0 {
		return nil
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	w.left = now
	return replace(filepath.Join(w.path, leftFile), data)
}

// has says whether the path or a directory above it was left out.
func (l leftOut) has(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if slices.Contains(l[path.Dir(rel)], path.Base(rel)) {
			return true
		}
	}
	return false
}
