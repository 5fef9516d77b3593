package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Usage is what files use on a disk. Files is their number.
type Usage struct{ Bytes, Files int64 }

// over says whether one exceeds the other, if that has a limit.
func (u Usage) over(left Usage) bool {
	return u.Bytes > left.Bytes || left.Files >= 0 && u.Files > left.Files
}

// TempError says that a pod's temporary files use more than the disk has left.
type TempError struct {
	Taken, Left Usage
	// Deep says that they are nested too deeply to be measured.
	Deep bool
}

// Error says of what there is too much.
func (e *TempError) Error() string {
	switch {
	case e.Deep:
		return fmt.Sprintf("its temporary files lay below more than %d directories", maxDepth)
	case e.Taken.Bytes > e.Left.Bytes:
		return fmt.Sprintf("its temporary files took %d MiB, more than the %d MiB that the disk has left", e.Taken.Bytes>>20, e.Left.Bytes>>20)
	}
	return fmt.Sprintf("there were %d temporary files, and the disk has room for %d more", e.Taken.Files, e.Left.Files)
}

// tempWatch is what is known about a pod's temporary files.
type tempWatch struct {
	mu sync.Mutex
	// known says that they were measured: they used taken when the disk had left.
	known       bool
	taken, left Usage
}

// needed says whether the files have to be measured: they may use more than is left. The
// disk has lost whatever they have grown since they were measured.
func (w *tempWatch) needed(used, left Usage) bool {
	if !w.known {
		return used.over(left)
	}
	return left.Bytes < (w.taken.Bytes+w.left.Bytes)/2 || left.Files >= 0 && left.Files < (w.taken.Files+w.left.Files)/2
}

// How soon a look has to follow: hardly any disk writes more bytes or files in a
// millisecond.
const (
	bytesPerMilli = 8 << 20
	filesPerMilli = 1000
	minLook       = 2 * time.Millisecond
	maxLook       = 250 * time.Millisecond
)

// CheckTemp returns a [TempError] when the pod's temporary files use more than the disk
// has left, in bytes or in files; below that, all others have as much as they use. open
// returns what removed files use that a process still has open, by device; may be nil.
// The next look should follow after next. A look is one system call, unless the disk has
// lost half of what it had.
func (f *Folder) CheckTemp(ctx context.Context, open func(device uint64) Usage) (next time.Duration, err error) {
	f.temp.mu.Lock()
	defer f.temp.mu.Unlock()
	dir := filepath.Join(f.dir, tempName)
	used, left, err := disk(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return maxLook, nil
	}
	if err != nil {
		return maxLook, err
	}
	next = time.Duration(left.Bytes/bytesPerMilli) * time.Millisecond
	if left.Files >= 0 {
		next = min(next, time.Duration(left.Files/filesPerMilli)*time.Millisecond)
	}
	next = min(max(next, minLook), maxLook)
	if !f.temp.needed(used, left) {
		return next, nil
	}
	m := meter{ctx: ctx, left: left, linked: map[uint64]bool{}}
	if err := m.measure(dir, open); err != nil {
		return next, err
	}
	f.temp.known, f.temp.taken, f.temp.left = true, m.taken, left
	return next, nil
}

// disk is what a file system has in use and left for this user. Files are -1 without a
// limit.
func disk(path string) (used, left Usage, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return used, left, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	block := int64(stat.Bsize) //nolint:unconvert // macOS has another type
	left = Usage{int64(stat.Bavail) * block, int64(stat.Ffree)}
	used = Usage{int64(stat.Blocks-stat.Bfree) * block, int64(stat.Files - stat.Ffree)}
	if stat.Files == 0 {
		left.Files = -1
	}
	return used, left, nil
}

// meter adds up what a command has created, which may be as many files and as deep as it
// likes.
type meter struct {
	ctx         context.Context
	taken, left Usage
	// linked are the files with several names, which count once.
	linked map[uint64]bool
}

// maxDepth is deeper than programs nest, and not too deep to follow.
const maxDepth = 200

// measure returns a TempError as soon as there is more than left.
func (m *meter) measure(dir string, open func(device uint64) Usage) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && open != nil {
		m.taken = open(uint64(stat.Dev)) //nolint:unconvert // macOS has another type
	}
	if m.taken.over(m.left) {
		return &TempError{Taken: m.taken, Left: m.left}
	}
	return m.below(root, 0)
}

func (m *meter) below(dir *os.Root, depth int) error {
	if depth > maxDepth {
		return &TempError{Deep: true}
	}
	list, err := dir.Open(".")
	if err != nil {
		return nil // It is gone.
	}
	defer list.Close()
	for {
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		const atOnce = 1024
		names, err := list.Readdirnames(atOnce)
		for _, name := range names {
			if err := m.add(dir, name, depth); err != nil {
				return err
			}
		}
		if err != nil { // io.EOF, or it is gone.
			return nil
		}
	}
}

// add counts an entry of a directory, and everything below it.
func (m *meter) add(dir *os.Root, name string, depth int) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil // It is gone.
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() && stat.Nlink > 1 && m.linked[stat.Ino] {
		return nil
	}
	if !info.IsDir() && stat.Nlink > 1 {
		m.linked[stat.Ino] = true
	}
	const sector = 512
	m.taken.Bytes += stat.Blocks * sector
	m.taken.Files++
	if m.taken.over(m.left) {
		return &TempError{Taken: m.taken, Left: m.left}
	}
	if !info.IsDir() {
		return nil
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		// What a command closed to itself is measured too.
		_ = dir.Chmod(name, info.Mode().Perm()|0o700)
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil
	}
	defer sub.Close()
	return m.below(sub, depth+1)
}

// EmptyTemp removes the pod's temporary files, and keeps their directory, which commands
// may have mounted.
func (f *Folder) EmptyTemp() error {
	root, err := os.OpenRoot(filepath.Join(f.dir, tempName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	f.temp.mu.Lock()
	f.temp.known = false
	f.temp.mu.Unlock()
	return empty(root, 0)
}

// empty removes the content of a directory, even what its owner cannot access.
func empty(dir *os.Root, depth int) error {
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	var errs []error
	for {
		const atOnce = 1024
		names, err := list.Readdirnames(atOnce)
		for _, name := range names {
			errs = append(errs, remove(dir, name, depth))
		}
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}

func remove(dir *os.Root, name string, depth int) error {
	err := dir.RemoveAll(name)
	if err == nil || depth > maxDepth {
		return err
	}
	// A directory that its owner can't enter or change.
	if dir.Chmod(name, 0o700) != nil {
		return err
	}
	if sub, open := dir.OpenRoot(name); open == nil {
		_ = empty(sub, depth+1)
		_ = sub.Close()
	}
	return dir.RemoveAll(name)
}
