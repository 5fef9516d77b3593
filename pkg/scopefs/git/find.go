package git

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of the search for repositories below a directory.
const (
	maxDirs  = 1000
	maxRepos = 64
)

// generated are directories that programs fill and delete: they are searched last.
var generated = []string{"node_modules", "target", "build", "dist", "out", "_build"}

// ofGit are the directories in a bare repository that are git's.
var ofGit = []string{"branches", "hooks", "info", "lfs", "logs", "modules", "objects", "rebase-merge", "refs", "reftable", "worktrees"}

// Survey is what a search for repositories found in a directory and below it.
type Survey struct {
	// Tops are the directories that have a .git or are a bare repository, outermost first. Filled are more of
	// them, in directories that are hidden or that programs fill.
	Tops, Filled []string
	dirs         map[string]*surveyed
}

// surveyed is a directory as it was when it was read.
type surveyed struct {
	dirStamp
	// top says that it is the top of a repository; next are the directories to search in, last those to search
	// in after all others.
	top        bool
	next, last []string
}

// Find searches a directory and those below it, at most maxDirs, the outermost first and those that are hidden or
// that programs fill last. It reads only those again that changed since an earlier search, which may be nil.
func Find(dir string, before *Survey) *Survey {
	now := &Survey{dirs: make(map[string]*surveyed)}
	late := now.search([]string{dir}, before, &now.Tops)
	for len(late) > 0 && len(now.dirs) < maxDirs {
		late = now.search(late, before, &now.Filled)
	}
	return now
}

// search looks through directories and those below them. It returns those that come last.
func (s *Survey) search(queue []string, before *Survey, tops *[]string) (late []string) {
	for ; len(queue) > 0 && len(s.dirs) < maxDirs && len(*tops) < maxRepos; queue = queue[1:] {
		at := queue[0]
		look := before.again(at)
		if look == nil {
			continue
		}
		s.dirs[at] = look
		if look.top {
			*tops = append(*tops, at)
		}
		for _, name := range look.next {
			queue = append(queue, filepath.Join(at, name))
		}
		for _, name := range look.last {
			late = append(late, filepath.Join(at, name))
		}
	}
	return late
}

// again is a directory as it is now; nil without it.
func (s *Survey) again(path string) *surveyed {
	stamp, err := stampOfDir(path)
	if err != nil {
		return nil
	}
	if s != nil {
		if old := s.dirs[path]; old != nil && old.sure && old.dirStamp == stamp {
			return old
		}
	}
	look := inspect(path)
	look.dirStamp = stamp
	return look
}

// dirStamp tells when a directory changed last, by the time that programs cannot set. sure says that it shows
// every later change.
type dirStamp struct {
	dev, ino uint64
	changed  time.Time
	sure     bool
}

// settled is how old the time of a change has to be before the file is taken as unchanged: clocks of
// file systems move in steps.
const settled = 20 * time.Millisecond

func stampOfDir(path string) (dirStamp, error) {
	began := time.Now()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return dirStamp{}, err
	}
	changed := time.Unix(st.Ctim.Unix())
	return dirStamp{uint64(st.Dev), st.Ino, changed, began.Sub(changed) > settled}, nil //nolint:unconvert // It has 32 bits on macOS.
}

func inspect(path string) *surveyed {
	look := &surveyed{}
	entries, _ := os.ReadDir(path)
	there := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		switch there[name] = true; {
		case !e.IsDir() || name == ".git":
		case name[0] == '.' || slices.Contains(generated, name):
			look.last = append(look.last, name)
		default:
			look.next = append(look.next, name)
		}
	}
	if there["HEAD"] && there["objects"] && there["refs"] {
		// Working trees may lie beside what is git's.
		look.next = slices.DeleteFunc(look.next, func(name string) bool { return slices.Contains(ofGit, name) })
		look.top = true
		return look
	}
	look.top = there[".git"]
	return look
}
