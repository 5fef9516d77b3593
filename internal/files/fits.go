package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"podd/pkg/item"
)

// room is what a file system has left, and what the steps so far take of it.
type room struct{ left, taken int64 }

// Fits says why steps cannot be made in a directory, before the first one is: something on the way must
// not be written, or the disk has no room. w has the bytes that they want.
func (w *Workspace) Fits(dir string, steps []Step) error {
	return fits(dir, steps, func(s Step) (int64, error) {
		data, err := w.Read(s.Want)
		return int64(len(data)), err
	})
}

// Full marks an error that passes when there is space.
func Full(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	e := item.Errorf(item.KindExhausted, "NO_SPACE", "%v", err)
	e.Cause = err
	return e
}

// fits is Fits; size is the size of what a step wants.
func fits(dir string, steps []Step, size func(Step) (int64, error)) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	steps = slices.SortedFunc(slices.Values(steps), func(a, b Step) int { return order(a.Want, b.Want, a.Path, b.Path) })
	changed := make(map[string]bool) // The directories that get other permissions.
	for _, s := range steps {
		if s.Left.IsDir() && s.Want.IsDir() {
			changed[s.Path] = true
		}
	}
	rooms := make(map[unix.Fsid]*room)
	for _, s := range steps {
		if changed[s.Path] {
			continue
		}
		at, to, err := nearest(root, s.Path)
		if err != nil {
			return err
		}
		err = s.fits(to, !changed[at], at == path.Dir(s.Path), rooms, size)
		if err := errors.Join(err, to.Close()); err != nil {
			return fmt.Errorf("nothing was changed: %s: %w", filepath.Join(dir, s.Path), err)
		}
	}
	return nil
}

// nearest opens the directory of a path, or the one above that there is.
func nearest(root *os.Root, rel string) (at string, dir *os.Root, err error) {
	for {
		dir, _, err = way(root, rel, false)
		at = path.Dir(rel)
		if at == "." || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errWay) {
			return at, dir, err
		}
		rel = at
	}
}

// fits looks at one step, whose directory is dir if there is one, or will be below it.
func (s Step) fits(dir *os.Root, mustWrite, there bool, rooms map[unix.Fsid]*room, size func(Step) (int64, error)) error {
	return at(dir, func(fd int) error {
		if err := unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, 0); err != nil && mustWrite {
			return fmt.Errorf("its directory cannot be written (%w): change that first", err)
		}
		if there && s.Left.Exists() && !s.Left.IsDir() && !s.Left.IsLink() {
			// Without permission a file can be replaced, but not if it is immutable or mounted read-only.
			if err := unix.Faccessat(fd, path.Base(s.Path), unix.W_OK, 0); errors.Is(err, unix.EPERM) || errors.Is(err, unix.EROFS) {
				return fmt.Errorf("it cannot be replaced (%w): change that first", err)
			}
		}
		return s.take(fd, dir, there, rooms, size)
	})
}

// take counts the bytes of a step: its new file is there before the old one goes.
func (s Step) take(fd int, dir *os.Root, there bool, rooms map[unix.Fsid]*room, size func(Step) (int64, error)) error {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(fd, &stat); err != nil {
		return err
	}
	r := rooms[stat.Fsid]
	if r == nil {
		free := stat.Bavail
		if os.Geteuid() == 0 {
			free = stat.Bfree // What is reserved is root's.
		}
		block := uint64(max(stat.Bsize, 1))
		r = &room{left: int64(min(free, math.MaxInt64/block) * block)}
		if stat.Blocks == 0 {
			r.left = math.MaxInt64 // It has no limit, or does not say.
		}
		rooms[stat.Fsid] = r
	}
	if s.Want.Exists() && !s.Want.IsDir() {
		n, err := size(s)
		if err != nil {
			return err
		}
		if r.taken += n; r.taken > r.left {
			return fmt.Errorf("the disk has no room for it (%w): free at least %d bytes", unix.ENOSPC, r.taken-r.left)
		}
	}
	if info, err := dir.Lstat(path.Base(s.Path)); there && err == nil && info.Mode().IsRegular() {
		r.taken -= info.Size()
	}
	return nil
}
