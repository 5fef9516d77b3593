package git

import (
	"crypto/sha1" //nolint:gosec // The names of git's objects.
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Index is the index of a working tree as it was at one moment, for [Index.Behind].
type Index struct {
	// Mixed is what git had for files that it was kept from, by path: those that Behind found. It says them once
	// more when git takes what the tree has.
	Mixed map[string]string

	tree, dir string
	// file is the index, nil without one. git replaces the file and never writes to it.
	file  *os.File
	head  string
	began time.Time
}

// OpenIndex keeps the index of the working tree in a directory; nil without a repository.
func OpenIndex(tree string) *Index {
	_, dirs, ok := dirsOf(tree)
	if !ok || len(dirs) == 0 {
		return nil
	}
	x := &Index{tree: tree, dir: dirs[0], head: lastMove(dirs[0]), began: time.Now(), Mixed: map[string]string{}}
	if file, err := os.OpenFile(filepath.Join(x.dir, "index"), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0); err == nil {
		x.file = file
	}
	return x
}

// Close ends the use of an index. It may be nil.
func (x *Index) Close() {
	if x != nil && x.file != nil {
		_ = x.file.Close()
	}
}

// Behind are the files of a working tree that git was kept from: the index has other content for them than at
// the moment of x, or none, and they were not changed since. kept says by a path in the tree which files that
// may be; nothing else is compared. What changes the index alone, such as git reset, leaves nothing behind. removed
// are those that git no longer has.
func (x *Index) Behind(kept func(rel string) bool) (changed, removed []string) {
	if x == nil {
		return nil, nil
	}
	path := filepath.Join(x.dir, "index")
	now, err := os.Lstat(path)
	if err != nil || x.file != nil && same(x.file, now) {
		return nil, nil
	}
	before, after := entriesOf(x.file), entriesAt(path)
	moved := lastMove(x.dir)
	_, why, _ := strings.Cut(moved, "\t")
	byHead := moved != x.head && !strings.HasPrefix(why, "reset:") && !strings.HasPrefix(why, "commit")
	followed := byHead
	for name, hash := range after {
		switch old := before[name]; {
		case old == hash:
		case !kept(name):
			followed = followed || x.touched(name)
		case !x.touched(name) && !x.has(name, hash):
			changed = append(changed, name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there && byHead && kept(name) && exists(filepath.Join(x.tree, name)) && !x.touched(name) {
			removed = append(removed, name)
		}
	}
	if !followed {
		changed, removed = nil, nil
	}
	for _, name := range changed {
		x.Mixed[name] = after[name]
	}
	for name, hash := range x.Mixed {
		switch {
		case x.has(name, hash) || after[name] == "":
			delete(x.Mixed, name)
		case after[name] != hash:
			delete(x.Mixed, name)
			changed = append(changed, name)
		}
	}
	return unique(changed), unique(removed)
}

func same(file *os.File, info os.FileInfo) bool {
	old, err := file.Stat()
	return err == nil && os.SameFile(old, info) && old.ModTime().Equal(info.ModTime()) && old.Size() == info.Size()
}

// entriesOf are the files of an open index, by path; nil without it.
func entriesOf(file *os.File) map[string]string {
	if file == nil {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(file, 0, maxIndex))
	if err != nil {
		return nil
	}
	all := map[string]string{}
	for _, hash := range []int{sha1.Size, sha256.Size} {
		if entries, ok := indexEntries(data, hash); ok {
			for _, e := range entries {
				all[e.name] = e.hash
			}
			break
		}
	}
	return all
}

func entriesAt(path string) map[string]string {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	return entriesOf(file)
}

// touched says whether a file of the tree was changed since the moment, or made. A command takes longer to start than
// the clock of a file system lags.
func (x *Index) touched(rel string) bool {
	stamp, err := stampOfDir(filepath.Join(x.tree, rel))
	return err == nil && stamp.changed.After(x.began)
}

// has says whether a file of the tree has the content with this name.
func (x *Index) has(rel, name string) bool {
	path := filepath.Join(x.tree, rel)
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	text := ""
	if info.Mode()&os.ModeSymlink != 0 {
		text, _ = os.Readlink(path)
	} else {
		text = readUpTo(path, maxIndex)
	}
	object := fmt.Appendf(nil, "blob %d\x00%s", len(text), text)
	if len(name) == sha256.Size {
		sum := sha256.Sum256(object)
		return string(sum[:]) == name
	}
	sum := sha1.Sum(object) //nolint:gosec // See above.
	return string(sum[:]) == name
}
