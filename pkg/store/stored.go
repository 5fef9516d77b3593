package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"

	"podd/internal/wire"

	"go.etcd.io/bbolt"
)

// Row is a key with its value, as a file has it. A reader's row is valid until the next one.
type Row struct{ Key, Value []byte }

// Stored is all that a store keeps, in the form of a file, to be copied into a store of
// another kind. It stays as it is while it is read.
type Stored interface {
	// Rows are those of one of Buckets, in the order of their keys. A record's key in logs is
	// POD·SEQ. The only row of alertend is the sequence of the last alert. An error ends them.
	Rows(bucket string) iter.Seq2[Row, error]
}

// bucketAlertEnd stands for the sequence of the bucket of alerts.
var bucketAlertEnd = []byte("alertend")

// storedBuckets are the buckets whose rows are copied; derivedBuckets follow from them.
var (
	storedBuckets = [][]byte{
		bucketPods, bucketNames, bucketHeads, bucketTrashHead, bucketTrash, bucketPurges, bucketLineages, bucketLogs,
		bucketInbox, bucketRequests, bucketBases, bucketImages, bucketImageUses, bucketAlertEnd, bucketAlerts,
		bucketPodAlerts, bucketMoved,
	}
	derivedBuckets = [][]byte{bucketMeta, bucketAdmitted, bucketSharers, bucketChains}
)

// Buckets are the names that Stored.Rows takes; each comes after those that it refers to.
func Buckets() []string {
	names := make([]string, len(storedBuckets))
	for i, b := range storedBuckets {
		names[i] = string(b)
	}
	return names
}

// Sum counts the rows of one bucket and sums them up.
type Sum struct {
	Rows, Bytes int64
	Digest      [sha256.Size]byte
}

// SumUp reads all rows, but for bases that cannot be used: no copy has those.
func SumUp(ctx context.Context, from Stored) (map[string]Sum, error) {
	sums := make(map[string]Sum)
	for _, bucket := range Buckets() {
		var sum Sum
		h := sha256.New()
		for row, err := range from.Rows(bucket) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			if bucket == string(bucketBases) && !IsBase(row) {
				continue
			}
			sum.Rows++
			sum.Bytes += int64(len(row.Key) + len(row.Value))
			addTo(h, row.Key)
			addTo(h, row.Value)
		}
		h.Sum(sum.Digest[:0])
		sums[bucket] = sum
	}
	return sums, nil
}

func addTo(h hash.Hash, part []byte) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	_, _ = h.Write(part)
}

// IsBase says whether the row of a base can be used.
func IsBase(row Row) bool {
	body, ok := wire.Unseal(bucketBases, row.Key, row.Value)
	return ok && len(body) >= 8
}

// ReadFile passes what a file has that no podd uses; fn must not keep it. It changes nothing.
// Errors are those of OpenBolt.
func ReadFile(path string, fn func(from Stored) error) error {
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
	switch newest := migrations[len(migrations)-1].version; {
	case at.version > newest:
		return newer(path, at.version, newest)
	case at.version < newest:
		return older(path, at.version, newest)
	}
	err = guard(func() error { return db.View(func(tx *bbolt.Tx) error { return fn(storedFile{tx}) }) })
	if isFault(err) {
		return unreadable(path, err)
	}
	return err
}

// storedFile reads the rows of a file.
type storedFile struct{ tx *bbolt.Tx }

// Rows are those of a bucket.
func (f storedFile) Rows(bucket string) iter.Seq2[Row, error] {
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

func (f storedFile) rows(bucket []byte, yield func(Row) bool) {
	switch {
	case bytes.Equal(bucket, bucketAlertEnd):
		last := f.tx.Bucket(bucketAlerts).Sequence()
		yield(Row{Value: binary.BigEndian.AppendUint64(nil, last)})
	case bytes.Equal(bucket, bucketLogs):
		logs := f.tx.Bucket(bucketLogs)
		c := logs.Cursor()
		for pod, _ := c.First(); pod != nil; pod, _ = c.Next() {
			prefix := podKey(string(pod))
			each := func(r Row) bool { return yield(Row{append(prefix[:len(prefix):len(prefix)], r.Key...), r.Value}) }
			if !eachRow(logs.Bucket(pod), each) {
				return
			}
		}
	default:
		eachRow(f.tx.Bucket(bucket), yield)
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
