package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// CopyTo writes a consistent copy of the database to a file, replacing an existing one. The
// file gets its name once it is complete and on disk. Writes continue meanwhile, except that
// the database cannot grow beyond its mapping.
func (s *Bolt) CopyTo(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("copy %s: %w", s.path, err)
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.swap.RLock()
	defer s.swap.RUnlock()
	return copyDB(s.db, s.path, path)
}

// copyDB copies the pages of a database as they are.
func copyDB(db *bbolt.DB, from, to string) error {
	temp := to + ".new"
	err := guard(func() error {
		return db.View(func(tx *bbolt.Tx) error { return writeCopy(tx, temp) })
	})
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err == nil {
		err = syncDir(filepath.Dir(to))
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(temp)
	if isFault(err) {
		return unreadable(from, err)
	}
	return cannotWrite(to, err)
}

func writeCopy(tx *bbolt.Tx, path string) error {
	// What has the name may be a link to another file, if others write in the directory.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = tx.WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
