package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"podd/pkg/tool/scratch"
)

// Defaults of Config.
const (
	DefaultMaxBytes = 1 << 30
	DefaultMaxAge   = 7 * 24 * time.Hour
)

// Config sets up a Spool. Dir is required; other zero fields mean their documented
// default.
type Config struct {
	// Dir contains the folders of the pods; Open creates it.
	Dir string
	// MaxBytes bounds all kept files together; default DefaultMaxBytes.
	MaxBytes int64
	// MaxAge is how long a file is kept; default DefaultMaxAge.
	MaxAge time.Duration
	// Scrub removes secrets from a written file without changing its size; nil leaves files
	// unchanged. If it fails for a file, that file is emptied.
	Scrub func(path string) error
	// Logger gets errors about files that could not be removed; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Spool is the files of all pods.
type Spool struct {
	Config

	mu sync.Mutex
	// kept is in the order of removal: the oldest first.
	kept  []kept
	bytes int64
}

// kept is a finished file.
type kept struct {
	path string
	size int64
	time time.Time
}

// Open reads the directory and removes files beyond the limits. A file that an earlier
// podd left unfinished is a kept file.
func Open(c Config) (*Spool, error) {
	if c.Dir == "" {
		return nil, errors.New("spool: Dir is required")
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxAge <= 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("the spool directory has no absolute path: %w", err)
	}
	c.Dir = dir
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the spool directory could not be made: %w", err)
	}
	s := &Spool{Config: c}
	if err := s.scan(); err != nil {
		return nil, fmt.Errorf("the spool directory could not be read: %w", err)
	}
	s.Clean()
	s.CleanTemps()
	return s, nil
}

// scan finds the existing files. It skips those of a job whose result may still be
// wanted, until they are too old for that.
func (s *Spool) scan() error {
	jobs := make(map[string]bool)
	err := filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && (e.Name() == tempName || e.Name() == movedName) && filepath.Dir(filepath.Dir(path)) == s.Dir {
			return fs.SkipDir
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		// A time in the future, from a clock that was ahead, must not protect the later files
		// from removal.
		at := info.ModTime()
		if now := s.Now(); at.After(now) {
			at = now
		}
		if output, ok := outputOf(e.Name()); ok && s.Now().Sub(at) < s.MaxAge {
			// A record's name comes before that of its output.
			jobs[filepath.Join(filepath.Dir(path), output)] = true
			return nil
		}
		if jobs[path] {
			return nil
		}
		s.kept = append(s.kept, kept{path: path, size: info.Size(), time: at})
		s.bytes += info.Size()
		return nil
	})
	slices.SortStableFunc(s.kept, func(a, b kept) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path)) })
	return err
}

// CleanTemps removes the temporary files of all pods that are too old.
func (s *Spool) CleanTemps() {
	for _, name := range []string{tempName, movedName} {
		dirs, _ := filepath.Glob(filepath.Join(s.Dir, "*", name))
		for _, dir := range dirs {
			s.cleanTemp(dir)
		}
	}
}

// cleanTemp removes what has not changed for a long time, nor anything in it.
func (s *Spool) cleanTemp(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		s.Logger.Warn("temporary files of a pod could not be listed", "error", err)
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		s.Logger.Warn("temporary files of a pod could not be listed", "error", err)
	}
	for _, e := range entries {
		if s.inUse(root, e.Name()) {
			continue
		}
		if err := scratch.Remove(root, e.Name()); err != nil {
			s.Logger.Warn("temporary file of a pod could not be removed", "error", err)
		}
	}
}

// inUse says whether a file, or any file below a directory, has changed not long ago.
func (s *Spool) inUse(root *os.Root, name string) bool {
	used := false
	// What a command closed to itself it does not use either.
	_ = fs.WalkDir(root.FS(), name, func(_ string, e fs.DirEntry, _ error) error {
		if e == nil {
			return nil
		}
		if info, err := e.Info(); err == nil && s.Now().Sub(info.ModTime()) < s.MaxAge {
			used = true
			return fs.SkipAll
		}
		return nil
	})
	return used
}

// Folder returns the folder of a pod after a Clean, and creates it if necessary.
func (s *Spool) Folder(pod string) (*Folder, error) {
	s.Clean()
	dir := filepath.Join(s.Dir, pod)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the pod's spool folder could not be made: %w", err)
	}
	return &Folder{spool: s, dir: dir, temp: scratch.New(filepath.Join(dir, tempName), "its temporary files")}, nil
}

// Remove removes the folder of a pod with all its files.
func (s *Spool) Remove(pod string) error {
	dir := filepath.Join(s.Dir, pod)
	s.mu.Lock()
	s.kept = slices.DeleteFunc(s.kept, func(k kept) bool {
		gone := filepath.Dir(k.path) == dir
		if gone {
			s.bytes -= k.size
		}
		return gone
	})
	s.mu.Unlock()
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// Commands may have closed directories in it to themselves.
	return scratch.Remove(root, pod)
}

// Clean removes files that are too old or exceed the quota.
func (s *Spool) Clean() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clean()
}

// Bytes is the size of all kept files together.
func (s *Spool) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// add counts a finished file and makes room for it.
func (s *Spool) add(path string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, kept{path: path, size: size, time: s.Now()})
	s.bytes += size
	s.clean()
}

// clean is Clean with the lock held. It never removes the newest file for the quota: a
// result is about to name its path. A file that cannot be removed no longer counts, so
// that it does not cost the others their place; the next Open finds it.
func (s *Spool) clean() {
	oldest := s.Now().Add(-s.MaxAge)
	gone := 0
	for ; gone < len(s.kept); gone++ {
		k := s.kept[gone]
		over := s.bytes > s.MaxBytes && gone < len(s.kept)-1
		if !over && !k.time.Before(oldest) {
			break
		}
		if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Logger.Warn("spool file could not be removed", "error", err)
		}
		s.bytes -= k.size
	}
	s.kept = slices.Delete(s.kept, 0, gone)
}
