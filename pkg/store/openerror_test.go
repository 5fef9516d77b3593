package store_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	berrors "go.etcd.io/bbolt/errors"

	"podd/pkg/item"
	"podd/pkg/store"
)

// An error of the disk is not damage: after damage a supervisor does not retry.
func TestOpenErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	write(t, path, []byte("text"))
	for _, c := range []struct {
		err    error
		reason string
	}{
		{&fs.PathError{Op: "write", Path: "podd.db", Err: syscall.EIO}, store.ReasonCannotOpen},
		{&fs.PathError{Op: "open", Path: "podd.db", Err: syscall.EACCES}, store.ReasonCannotOpen},
		{&fs.PathError{Op: "write", Path: "podd.db", Err: syscall.ENOSPC}, store.ReasonCannotOpen},
		{syscall.ENOMEM, store.ReasonCannotOpen},
		{berrors.ErrInvalid, store.ReasonUnreadable},
		{berrors.ErrChecksum, store.ReasonUnreadable},
		{errors.New("anything else"), store.ReasonUnreadable},
		{berrors.ErrTimeout, store.ReasonHeld},
	} {
		if reason := item.ReasonOf(store.OpenError(path, c.err)); reason != c.reason {
			t.Errorf("%v: %s, want %s", c.err, reason, c.reason)
		}
	}
	// A file that cannot be read may be sound.
	if reason := item.ReasonOf(store.OpenError(filepath.Dir(path), berrors.ErrInvalid)); reason != store.ReasonCannotOpen {
		t.Errorf("a file that cannot be read: %s", reason)
	}
}
