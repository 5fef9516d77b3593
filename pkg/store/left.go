package store

import (
	"errors"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// LeaveFile marks a file as one that no podd must open any more, because its pods are now in
// to.
func LeaveFile(path, to string) error {
	f := &boltFile{path: path}
	db, err := f.open(0)
	if err != nil {
		return err
	}
	err = guard(func() error {
		return db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyLeft, []byte(to)) })
	})
	if err = errors.Join(err, db.Close()); isFault(err) {
		f.release()
		return unreadable(path, err)
	} else if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// LeftFor is where the pods of a file are now; empty if podd may open it.
func LeftFor(path string) (to string, err error) {
	f := &boltFile{path: path, readOnly: true}
	db, err := f.open(0)
	if err != nil {
		return "", err
	}
	defer f.abandon(db)
	at, err := inspect(db, path)
	return at.left, err
}

// Left says that a store is no longer used.
func Left(where, to string) error {
	return item.Errorf(item.KindPrecondition, ReasonLeft, "the pods of %s were migrated to %s: set store.url accordingly", where, to)
}
