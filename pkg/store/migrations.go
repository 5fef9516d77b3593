package store

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// formatName identifies a database of podd.
const formatName = "podd"

// migration brings a database from the version before to its version. It runs in
// one transaction with the change of the version.
type migration struct {
	version uint32
	migrate func(tx *bbolt.Tx) error
}

// migrations are all steps, from version 1 on and without a gap. A released step never
// changes.
var migrations = []migration{
	{1, createBuckets},
	{2, createSecondBuckets},
	{3, createBases},
	{4, createImages},
	{5, createTrash},
}

// migrate runs the steps that the database has not had. An error leaves it at the last
// committed step; the next start continues from there. id is the database's id, a new one
// for a new database.
func migrate(db *bbolt.DB, path string, at origin, steps []migration) (id string, err error) {
	id = cmp.Or(at.id, rand.Text())
	for _, step := range steps {
		if step.version <= at.version {
			continue
		}
		err := guard(func() error {
			return db.Update(func(tx *bbolt.Tx) error {
				if err := step.migrate(tx); err != nil {
					return err
				}
				return writeOrigin(tx, origin{version: step.version, id: id})
			})
		})
		if isFault(err) {
			return "", unreadable(path, err)
		}
		if err != nil {
			return "", cannotOpen(path, fmt.Errorf("migrate to schema %d: %w", step.version, err))
		}
	}
	return id, nil
}

func writeOrigin(tx *bbolt.Tx, at origin) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	if err := meta.Put(keyFormat, []byte(formatName)); err != nil {
		return err
	}
	if err := meta.Put(keyID, []byte(at.id)); err != nil {
		return err
	}
	return meta.Put(keyVersion, binary.BigEndian.AppendUint32(nil, at.version))
}

func decodeVersion(b []byte) (version uint32, ok bool) {
	if len(b) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

func createBuckets(tx *bbolt.Tx) error {
	return createAll(tx, bucketNames, bucketPods, bucketHeads, bucketLogs, bucketInbox,
		bucketRequests, bucketAdmitted, bucketAlerts, bucketPodAlerts)
}

// createSecondBuckets creates the buckets for folded alerts, forks and purges. Data of an
// older version needs no change: its alerts have no chain, its pods no lineage and no purge.
func createSecondBuckets(tx *bbolt.Tx) error {
	return createAll(tx, bucketChains, bucketMoved, bucketLineages, bucketSharers, bucketPurges)
}

// createBases creates the bucket for bases. Data of an older version has none: its logs are
// read completely.
func createBases(tx *bbolt.Tx) error { return createAll(tx, bucketBases) }

// createImages creates the buckets for images. Data of an older version has none.
func createImages(tx *bbolt.Tx) error { return createAll(tx, bucketImages, bucketImageUses) }

// createTrash creates the buckets for deleted pods. Data of an older version has none.
func createTrash(tx *bbolt.Tx) error { return createAll(tx, bucketTrash, bucketTrashHead) }

func createAll(tx *bbolt.Tx, names ...[]byte) error {
	for _, name := range names {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
	}
	return nil
}
