package store

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
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

// Readable reads a file to its end, and says why the system does not let it. What is not known
// is not damage: bbolt hides errors of reading, and a page that the disk does not deliver looks
// like one that is missing.
func Readable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return cannotOpen(path, err)
	}
	defer file.Close()
	if _, err := io.Copy(io.Discard, io.NewSectionReader(file, 0, math.MaxInt64)); err != nil {
		return cannotOpen(path, err)
	}
	return nil
}

// unreadable is for a file whose content is wrong, if the content is what err is about.
func unreadable(path string, err error) error {
	if errors.As(err, new(syscall.Errno)) {
		return cannotOpen(path, err)
	}
	if cannot := Readable(path); cannot != nil {
		return cannot
	}
	e := item.Errorf(item.KindDataLoss, ReasonUnreadable,
		"%s is damaged or not a database of podd: restore a backup, or move it away to start with an empty store", path)
	e.Cause = err
	return e
}
