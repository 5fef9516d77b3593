package files

import (
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// leftFile begins the name of a file with what the last look of a pod left out. It says after a
// kill that the agent did not make a file which rules or its size left out until now. Each pod has
// its own: what was left out for one may be in the checkpoints of another.
const leftFile = "left-"

// leftOut is what a look left out, by the directory that has it.
type leftOut map[string][]leftName

// leftName is a name that was left out, and which file or directory it was.
type leftName struct {
	Name string `json:"n"`
	// Inode and Born tell it from others under another name; Born, in nanoseconds, is 0 if the file
	// system does not say it.
	Inode uint64 `json:"i,omitempty"`
	Born  int64  `json:"b,omitempty"`
}

// leftBy is what the last look of a pod left out; nothing if that is not known.
func (w *Workspace) leftBy(pod string) (left leftOut) {
	if left, ok := w.lefts[pod]; ok {
		return left
	}
	data, err := os.ReadFile(filepath.Join(w.path, leftFile+pod))
	if err != nil || json.Unmarshal(data, &left) != nil {
		return nil
	}
	return left
}

// leave keeps what the look of a pod left out.
func (w *Workspace) leave(pod string, now leftOut) error {
	for _, names := range now {
		slices.SortFunc(names, func(a, b leftName) int { return cmp.Compare(a.Name, b.Name) })
	}
	before := w.leftBy(pod)
	if w.lefts == nil {
		w.lefts = make(map[string]leftOut)
	}
	w.lefts[pod] = now
	if reflect.DeepEqual(now, before) || len(now)+len(before) == 0 {
		return nil
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return replace(filepath.Join(w.path, leftFile+pod), data)
}

// forgetLeft removes the files of pods that have no checkpoints in a repository any more.
func forgetLeft(repo string) error {
	names, err := filepath.Glob(filepath.Join(repo, leftFile+"*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		pod := strings.TrimPrefix(filepath.Base(name), leftFile)
		if _, err := os.Lstat(filepath.Join(repo, "refs", "heads", pod)); err == nil {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// has says whether the path or a directory above it was left out.
func (l leftOut) has(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		at := path.Base(rel)
		if slices.ContainsFunc(l[path.Dir(rel)], func(n leftName) bool { return n.Name == at }) {
			return true
		}
	}
	return false
}

// arrivals find what was left out until now and has another name.
type arrivals struct {
	dir string
	// born are the times by inode.
	born map[uint64]int64
	// came are those that were found.
	came map[string]bool
}

func (l leftOut) arrivals(dir string) *arrivals {
	a := &arrivals{dir: dir, born: make(map[uint64]int64), came: make(map[string]bool)}
	for _, names := range l {
		for _, n := range names {
			if n.Born != 0 {
				a.born[n.Inode] = n.Born
			}
		}
	}
	return a
}

// has says whether a new path is, or is in, one of them. It is called for a directory before it is
// for what is in there.
func (a *arrivals) has(rel string) bool {
	if len(a.born) == 0 {
		return false
	}
	for above := path.Dir(rel); above != "."; above = path.Dir(above) {
		if a.came[above] {
			return true
		}
	}
	var st unix.Stat_t
	at := filepath.Join(a.dir, rel)
	if unix.Lstat(at, &st) != nil {
		return false
	}
	if was := a.born[st.Ino]; was == 0 || was != born(unix.AT_FDCWD, at) {
		return false
	}
	a.came[rel] = true
	return true
}
