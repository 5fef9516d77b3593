package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"podd/pkg/item"
)

// Step is what it takes to take the agent's changes of one path back.
type Step struct {
	// Path is relative to the directory.
	Path string
	// Left is what the agent left, Want what was there before.
	Left, Want File
	// Merge says that a text which somebody changed since gets the change from Left to Want, if
	// that merges; in a plan, that it does.
	Merge bool
}

// span is the last run of changes of a path by one side.
type span struct {
	Step
	// closed says that the other side changed the path afterwards.
	closed bool
}

// spans follow consecutive checkpoints path by path, for those of whom mine says so.
func (w *Workspace) spans(line []item.Checkpoint, mine func(item.CheckpointBy) bool) (steps []Step, err error) {
	spans := make(map[string]*span)
	err = w.use(func() error {
		for _, m := range line {
			if m.Parent == "" || m.Parent == m.Commit {
				// The first one; or an earlier version stored here that references of git moved.
				continue
			}
			changes, err := w.repo.diff(m.Parent, m.Commit)
			if err != nil {
				return err
			}
			for _, c := range changes {
				follow(spans, c, mine(m.By))
			}
		}
		return nil
	})
	for _, at := range slices.Sorted(maps.Keys(spans)) {
		if s := spans[at]; s.Left != s.Want {
			steps = append(steps, s.Step)
		}
	}
	return steps, err
}

// follow adds a change to the last run of changes of its path.
func follow(spans map[string]*span, c change, mine bool) {
	s := spans[c.Path]
	switch {
	case !mine && s != nil:
		s.closed = true
	case !mine:
	case s == nil || s.closed:
		spans[c.Path] = &span{Step: Step{Path: c.Path, Left: c.New, Want: c.Old}}
	default:
		s.Left = c.New
	}
}

// Steps take back what the agent changed in consecutive checkpoints, path by path: to what
// somebody else wrote last, or to what was there first. Restores are treated like the agent.
func (w *Workspace) Steps(line []item.Checkpoint) ([]Step, error) {
	return w.spans(line, func(by item.CheckpointBy) bool { return by != item.ByPerson })
}

// Changes are what one side changed last in consecutive checkpoints: Want is what was there
// before, Left what is there afterwards. A restore is the agent's.
func (w *Workspace) Changes(line []item.Checkpoint, by item.CheckpointBy) ([]Step, error) {
	return w.spans(line, func(who item.CheckpointBy) bool { return (who == item.ByPerson) == (by == item.ByPerson) })
}

// diff is what happened to paths between two commits.
func (r *repo) diff(from, to string) ([]change, error) {
	if err := cmp.Or(unknown(r, from), unknown(r, to)); err != nil {
		return nil, err
	}
	a, err := r.commit(hashOf(from))
	if err != nil {
		return nil, err
	}
	b, err := r.commit(hashOf(to))
	if err != nil {
		return nil, err
	}
	changes, err := r.between(a.root(), b.root())
	return slices.DeleteFunc(changes, compare(a.covers, b.covers).changed), err
}

// Conflict is a path that stays as it is.
type Conflict struct {
	Path string
	// Why is half a sentence about the path.
	Why string
}

// Why a path stays.
const (
	whyChanged = "was changed after the agent"
	whyAppears = "was made again after the agent deleted it"
	whyGone    = "was deleted after the agent changed it"
	whyFull    = "has files that the agent did not make"
	whyApart   = "was changed after the agent in a way that does not merge"
	whyWay     = "is reached through what is no directory any more"
)

// Plan says which steps write something, and which conflict, as the files are now.
func (w *Workspace) Plan(ctx context.Context, steps []Step) (todo []Step, conflicts []Conflict, err error) {
	err = w.use(func() error {
		root, err := os.OpenRoot(w.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		// A file that a step replaces by a directory blocks no path below it.
		goes := make(map[string]bool)
		for _, s := range steps {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			do, why, err := w.planned(root, &s, goes)
			switch {
			case err != nil:
				return err
			case why != "":
				conflicts = append(conflicts, Conflict{s.Path, why})
			case do:
				todo = append(todo, s)
			}
		}
		return nil
	})
	return todo, conflicts, err
}

// planned says whether a step writes something, or why its path stays as it is.
func (w *Workspace) planned(root *os.Root, s *Step, goes map[string]bool) (do bool, conflict string, err error) {
	now, data, err := lookAt(root, s.Path)
	switch {
	case err == nil && (now == s.Want || now.IsDir() && s.Want.IsDir() && !s.Left.IsDir()):
		return false, "", nil
	case err == nil && now == s.Left, errors.Is(err, errWay) && !s.Left.Exists() && goesAbove(goes, s.Path):
		s.Merge = false
		goes[s.Path] = s.Want.IsDir() && !s.Left.IsDir()
		return true, "", nil
	case errors.Is(err, errWay):
		return false, whyWay, nil
	case err != nil && !errors.Is(err, errNotFile):
		return false, "", err
	}
	m, err := w.repo.merge(*s, now, data)
	if err == nil && !m.ok {
		conflict = why(*s, now)
	}
	return m.File != now, conflict, err
}

// goesAbove says whether a step makes a directory of a file above the path.
func goesAbove(goes map[string]bool, rel string) bool {
	for at := path.Dir(rel); at != "."; at = path.Dir(at) {
		if goes[at] {
			return true
		}
	}
	return false
}

func why(s Step, now File) string {
	switch {
	case !s.Left.Exists():
		return whyAppears
	case !now.Exists():
		return whyGone
	case s.Merge:
		return whyApart
	}
	return whyChanged
}

// errWay says that a parent of a path is not a directory.
var errWay = errors.New("a parent is not a directory")

// lookAt reads what a path has now, and its bytes. A device or a socket is errNotFile.
func lookAt(root *os.Root, rel string) (f File, data []byte, err error) {
	dir, name, err := way(root, rel, false)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil, nil
	}
	if err != nil {
		return f, nil, err
	}
	defer dir.Close()
	return lookIn(dir, name)
}

// lookIn is lookAt in an open directory.
func lookIn(dir *os.Root, name string) (f File, data []byte, err error) {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, nil, nil
	case err != nil:
		return f, nil, err
	case info.Mode().Type() == fs.ModeSymlink:
		text, err := dir.Readlink(name)
		data = []byte(text)
		return File{Mode: typeLink, Hash: plumbing.ComputeHash(plumbing.BlobObject, data)}, data, err
	case info.IsDir():
		return File{Mode: typeDir | uint32(info.Mode().Perm())}, nil, nil
	case !info.Mode().IsRegular():
		return f, nil, errNotFile
	}
	data, mode, _, err := readFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil, nil
	}
	if err != nil {
		return f, nil, err
	}
	return File{Mode: mode, Hash: plumbing.ComputeHash(plumbing.BlobObject, data)}, data, nil
}

// way opens the directory of a path, one step after the other, and never through a link. With
// mend it makes missing directories.
func way(root *os.Root, rel string, mend bool) (dir *os.Root, name string, err error) {
	if dir, err = root.OpenRoot("."); err != nil {
		return nil, "", err
	}
	names := strings.Split(rel, "/")
	for _, step := range names[:len(names)-1] {
		next, err := down(dir, step, mend)
		if err := cmp.Or(err, dir.Close()); err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, names[len(names)-1], nil
}

func down(dir *os.Root, name string, mend bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && mend {
		if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errWay
	}
	return dir.OpenRoot(name + "/.")
}
