package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// The id is also in a side file, because a database that lost its content looks like a new
// one.

// maxIDLen bounds the read of a side file, in bytes.
const maxIDLen = 128

// idPath is the side file of a database: podd.id for podd.db.
func idPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".id"
}

// readID is the id in the side file; empty if the file does not exist.
func readID(path string) (string, error) {
	b, err := os.ReadFile(idPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", cannotOpen(idPath(path), err)
	}
	return strings.TrimSpace(string(b[:min(len(b), maxIDLen)])), nil
}

// writeID replaces the side file. It syncs the directory, and so makes the
// database's own name durable as well: bbolt does not.
func writeID(path, id string) error {
	temp := idPath(path) + ".new"
	err := writeSynced(temp, id+"\n")
	if err == nil {
		err = os.Rename(temp, idPath(path))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return cannotOpen(idPath(path), err)
	}
	return nil
}

func writeSynced(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// origin describes a database; zero for one that was just created.
type origin struct {
	version uint32
	id      string
	// left is where its pods went; empty for a database that is in use.
	left string
}

// inspect reads the origin of a database and refuses a truncated or foreign one.
func inspect(db *bbolt.DB, path string) (at origin, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return origin{}, cannotOpen(path, err)
	}
	err = guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			if info.Size() < tx.Size() {
				return fmt.Errorf("the file has %d bytes of %d", info.Size(), tx.Size())
			}
			at, err = readOrigin(tx)
			return err
		})
	})
	if err != nil {
		return origin{}, unreadable(path, err)
	}
	return at, nil
}

var errForeign = errors.New("it is the database of another program")

// IsForeign says that a file could not be opened because it is the intact database of
// another program.
func IsForeign(err error) bool { return errors.Is(err, errForeign) }

// HasIdentity says whether a side file shows that podd had a database at a path.
func HasIdentity(path string) bool {
	id, err := readID(path)
	return err == nil && id != ""
}

func readOrigin(tx *bbolt.Tx) (origin, error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if first, _ := tx.Cursor().First(); first != nil {
			return origin{}, fmt.Errorf("%w: it has a bucket %q, but no %q", errForeign, first, bucketMeta)
		}
		return origin{}, nil
	}
	version, okVersion := decodeVersion(meta.Get(keyVersion))
	id := string(meta.Get(keyID))
	if string(meta.Get(keyFormat)) != formatName || !okVersion || id == "" {
		return origin{}, fmt.Errorf("%w: its meta bucket is not podd's", errForeign)
	}
	return origin{version: version, id: id, left: string(meta.Get(keyLeft))}, nil
}

func emptied(path, known string) error {
	return item.Errorf(item.KindDataLoss, ReasonUnreadable,
		"%s is empty, but %s says that it was database %s: restore a backup, or remove both files to start with an empty store",
		path, idPath(path), known)
}
