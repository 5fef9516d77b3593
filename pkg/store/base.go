package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Base returns a pod's base. A base that cannot be read is treated as missing: the log has
// everything that it was made from.
func (s *Bolt) Base(ctx context.Context, pod string) (b Base, ok bool, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		b, ok = loadBase(tx, pod)
		return nil
	})
	if isFault(err) {
		return Base{}, false, nil
	}
	return b, ok, err
}

// loadBase copies a pod's base; ok is false if it is missing or damaged.
func loadBase(tx *bbolt.Tx, pod string) (b Base, ok bool) {
	key := []byte(pod)
	body, ok := wire.Unseal(bucketBases, key, tx.Bucket(bucketBases).Get(key))
	if !ok || len(body) < 8 {
		return Base{}, false
	}
	return Base{Seq: seqOf(body[:8]), Fold: bytes.Clone(body[8:])}, true
}

func storeBase(tx *bbolt.Tx, pod string, b Base) error {
	key := []byte(pod)
	body := append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(b.Fold)), uint64(b.Seq)), b.Fold...)
	return tx.Bucket(bucketBases).Put(key, wire.Seal(bucketBases, key, body))
}

func dropBase(tx *bbolt.Tx, pod string) error {
	return tx.Bucket(bucketBases).Delete([]byte(pod))
}

// copyBase gives a fork its parent's base, if that covers only entries that they share.
func copyBase(tx *bbolt.Tx, parent string, at item.Seq, fork string) error {
	if b, ok := loadBase(tx, parent); ok && b.Seq <= at {
		return storeBase(tx, fork, b)
	}
	return nil
}

// checkBase refuses a base of entries that the log does not have.
func (c *appendBatch) checkBase() error {
	last := c.head.last + item.Seq(len(c.batch.Entries))
	if b := c.batch.Base; b != nil && (b.Seq < c.head.first || b.Seq > last) {
		return rules.Batch("the base of pod %s ends at %d, its log has %d to %d", c.batch.Pod, b.Seq, c.head.first, last)
	}
	return nil
}

// writeBase stores the batch's base, and removes a base that a rewind of the batch makes
// invalid.
func (c *appendBatch) writeBase(tx *bbolt.Tx) error {
	if c.batch.Base != nil {
		if err := storeBase(tx, c.batch.Pod, *c.batch.Base); err != nil {
			return err
		}
	}
	for _, e := range c.batch.Entries {
		k, ok := e.Kind.(item.Rewind)
		if !ok {
			continue
		}
		if b, ok := loadBase(tx, c.batch.Pod); ok && b.Seq <= k.To {
			continue
		}
		if err := dropBase(tx, c.batch.Pod); err != nil {
			return err
		}
	}
	return nil
}
