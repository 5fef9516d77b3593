package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"podd/internal/wire"
	"podd/pkg/store/internal/rules"

	"go.etcd.io/bbolt"
)

// WriteFile makes a file at path with what another store has, replacing what is there. The
// file is on disk when it returns, but its name may not be.
func WriteFile(ctx context.Context, path string, from Stored) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(path, err)
	}
	// It is synced once, at the end.
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{NoSync: true, NoGrowSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return cannotWrite(path, err)
	}
	_, err = migrate(db, path, origin{}, migrations)
	if err == nil {
		w := &fileWriter{ctx: ctx, db: db}
		err = errors.Join(w.all(from), w.end())
	}
	if err == nil {
		err = db.Sync()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		_ = os.Remove(path)
		if outOfSpace(err) {
			return cannotWrite(path, err)
		}
	}
	return err
}

// fileWriter fills a file in transactions of about compactStep bytes.
type fileWriter struct {
	ctx  context.Context
	db   *bbolt.DB
	tx   *bbolt.Tx
	size int
}

func (w *fileWriter) all(from Stored) error {
	for _, name := range storedBuckets {
		for row, err := range from.Rows(string(name)) {
			if err == nil {
				err = w.ctx.Err()
			}
			if err == nil {
				err = w.begin(len(row.Key) + len(row.Value))
			}
			if err == nil {
				err = w.put(string(name), row)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// begin makes room for a row.
func (w *fileWriter) begin(size int) (err error) {
	if w.size += size; w.size > compactStep {
		if err := w.end(); err != nil {
			return err
		}
	}
	if w.tx == nil {
		w.tx, err = w.db.Begin(true)
	}
	return err
}

func (w *fileWriter) end() error {
	if w.tx == nil {
		return nil
	}
	tx := w.tx
	w.tx, w.size = nil, 0
	return tx.Commit()
}

// put stores a row, and the index rows that it implies.
func (w *fileWriter) put(name string, row Row) error {
	tx, key := w.tx, row.Key
	switch name {
	case string(bucketAlertEnd):
		return tx.Bucket(bucketAlerts).SetSequence(uint64(seqOf(row.Value)))
	case string(bucketLogs):
		pod, seq, err := SplitLog(key)
		if err != nil {
			return err
		}
		log, err := tx.Bucket(bucketLogs).CreateBucketIfNotExists([]byte(pod))
		if err != nil {
			return err
		}
		log.FillPercent = fullPages
		return log.Put(seq, row.Value)
	case string(bucketHeads), string(bucketTrashHead):
		if _, err := tx.Bucket(bucketLogs).CreateBucketIfNotExists(key); err != nil {
			return err
		}
	case string(bucketLineages):
		if body, ok := wire.Unseal(bucketLineages, key, row.Value); ok {
			if l, ok := rules.DecodeLineage(body); ok {
				// A purge gave up the parts before.
				from := neededFrom(tx, string(key))
				l = slices.DeleteFunc(l, func(s rules.Segment) bool { return s.UpTo < from })
				if err := share(tx, string(key), l); err != nil {
					return err
				}
			}
		}
	case string(bucketRequests):
		if err := admit(tx, row); err != nil {
			return err
		}
	case string(bucketAlerts):
		if err := chain(tx, row); err != nil {
			return err
		}
	}
	b := tx.Bucket([]byte(name))
	b.FillPercent = fullPages
	return b.Put(key, row.Value)
}

// admit adds a request to the order in which requests are forgotten.
func admit(tx *bbolt.Tx, row Row) error {
	body, ok := wire.Unseal(bucketRequests, row.Key, row.Value)
	if !ok {
		return nil
	}
	_, seq, _, ok := rules.DecodeRequest(body)
	pod, id, found := cutKey(row.Key)
	if !ok || !found {
		return nil
	}
	return tx.Bucket(bucketAdmitted).Put(podSeqKey(pod, seq), id)
}

// chain makes an alert the newest of those that equal it.
func chain(tx *bbolt.Tx, row Row) error {
	a, err := decodeAlert(seqOf(row.Key), row.Value)
	if err != nil {
		return nil //nolint:nilerr // A check finds the damaged alert.
	}
	if a.Acked {
		return tx.Bucket(bucketChains).Delete(rules.ChainName(a))
	}
	return tx.Bucket(bucketChains).Put(rules.ChainName(a), row.Key)
}
