package store

import (
	"bytes"
	"fmt"
	"iter"

	"podd/pkg/item"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Row is a key with its value, as a file has it. A reader's row is valid until the next one.
type Row struct{ Key, Value []byte }

// IsBase says whether the row of a base can be used.
func IsBase(row Row) bool {
	body, ok := wire.Unseal(bucketBases, row.Key, row.Value)
	return ok && len(body) >= 8
}

// ReadFile passes what a file has that no podd uses, to be copied into a store of another kind; fn must
// not keep it. It changes nothing. Errors are those of OpenBolt.
func ReadFile(path string, fn func(from FileRows) error) error {
	return withFile(path, func(db *bbolt.DB, at, newest uint32) error {
		if at < newest {
			return older(path, at, newest)
		}
		err := guard(func() error { return db.View(func(tx *bbolt.Tx) error { return fn(FileRows{tx}) }) })
		if isFault(err) {
			return unreadable(path, err)
		}
		return err
	})
}

// withFile passes a database that is not open, for reading, with its version and the newest one.
func withFile(path string, fn func(db *bbolt.DB, at, newest uint32) error) error {
	known, err := readID(path)
	if err != nil {
		return err
	}
	existed, err := checkFile(path, known)
	if err != nil {
		return err
	}
	if !existed {
		return noDatabase(path)
	}
	f := &boltFile{path: path, readOnly: true}
	db, err := f.open(0)
	if err != nil {
		return err
	}
	defer f.abandon(db)
	at, err := inspect(db, path)
	if err != nil {
		return err
	}
	newest := migrations[len(migrations)-1].version
	if at.version > newest {
		return newer(path, at.version, newest)
	}
	return fn(db, at.version, newest)
}

// FileRows are the rows of a file at one moment.
type FileRows struct{ tx *bbolt.Tx }

// AlertEnd is the sequence of the last alert.
func (f FileRows) AlertEnd() (last item.Seq, err error) {
	err = guard(func() error {
		last = item.Seq(f.tx.Bucket(bucketAlerts).Sequence())
		return nil
	})
	return last, err
}

// Rows are those of a bucket, in the order of their keys. A record's key in logs is POD·SEQ. An error
// ends them.
func (f FileRows) Rows(bucket string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		err := guard(func() error {
			f.rows([]byte(bucket), func(r Row) bool { return yield(r, nil) })
			return nil
		})
		if err != nil {
			yield(Row{}, err)
		}
	}
}

func (f FileRows) rows(bucket []byte, yield func(Row) bool) {
	if !bytes.Equal(bucket, bucketLogs) {
		eachRow(f.tx.Bucket(bucket), yield)
		return
	}
	logs := f.tx.Bucket(bucketLogs)
	c := logs.Cursor()
	for pod, _ := c.First(); pod != nil; pod, _ = c.Next() {
		prefix := podKey(string(pod))
		each := func(r Row) bool { return yield(Row{append(prefix[:len(prefix):len(prefix)], r.Key...), r.Value}) }
		if !eachRow(logs.Bucket(pod), each) {
			return
		}
	}
}

// eachRow says whether yield wanted all rows.
func eachRow(b *bbolt.Bucket, yield func(Row) bool) bool {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if !yield(Row{k, v}) {
			return false
		}
	}
	return true
}

// SplitLog divides a key POD·SEQ.
func SplitLog(key []byte) (pod string, seq []byte, err error) {
	at := len(key) - 8 - len(separator)
	if at < 0 || key[at] != separator[0] {
		return "", nil, fmt.Errorf("the key %x is not that of a record", key)
	}
	return string(key[:at]), key[at+len(separator):], nil
}
