package store

import (
	"bytes"
	"math"

	"podd/pkg/item"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// The bucket sharers says which pods share the records of a log, so that deleting and
// purging know what is still needed. It repeats the lineages by owner.

func sharerKey(owner, sharer string) []byte { return append(podKey(owner), sharer...) }

// need is the range of needed records in a log's bucket, from low to high.
type need struct{ low, high item.Seq }

func (n need) none() bool { return n.high == 0 }

// widen adds a range.
func (n need) widen(low, high item.Seq) need {
	if n.none() {
		return need{low, high}
	}
	return need{min(n.low, low), max(n.high, high)}
}

// neededOf is what the pod itself, if it exists, and its forks need from its bucket.
func neededOf(tx *bbolt.Tx, owner string) (n need) {
	if anyHead(tx, owner) != nil {
		n = need{neededFrom(tx, owner), math.MaxInt64}
	}
	c := tx.Bucket(bucketSharers).Cursor()
	prefix := podKey(owner)
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		upTo := item.Seq(math.MaxInt64)
		if body, ok := wire.Unseal(bucketSharers, k, v); ok && len(body) == 8 {
			upTo = seqOf(body)
		}
		if from := neededFrom(tx, string(k[len(prefix):])); from <= upTo {
			n = n.widen(from, upTo)
		}
	}
	return n
}

// neededFrom is the first record that a pod needs; 0 if its head is damaged, so that nothing
// is removed.
func neededFrom(tx *bbolt.Tx, pod string) item.Seq {
	h, ok := openHead(pod, anyHead(tx, pod))
	if !ok {
		return 0
	}
	if markOf(tx, pod) != nil {
		return h.first + 1
	}
	return h.first
}

// trim removes unneeded records in a log's bucket, at most limit of them, and the bucket if
// nothing in it is needed. more says that some are left.
func trim(tx *bbolt.Tx, owner string, limit int) (more bool, err error) {
	logs := tx.Bucket(bucketLogs)
	log := logs.Bucket([]byte(owner))
	if log == nil {
		return false, nil
	}
	n := neededOf(tx, owner)
	if n.none() {
		if err := giveUpImages(tx, owner, nil); err != nil {
			return false, err
		}
		return false, logs.DeleteBucket([]byte(owner))
	}
	var old [][]byte
	c := log.Cursor()
	for k, _ := c.First(); k != nil && seqOf(k) < n.low && len(old) <= limit; k, _ = c.Next() {
		old = append(old, bytes.Clone(k))
	}
	for k, _ := c.Last(); k != nil && seqOf(k) > n.high && len(old) <= limit; k, _ = c.Prev() {
		old = append(old, bytes.Clone(k))
	}
	if more = len(old) > limit; more {
		old = old[:limit]
	}
	for _, k := range old {
		if err := log.Delete(k); err != nil {
			return false, err
		}
	}
	if len(old) == 0 {
		return more, nil
	}
	return more, giveUpImages(tx, owner, old)
}

// endShares removes a pod from the sharers of all logs and returns the logs that it shared.
// It reads only the keys: the lineage may be damaged.
func endShares(tx *bbolt.Tx, pod string) (owners []string, err error) {
	sharers := tx.Bucket(bucketSharers)
	suffix := append(bytes.Clone(separator), pod...)
	var keys [][]byte
	c := sharers.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if bytes.HasSuffix(k, suffix) {
			keys = append(keys, bytes.Clone(k))
		}
	}
	for _, k := range keys {
		owners = append(owners, string(bytes.TrimSuffix(k, suffix)))
		if err := sharers.Delete(k); err != nil {
			return nil, err
		}
	}
	return owners, tx.Bucket(bucketLineages).Delete([]byte(pod))
}
