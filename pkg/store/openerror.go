package store

import (
	"errors"
	"io/fs"
	"syscall"

	"podd/pkg/item"

	berrors "go.etcd.io/bbolt/errors"
)

func openError(path string, err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		e := item.Errorf(item.KindPrecondition, ReasonHeld,
			"another podd holds %s; stop it, or give this one another state directory", path)
		e.Cause = err
		return e
	case errors.As(err, new(syscall.Errno)):
		// The system's word, also that a disk could not be read or written just now, is no
		// word on what the file holds.
		return cannotOpen(path, err)
	}
	return unreadable(path, err)
}

func newer(path string, version, newest uint32) error {
	return item.Errorf(item.KindPrecondition, ReasonNewer,
		"%s was written by a newer podd (schema %d, this one knows %d); start that podd, or restore an older backup",
		path, version, newest)
}

func cannotOpen(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindPrecondition, ReasonCannotOpen, "podd cannot open %s: %v", path, cause)
	e.Cause = err
	return e
}

// cannotWrite is about a copy of the database, which is of no use then.
func cannotWrite(path string, err error) error {
	if outOfSpace(err) {
		e := item.Errorf(item.KindExhausted, ReasonNoSpace,
			"there is no space for a copy of the database at %s; nothing was changed: free some, then try again", path)
		e.Cause = err
		return e
	}
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindPrecondition, ReasonCannotOpen, "podd cannot write %s: %v; nothing was changed", path, cause)
	e.Cause = err
	return e
}

func unreadable(path string, err error) error {
	e := item.Errorf(item.KindDataLoss, ReasonUnreadable,
		"%s is damaged, or no database of podd; nothing was changed: restore a backup, or move it away to start empty", path)
	e.Cause = err
	return e
}
