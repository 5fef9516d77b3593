package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"podd/pkg/scopefs"
	"podd/pkg/scopefs/git"
	"podd/pkg/scopefs/ignore"
)

// Bounds of what a checkpoint has.
const (
	// maxFile is the largest file; maxIgnored the largest that git ignores by its name.
	maxFile, maxIgnored = 16 << 20, 1 << 20
	// maxFiles and maxBytes bound a whole directory: beyond, only named files are covered.
	maxFiles, maxBytes = 50_000, 4 << 30
	// maxNamed is how many of the left-out paths are named.
	maxNamed = 1000
	maxDepth = 200
	// settled is how old the time of a change has to be before the file is taken as unchanged:
	// clocks of file systems move in steps.
	settled = 20 * time.Millisecond
)

// errLarge says that a directory is beyond the bounds.
var errLarge = errors.New("the directory is too large for checkpoints")

// stamp is what changes with a file's bytes, mode or place.
type stamp struct {
	inode            uint64
	size             int64
	changed, written int64 // nanoseconds
}

// scanner reads a directory for a checkpoint.
type scanner struct {
	ctx  context.Context
	root *os.Root
	// keep stores the bytes of a file; has says that it did before, and they are not lost.
	keep func(data []byte) (plumbing.Hash, error)
	has  func(plumbing.Hash) bool
	// hidden are paths, relative to the directory, that no checkpoint has.
	hidden map[string]bool
	began  time.Time
	// left are the first of the paths that are left out, outs all of them.
	left []string
	outs leftOut
	// leftOut, files and bytes count.
	leftOut, files int
	bytes          int64
	// watch gets the directories; unwatched says that one cannot be watched.
	watch     *watch
	unwatched bool
}

// ruled is what git ignores in a directory. Its rules are not about what it tracks.
type ruled struct {
	*ignore.Rules
	*indexes
	// tree is the working tree around, and prefix the way to it: what its paths begin with. Empty for none.
	tree, prefix string
	// only says that git ignores the directory, which has files that it tracks.
	only bool
}

// enter adds the rules that begin to apply in the directory at rel, which has these names.
func (r ruled) enter(root *os.Root, rel string, names []string) ruled {
	hasGit := slices.Contains(names, ".git")
	r.Rules = r.Rules.Enter(root, path.Clean(rel), rel, hasGit, slices.Contains(names, ignore.File))
	if hasGit && !r.only {
		r.tree, r.prefix = path.Join(r.dir, rel), rel
	}
	return r
}

// tracks says whether git has a path, or something below it.
func (r ruled) tracks(rel string, dir bool) bool {
	if r.tree == "" {
		return false
	}
	if r.prefix != "" && r.prefix != "." {
		rel = strings.TrimPrefix(rel, r.prefix+"/")
	}
	return r.of(r.tree).Has(path.Join(r.under[r.tree], rel), dir)
}

// below are the rules in a directory in which those apply, unless it is left out.
func (r ruled) below(rel string) (below ruled, out bool) {
	if !r.only && !r.Ignores(rel, true) {
		return r, false
	}
	r.only = true
	return r, !r.tracks(rel, true)
}

// leavesOut says whether a file or link is left out.
func (r ruled) leavesOut(rel string, size int64) bool {
	switch {
	case size > maxFile:
		return true
	case r.only, size > maxIgnored && r.Ignores(rel, false):
		return !r.tracks(rel, false)
	}
	return false
}

// indexes are those of the working trees of git in a directory and around it, as far as a look needs them.
type indexes struct {
	dir  string
	read map[string]*git.Tracked
	// under is where the directory is in a tree around it.
	under map[string]string
}

// around are the rules with which a look begins: those of the tree around the directory, if any, apply
// only to what git tracks.
func (x *indexes) around() (r ruled) {
	r.indexes = x
	if tree := git.Enclosing(filepath.Dir(x.dir)); tree != "" {
		if rel, err := filepath.Rel(tree, x.dir); err == nil {
			r.tree, x.under[tree] = tree, rel
		}
	}
	return r
}

// of is the index of a tree.
func (x *indexes) of(tree string) *git.Tracked {
	t, known := x.read[tree]
	if !known {
		t = git.ReadTracked(tree, nil)
		x.read[tree] = t
	}
	return t
}

// still says that the indexes are those that were read.
func (x *indexes) still() bool {
	for tree, before := range x.read {
		if git.ReadTracked(tree, before) != before {
			return false
		}
	}
	return true
}

// refresh reads those again that are others now.
func (x *indexes) refresh() {
	for tree, before := range x.read {
		x.read[tree] = git.ReadTracked(tree, before)
	}
}

// settled is a stamp that no later change can have; else the zero one.
func (s *scanner) settled(now stamp) stamp {
	if s.began.UnixNano()-now.changed < int64(settled) {
		return stamp{}
	}
	return now
}

// out leaves a path out.
func (s *scanner) out(rel string, n leftName) {
	s.leftOut++
	dir, name := path.Split(strings.TrimSuffix(rel, "/"))
	n.Name = name
	s.outs[path.Clean(dir)] = append(s.outs[path.Clean(dir)], n)
	if len(s.left) < maxNamed {
		s.left = append(s.left, rel)
	}
}

// dir reads the open directory at rel, which was old.
func (s *scanner) dir(self *os.File, rel string, st *unix.Stat_t, old *node, rules ruled, depth int) (*node, error) {
	if err := context.Cause(s.ctx); err != nil {
		return nil, err
	}
	perm, now := modeOf(st)&0o777, s.settled(stampOf(st))
	if old == nil || old.stamp != now || now == (stamp{}) {
		// The watch begins before the directory is read: no change is between the two.
		s.unwatched = !s.watch.add(int(self.Fd())) || s.unwatched
	}
	names, err := self.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	rules = rules.enter(s.root, rel, names)
	kids := make([]*node, 0, len(names))
	same := old.isDir() && old.Mode == typeDir|perm
	for _, name := range names {
		if name == ".git" || scopefs.Writing(name) || s.hidden[path.Join(rel, name)] {
			continue
		}
		before := old.kid(name)
		kid, err := s.entry(self, path.Join(rel, name), name, before, rules, depth)
		if err != nil {
			return nil, err
		}
		if kid != nil {
			kids = append(kids, kid)
		}
		same = same && kid == before
	}
	if same && len(kids) == len(old.kids) && !old.Hash.IsZero() && old.stamp == now {
		return old, nil
	}
	n := directory(path.Base(rel), perm, kids)
	n.stamp = now
	return n, nil
}

// entry reads one entry of a directory; nil if a checkpoint does not have it.
func (s *scanner) entry(dir *os.File, rel, name string, old *node, rules ruled, depth int) (*node, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return s.unreadable(rel, old)
	}
	mode := modeOf(&st)
	switch mode & typeBits {
	case typeDir:
		below, ignored := rules.below(rel)
		if depth >= maxDepth || ignored {
			s.out(rel+"/", leftName{Inode: st.Ino, Born: born(int(dir.Fd()), name)})
			return nil, nil
		}
		fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return s.unreadable(rel+"/", old)
		}
		sub := os.NewFile(uintptr(fd), name)
		defer sub.Close()
		n, err := s.dir(sub, rel, &st, old, below, depth+1)
		if errors.Is(err, fs.ErrPermission) {
			return s.unreadable(rel+"/", old)
		}
		return n, err
	case typeLink, typeFile:
		if rules.leavesOut(rel, st.Size) {
			s.out(rel, leftName{Inode: st.Ino, Born: born(int(dir.Fd()), name)})
			return nil, nil
		}
		if mode&typeBits == typeLink {
			return s.link(rel, name, old)
		}
		return s.file(rel, name, &st, old)
	}
	return nil, nil
}

// unreadable leaves out a path that cannot be read. The checkpoint keeps its earlier state: the
// path was not deleted.
func (s *scanner) unreadable(rel string, old *node) (*node, error) {
	s.out(rel, leftName{})
	return old, nil
}

func (s *scanner) link(rel, name string, old *node) (*node, error) {
	text, err := s.root.Readlink(rel)
	if err != nil {
		return s.unreadable(rel, old)
	}
	id, err := s.keep([]byte(text))
	if err != nil {
		return nil, err
	}
	n := &node{name: name, File: File{Mode: typeLink, Hash: id}}
	if old != nil && old.File == n.File {
		return old, nil
	}
	return n, nil
}

func (s *scanner) file(rel, name string, st *unix.Stat_t, old *node) (*node, error) {
	s.files++
	s.bytes += st.Size
	if s.files > maxFiles || s.bytes > maxBytes {
		return nil, errLarge
	}
	now := stampOf(st)
	if old != nil && old.stamp == now && old.Mode == modeOf(st)&^0o7000 && s.has(old.Hash) {
		return old, nil
	}
	data, mode, now, err := readFile(s.root, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return s.unreadable(rel, old)
	}
	now = s.settled(now)
	id, err := s.keep(data)
	if err != nil {
		return nil, err
	}
	if old != nil && old.File == (File{Mode: mode, Hash: id}) && old.stamp == now {
		return old, nil
	}
	return &node{name: name, File: File{Mode: mode, Hash: id}, stamp: now}, nil
}

func modeOf(st *unix.Stat_t) uint32 {
	return uint32(st.Mode) //nolint:unconvert // It has 16 bits on macOS.
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{inode: st.Ino, size: st.Size, changed: st.Ctim.Nano(), written: st.Mtim.Nano()}
}

var errNotFile = errors.New("it is not a regular file, or is too large")

// readFile reads a regular file and what it was while it was read.
func readFile(root *os.Root, name string) (data []byte, mode uint32, now stamp, err error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, now, err
	}
	defer file.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, 0, now, err
	}
	if modeOf(&st)&typeBits != typeFile || st.Size > maxFile {
		return nil, 0, now, errNotFile
	}
	data = make([]byte, 0, st.Size+1)
	for len(data) <= maxFile {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, now, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	if len(data) > maxFile {
		return nil, 0, now, errNotFile
	}
	var after unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &after); err != nil {
		return nil, 0, now, err
	}
	if stampOf(&after) == stampOf(&st) {
		now = stampOf(&st)
	}
	return data, modeOf(&st) &^ 0o7000, now, nil
}
