package scratch

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Caches are directories in which commands keep what they can make again: one for each
// workspace, which is a directory, not only its path. Their methods may be called from any
// goroutine.
//
// Each has a directory of its own, whose name says nothing: "files" is what commands see, and
// "workspace" has the path of the workspace and the time of the last use.
type Caches struct {
	// Dir has them. Its parent must exist.
	Dir string
	// MaxBytes bounds them together; 0 means a tenth of the disk.
	MaxBytes int64

	mu sync.Mutex
	// known are those that were used, by name.
	known map[string]*Cache
}

// Cache is the cache of one workspace.
type Cache struct {
	*Dir
	Name string
}

const (
	filesName     = "files"
	workspaceName = "workspace"
	// nameLen is the length of the name of a cache.
	nameLen = 32
	// removedPrefix begins the name of one that is being removed.
	removedPrefix = "removed-"
	// maxUnused is how long an unused one is kept.
	maxUnused = 30 * 24 * time.Hour
	// usedEvery is how exact the time of the last use is.
	usedEvery = time.Hour
	// share of the disk is what they may have together.
	share = 10
)

// Use returns the cache of a workspace, which it makes if necessary, and its open directory.
// workspace is open too, and path its path without links.
func (c *Caches) Use(path string, workspace *os.File) (*Cache, *os.File, error) {
	name, err := identity(int(workspace.Fd()), "", path)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	file, err := c.open(name, path)
	if err != nil {
		return nil, nil, err
	}
	cache := c.of(name)
	cache.used()
	return cache, file, nil
}

// Resume returns the cache with this name, which a command uses that an earlier podd started; nil
// without one.
func (c *Caches) Resume(name string) *Cache {
	if !isCache(name) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cache := c.of(name)
	cache.used()
	return cache
}

// of is the cache with a name. The caller holds mu.
func (c *Caches) of(name string) *Cache {
	cache := c.known[name]
	if cache == nil {
		cache = &Cache{New(filepath.Join(c.Dir, name, filesName), "the cached files of its workspace"), name}
		if c.known == nil {
			c.known = make(map[string]*Cache)
		}
		c.known[name] = cache
	}
	return cache
}

// open opens the files of a cache step by step, without links.
func (c *Caches) open(name, workspace string) (*os.File, error) {
	all, err := enter(unix.AT_FDCWD, "", c.Dir)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	own, err := enter(int(all.Fd()), c.Dir, name)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	if err := note(own, workspace); err != nil {
		return nil, err
	}
	return enter(int(own.Fd()), own.Name(), filesName)
}

// enter opens a directory of another, which it makes if necessary. It follows no link.
func enter(at int, dir, name string) (*os.File, error) {
	path := filepath.Join(dir, name)
	if err := unix.Mkdirat(at, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// note notes that a cache is used.
func note(cache *os.File, workspace string) error {
	fd, err := unix.Openat(int(cache.Fd()), workspaceName, unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Join(cache.Name(), workspaceName), Err: err}
	}
	file := os.NewFile(uintptr(fd), workspaceName)
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == int64(len(workspace)) && time.Since(info.ModTime()) < usedEvery {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteString(workspace)
	return err
}

// isCache says whether a name is that of a cache.
func isCache(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == nameLen/2
}

// cached is a cache on the disk.
type cached struct {
	name string
	used time.Time
	// bytes is what it takes.
	bytes int64
	// useless says that it was not used for long, its workspace is gone, or it is too large to measure.
	useless bool
}

// Clean removes the caches that nobody has used for long, those whose workspaces are gone and, if
// all take too much, those whose last use is the longest ago. One that a command uses stays.
func (c *Caches) Clean(ctx context.Context) error {
	root, err := openRoot(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	all, err := c.list(ctx, root)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	errs := []error{err}
	most, err := c.most()
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	var total int64
	for _, one := range all {
		total += one.bytes
	}
	for _, one := range all {
		if one.useless || total > most {
			gone, err := c.remove(root, one.name)
			if errs = append(errs, err); gone {
				total -= one.bytes
			}
		}
	}
	return errors.Join(errs...)
}

// most is how many bytes they may take together.
func (c *Caches) most() (int64, error) {
	if c.MaxBytes > 0 {
		return c.MaxBytes, nil
	}
	used, left, err := disk(c.Dir)
	return (used.Bytes + left.Bytes) / share, err
}

// list measures all caches; the last used comes last. It removes what an earlier removal left.
func (c *Caches) list(ctx context.Context, root *os.Root) (all []cached, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		switch {
		case ctx.Err() != nil:
			return all, err
		case strings.HasPrefix(e.Name(), removedPrefix):
			err = errors.Join(err, Remove(root, e.Name()))
		case isCache(e.Name()) && e.IsDir():
			all = append(all, c.look(ctx, root, e.Name()))
		}
	}
	slices.SortFunc(all, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name)) })
	return all, err
}

// look finds out what a cache takes and who may use it.
func (c *Caches) look(ctx context.Context, root *os.Root, name string) cached {
	one := cached{name: name}
	if info, err := root.Lstat(filepath.Join(name, workspaceName)); err == nil {
		one.used = info.ModTime()
	}
	if unused := time.Since(one.used); unused > maxUnused || unused > usedEvery && c.orphaned(root, name) {
		one.useless = true
		return one
	}
	taken, err := New(filepath.Join(c.Dir, name), "").measure(ctx, Usage{math.MaxInt64, -1}, nil)
	one.bytes, one.useless = taken.Bytes, errors.As(err, new(*FullError))
	return one
}

// orphaned says whether the workspace of a cache does not exist any more.
func (c *Caches) orphaned(root *os.Root, name string) bool {
	path, err := root.ReadFile(filepath.Join(name, workspaceName))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	now, err := identity(unix.AT_FDCWD, string(path), string(path))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
	}
	return now != name
}

// remove removes a cache unless a command uses it.
func (c *Caches) remove(root *os.Root, name string) (gone bool, err error) {
	if gone, err = c.take(root, name); !gone || err != nil {
		return false, err
	}
	return true, Remove(root, removedPrefix+name)
}

// take gives a cache another name, so that no command begins to use it.
func (c *Caches) take(root *os.Root, name string) (gone bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cache := c.known[name]; cache != nil && cache.busy() {
		return false, nil
	}
	delete(c.known, name)
	return true, root.Rename(name, removedPrefix+name)
}
