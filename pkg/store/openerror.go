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
			"another podd is using %s: stop it, or give this one another state directory", path)
		e.Cause = err
		return e
	case errors.As(err, new(syscall.Errno)):
		// An error of the system, even of reading or writing the disk, says nothing about the
		// content of the file.
		return cannotOpen(path, err)
	}
	return unreadable(path, err)
}

func newer(path string, version, newest uint32) error {
	return item.Errorf(item.KindPrecondition, ReasonNewer,
		"%s was written by a newer podd (schema %d; this podd knows %d): start that podd, or restore an older backup",
		path, version, newest)
}

func older(path string, version, newest uint32) error {
	return item.Errorf(item.KindPrecondition, ReasonCannotOpen,
		"%s was written by an older podd (schema %d, not %d): start this podd with it once, then try again", path, version, newest)
}

func noDatabase(path string) error {
	return item.Errorf(item.KindNotFound, ReasonCannotOpen, "no database at %s: name podd's state directory with --state-dir", path)
}

func cannotOpen(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindPrecondition, ReasonCannotOpen, "cannot open %s: %v", path, cause)
	e.Cause = err
	return e
}

// cannotWrite is the error for a failed copy of the database.
func cannotWrite(path string, err error) error {
	if outOfSpace(err) {
		e := item.Errorf(item.KindExhausted, ReasonNoSpace,
			"no space for a copy of the database at %s, and nothing was changed: free some disk space and try again", path)
		e.Cause = err
		return e
	}
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindPrecondition, ReasonCannotOpen, "cannot write %s: %v; nothing was changed", path, cause)
	e.Cause = err
	return e
}

func unreadable(path string, err error) error {
	e := item.Errorf(item.KindDataLoss, ReasonUnreadable,
		"%s is damaged or not a database of podd: restore a backup, or move it away to start with an empty store", path)
	e.Cause = err
	return e
}
