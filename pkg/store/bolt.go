package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// BoltConfig says how to open a Bolt.
type BoltConfig struct {
	// Path is the database file. A missing file is created, a missing directory is not.
	Path string
	// Logger gets errors that no call returns; nil drops them.
	Logger *slog.Logger
	// MaxBytes limits the size of the file, 0 or at least LeastMaxBytes; 0 means no limit. A
	// change that would need more fails as on a full disk.
	MaxBytes int64
	// BeforeMigrate, if set, is called before a database of an older version is migrated; if
	// it fails, the database is not changed. copyTo writes a copy.
	BeforeMigrate func(from, to uint32, copyTo func(path string) error) error
	// Timeout is how long to wait until another process releases the file; 0 means half a
	// second.
	Timeout time.Duration
}

// LeastMaxBytes is the smallest limit of a file: it grows by 16 MiB at a time.
const LeastMaxBytes = 64 << 20

// Bolt is a Store in one bbolt file. Close ends the goroutine that writes.
type Bolt struct {
	// swap guards db, which a compaction replaces.
	swap sync.RWMutex
	db   *bbolt.DB

	path     string
	maxBytes int64
	log      *slog.Logger

	queue chan *pending
	// alone are functions that the writer runs between two transactions.
	alone chan func()
	// quit is closed by Close, stopped by the writer after it has answered everything that
	// it took.
	quit, stopped chan struct{}
	// failed is closed by the writer; damaged, set before, says that pages are why.
	failed    chan struct{}
	damaged   bool
	closeOnce sync.Once
	closeErr  error

	commits, commitNanos atomic.Int64
}

// Counters count what a store did since it was opened.
type Counters struct {
	// Commits counts write transactions, Time is their duration including syncs.
	Commits int64
	Time    time.Duration
	// Bytes is the size of the file.
	Bytes int64
}

// Counters may be called at any time, also after Close.
func (s *Bolt) Counters() Counters {
	c := Counters{Commits: s.commits.Load(), Time: time.Duration(s.commitNanos.Load())}
	if info, err := os.Stat(s.path); err == nil {
		c.Bytes = info.Size()
	}
	return c
}

var _ Store = (*Bolt)(nil)

// Failed is closed once the outcome of a commit is unknown.
func (s *Bolt) Failed() <-chan struct{} { return s.failed }

// Damaged says, once the store has failed, that its last commit found contradictory pages:
// opening the file again does not repair them.
func (s *Bolt) Damaged() bool {
	select {
	case <-s.failed:
		return s.damaged
	default:
		return false
	}
}

// Close refuses further calls, waits for accepted writes and open reads, and closes the
// file. A second Close waits for the first and returns the same.
func (s *Bolt) Close() error {
	s.closeOnce.Do(func() {
		close(s.quit)
		<-s.stopped
		s.swap.Lock()
		defer s.swap.Unlock()
		if err := s.db.Close(); err != nil {
			s.closeErr = fmt.Errorf("close %s: %w", s.path, err)
		}
	})
	return s.closeErr
}

// usable is nil while the store is neither failed nor closed.
func (s *Bolt) usable() error {
	select {
	case <-s.failed:
		return s.errFailed()
	case <-s.quit:
		return rules.Stopping()
	default:
		return nil
	}
}

// view runs fn in a read transaction. fn copies what it needs and does no I/O.
func (s *Bolt) view(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.swap.RLock()
	err := guard(func() error { return s.db.View(fn) })
	s.swap.RUnlock()
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return rules.Stopping()
	}
	return err
}

// fileFault is err or, if a read of data that all pods share faulted, an error about the
// file.
func (s *Bolt) fileFault(err error) error {
	if !isFault(err) {
		return err
	}
	e := item.Errorf(item.KindDataLoss, ReasonDamaged,
		"the database %s is damaged: stop podd and restore a backup", s.path)
	e.Cause = err
	return e
}

func (s *Bolt) errFailed() error {
	return item.Errorf(item.KindUnavailable, ReasonFailed,
		"podd does not know whether its last write reached %s: it stops, and checks the file at its next start", s.path)
}
