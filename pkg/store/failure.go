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
		// bbolt reports errors of growing the file as text only. A false match is harmless:
		// nothingWritten also reads the file.
		if errors.Is(err, errno) || strings.HasSuffix(err.Error(), errno.Error()) {
			return true
		}
	}
	return false
}

// nothingWritten says that a failed transaction is certainly not in the file: it ran out of
// space, and the file's last transaction is an earlier one. bbolt writes the page that makes
// a transaction valid last, so a transaction that ran out of space before that never became
// valid. Any other error may come from the sync after that page.
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

// fail marks the store as failed. Only the writer calls it, and at most once.
func (s *Bolt) fail(err error) {
	s.log.Error("store failed: the outcome of a commit is unknown", "path", s.path, "error", err)
	s.damaged = isFault(err)
	close(s.failed)
}

func errNoSpace(path string, err error) error {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		e := item.Errorf(item.KindExhausted, ReasonNoSpace,
			"%s has reached store.max_bytes, and nothing was written: raise the limit, or delete pods and run podd compact-store", path)
		e.Cause = err
		return e
	}
	e := item.Errorf(item.KindExhausted, ReasonNoSpace,
		"no space left for %s, and nothing was written: free some disk space and try again", path)
	e.Cause = err
	return e
}
