package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// FullError says that a directory uses more than the disk has left.
type FullError struct {
	Dir         *Dir
	Taken, Left Usage
	// Deep says that its files are nested too deeply to be measured.
	Deep bool
}

// Error says of what there is too much.
func (e *FullError) Error() string {
	switch {
	case e.Deep:
		return fmt.Sprintf("%s lay below more than %d directories", e.Dir.holds, maxDepth)
	case e.Taken.Bytes > e.Left.Bytes:
		return fmt.Sprintf("%s took %d MiB, more than the %d MiB that the disk has left", e.Dir.holds, e.Taken.Bytes>>20, e.Left.Bytes>>20)
	}
	return fmt.Sprintf("%s numbered %d, and the disk has room for %d more", e.Dir.holds, e.Taken.Files, e.Left.Files)
}

// Dir is a directory that commands fill. Its methods may be called from any goroutine.
type Dir struct {
	// Path leads to it.
	Path string
	// holds names its files, such as "its temporary files".
	holds string

	mu sync.Mutex
	// checked is when it was last checked: it is, several times a second, while a command uses it.
	checked time.Time
	// known says that the files were measured: they used taken when the disk had left.
	known       bool
	taken, left Usage
}

// New is a directory, which need not exist. holds names its files in an error.
func New(path, holds string) *Dir { return &Dir{Path: path, holds: holds} }

// Make creates the directory in an existing one, unless it exists.
func (d *Dir) Make() error {
	if err := os.Mkdir(d.Path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// needed says whether the files have to be measured: they may use more than is left. The
// disk has lost whatever they have grown since they were measured.
func (d *Dir) needed(used, left Usage) bool {
	if !d.known {
		return used.over(left)
	}
	return left.Bytes < (d.taken.Bytes+d.left.Bytes)/2 || left.Files >= 0 && left.Files < (d.taken.Files+d.left.Files)/2
}

// How soon a look has to follow: hardly any disk writes more bytes or files in a
// millisecond.
const (
	bytesPerMilli = 8 << 20
	filesPerMilli = 1000
	minLook       = 2 * time.Millisecond
	maxLook       = 250 * time.Millisecond
)

// Check returns a [FullError] when the files use more than the disk has left, in bytes or in
// files; below that, all others have as much as they use. open returns what removed files use
// that a process still has open, by device; may be nil. The next look should follow after
// next. A look is one system call, unless the disk has lost half of what it had.
func (d *Dir) Check(ctx context.Context, open func(device uint64) Usage) (next time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checked = time.Now()
	used, left, err := disk(d.Path)
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
	if !d.needed(used, left) {
		return next, nil
	}
	taken, err := d.measure(ctx, left, open)
	if err != nil {
		return next, err
	}
	d.known, d.taken, d.left = true, taken, left
	return next, nil
}

// used says that a command uses it now.
func (d *Dir) used() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checked = time.Now()
}

// busyFor is how long after a check a command may still use the directory.
const busyFor = time.Minute

func (d *Dir) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.checked) < busyFor
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
