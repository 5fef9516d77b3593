package store

import (
	"errors"
	"strings"
	"syscall"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// fullErrnos say that the disk, a quota or a file size limit is reached.
var fullErrnos = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

func outOfSpace(err error) bool {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return true
	}
	for _, errno := range fullErrnos {
		// bbolt gives the errors of growing the file as text only. A false match
		// does no harm: nothingWritten looks at the file as well.
		if errors.Is(err, errno) || strings.HasSuffix(err.Error(), errno.Error()) {
			return true
		}
	}
	return false
}

// nothingWritten says that a failed transaction is known not to be in the file: it
// ran out of space, and the last transaction that the file shows is an earlier
// one. bbolt writes the page that makes a transaction true last, so that what ran
// out of space before it was never true. Any other error may come from the sync
// after that page.
func (s *Bolt) nothingWritten(t attempt) bool {
	if !outOfSpace(t.err) {
		return false
	}
	shown := t.txid
	s.swap.RLock()
	defer s.swap.RUnlock()
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			shown = tx.ID()
			return nil
		})
	})
	return err == nil && shown < t.txid
}

// fail gives the store up. Only the writer calls it, and at most once.
func (s *Bolt) fail(err error) {
	s.log.Error("store failed: the outcome of a commit is unknown", "path", s.path, "error", err)
	s.damaged = isFault(err)
	close(s.failed)
}

func (s *Bolt) errNoSpace(err error) error {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		e := item.Errorf(item.KindExhausted, ReasonNoSpace,
			"%s may not grow any more; nothing was written: raise store.max_bytes, or delete pods and run podd compact-store", s.path)
		e.Cause = err
		return e
	}
	e := item.Errorf(item.KindExhausted, ReasonNoSpace,
		"there is no space left for %s; nothing was written: free some, then try again", s.path)
	e.Cause = err
	return e
}
