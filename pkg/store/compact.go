package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// compactStep is about how much one transaction of a compaction copies.
const compactStep = 16 << 20

// compactPath is the path of a database's compact copy.
func compactPath(path string) string { return path + ".compact" }

// Compact returns unused space of the database to the disk: it makes a compact copy,
// compares it with the original, and replaces the original. Reads continue until the end,
// writes wait. If anything fails, even in a crash, the original stays. before and after are
// the sizes of the file.
//
// worth decides whether to do so by the bytes of pages without content and of all pages; nil
// always does. The file may be larger than its pages: bbolt lets it grow by more than it
// needs, which takes no space on the disk.
func (s *Bolt) Compact(ctx context.Context, worth func(unused, size int64) bool) (before, after int64, err error) {
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	if ctx.Err() != nil {
		return 0, 0, rules.Unwritten(ctx.Err())
	}
	done := make(chan struct{})
	run := func() {
		defer close(done)
		before, after, err = s.compact(worth)
	}
	select {
	case s.alone <- run:
	case <-ctx.Done():
		return 0, 0, rules.Unwritten(ctx.Err())
	case <-s.stopped:
		return 0, 0, rules.Stopping()
	}
	<-done
	return before, after, err
}

// pages says how many bytes of a database's pages have no content, and how many there are.
func pages(db *bbolt.DB) (unused, size int64, err error) {
	err = guard(func() error {
		tx, err := db.Begin(true)
		if err != nil {
			return err
		}
		size = tx.Size()
		// The end of a transaction that may write counts the free pages.
		if err := tx.Rollback(); err != nil {
			return err
		}
		stats := db.Stats()
		unused = int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
		return nil
	})
	return unused, size, err
}

// compact runs in the writer, so that nothing is written meanwhile.
func (s *Bolt) compact(worth func(unused, size int64) bool) (before, after int64, err error) {
	if err := s.usableForWriter(); err != nil {
		return 0, 0, err
	}
	if worth != nil {
		unused, size, err := pages(s.db)
		if err != nil {
			return 0, 0, unreadable(s.path, err)
		}
		if !worth(unused, size) {
			size, err := fileSize(s.path)
			return size, size, err
		}
	}
	temp := compactPath(s.path)
	if err := compactTo(s.db, temp); err != nil {
		_ = os.Remove(temp)
		if isFault(err) {
			return 0, 0, unreadable(s.path, err)
		}
		return 0, 0, cannotWrite(temp, err)
	}
	if before, err = fileSize(s.path); err == nil {
		after, err = fileSize(temp)
	}
	if err != nil {
		return 0, 0, err
	}
	if before <= after {
		return before, before, os.Remove(temp)
	}
	return before, after, s.replace(temp)
}

// compactTo makes a compact copy and checks that it has what the original has.
func compactTo(db *bbolt.DB, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return guard(func() error {
		// It is synced once, at the end.
		dst, err := bbolt.Open(path, fileMode, &bbolt.Options{NoSync: true, NoGrowSync: true, FreelistType: bbolt.FreelistMapType})
		if err != nil {
			return err
		}
		err = bbolt.Compact(dst, db, compactStep)
		if err == nil {
			err = sameContent(db, dst)
		}
		if err == nil {
			err = dst.Sync()
		}
		return errors.Join(err, dst.Close())
	})
}

// replace replaces the database with a copy and opens it.
func (s *Bolt) replace(temp string) error {
	s.swap.Lock()
	defer s.swap.Unlock()
	if err := s.db.Close(); err != nil {
		s.fail(err)
		return s.errFailed()
	}
	renamed := os.Rename(temp, s.path)
	if renamed == nil {
		// If the old file came back after a crash, everything written from now on would be
		// lost.
		if err := syncDir(filepath.Dir(s.path)); err != nil {
			s.fail(err)
			return s.errFailed()
		}
	}
	f := &boltFile{path: s.path, maxBytes: s.maxBytes}
	db, err := f.open(0)
	if err != nil {
		s.fail(err)
		return s.errFailed()
	}
	s.db = db
	if renamed != nil {
		_ = os.Remove(temp)
		return cannotWrite(s.path, renamed)
	}
	return nil
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, cannotOpen(path, err)
	}
	return info.Size(), nil
}

// sameContent compares all buckets, keys and values of two databases.
func sameContent(a, b *bbolt.DB) error {
	return a.View(func(ta *bbolt.Tx) error {
		return b.View(func(tb *bbolt.Tx) error {
			return sameCursor(ta.Cursor(), tb.Cursor(), ta.Bucket, tb.Bucket)
		})
	})
}

func sameCursor(a, b *bbolt.Cursor, inA, inB func(name []byte) *bbolt.Bucket) error {
	key, value := a.First()
	other, otherValue := b.First()
	for ; key != nil; key, value = a.Next() {
		if !bytes.Equal(key, other) || !bytes.Equal(value, otherValue) {
			return fmt.Errorf("the copy differs at key %x", key)
		}
		if value == nil {
			if err := sameBucket(inA(key), inB(key)); err != nil {
				return err
			}
		}
		other, otherValue = b.Next()
	}
	if other != nil {
		return fmt.Errorf("the copy has a key %x of its own", other)
	}
	return nil
}

func sameBucket(a, b *bbolt.Bucket) error {
	if a == nil || b == nil {
		return errors.New("the copy has a key where the original has a bucket")
	}
	if a.Sequence() != b.Sequence() {
		return fmt.Errorf("the copy counts to %d, not to %d", b.Sequence(), a.Sequence())
	}
	return sameCursor(a.Cursor(), b.Cursor(), a.Bucket, b.Bucket)
}
