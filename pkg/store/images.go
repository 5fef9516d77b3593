package store

import (
	"bytes"
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// Images are stored once for all pods, under their digests. Which records refer to an image
// is in imageuses, by the log that has the record: what is removed from a log gives up its
// images in the same transaction, and an image without a use is removed.

const digestLen = rules.DigestLen

// Image returns the bytes of an image.
func (s *Bolt) Image(ctx context.Context, digest string) (data []byte, err error) {
	key, ok := rules.DigestKey(digest)
	if !ok {
		return nil, rules.NoImage(digest)
	}
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		stored := tx.Bucket(bucketImages).Get(key)
		if stored == nil {
			return rules.NoImage(digest)
		}
		data = bytes.Clone(stored)
		return nil
	})
	if err != nil {
		return nil, s.fileFault(err)
	}
	if !rules.IsImage(key, data) {
		return nil, rules.Image(digest)
	}
	return data, nil
}

// imageUse is the key that says that a record refers to an image.
func imageUse(owner string, seq item.Seq, digest []byte) []byte {
	return append(podSeqKey(owner, seq), digest...)
}

// checkImages refuses images that the store does not get, and those of a pod that has enough.
func (c *appendBatch) checkImages(tx *bbolt.Tx) error {
	if len(c.images) == 0 {
		return nil
	}
	stored := tx.Bucket(bucketImages)
	added := int64(0)
	seen := imagesOf(tx, c.batch.Pod)
	for _, p := range c.images {
		size := len(p.Data)
		if p.Data == nil {
			data := stored.Get(p.Key)
			if data == nil {
				return rules.Batch("the image %x is missing", p.Key)
			}
			size = len(data)
		}
		if !seen[string(p.Key)] {
			seen[string(p.Key)] = true
			added += int64(size)
		}
	}
	if limit := c.batch.ImageLimit; limit > 0 && added > 0 && c.imageBytes(tx)+added > limit {
		return rules.Images(c.batch.Pod, limit)
	}
	return nil
}

// imageBytes is the size of the images that the pod's own records refer to.
func (c *appendBatch) imageBytes(tx *bbolt.Tx) (n int64) {
	stored := tx.Bucket(bucketImages)
	for key := range imagesOf(tx, c.batch.Pod) {
		n += int64(len(stored.Get([]byte(key))))
	}
	return n
}

// imagesOf are the images that the records in a log's bucket refer to.
func imagesOf(tx *bbolt.Tx, owner string) map[string]bool {
	used := make(map[string]bool)
	for _, k := range keysWith(tx.Bucket(bucketImageUses), podKey(owner)) {
		used[string(k[len(k)-digestLen:])] = true
	}
	return used
}

// writeImages stores the images of the entries whose first has a sequence.
func (c *appendBatch) writeImages(tx *bbolt.Tx, first item.Seq) error {
	stored, uses := tx.Bucket(bucketImages), tx.Bucket(bucketImageUses)
	for _, p := range c.images {
		if p.Data != nil && stored.Get(p.Key) == nil {
			if err := stored.Put(p.Key, p.Data); err != nil {
				return err
			}
		}
		if err := uses.Put(imageUse(c.batch.Pod, first+item.Seq(p.Entry), p.Key), []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// giveUpImages removes the uses of images by records of a log, those under these keys or, if
// keys is nil, all, and then each image that has no use.
func giveUpImages(tx *bbolt.Tx, owner string, keys [][]byte) error {
	uses := tx.Bucket(bucketImageUses)
	var gone [][]byte
	if keys == nil {
		gone = keysWith(uses, podKey(owner))
	}
	for _, k := range keys {
		gone = append(gone, keysWith(uses, podSeqKey(owner, seqOf(k)))...)
	}
	if len(gone) == 0 {
		return nil
	}
	unused := make(map[string]bool)
	for _, k := range gone {
		if err := uses.Delete(k); err != nil {
			return err
		}
		unused[string(k[len(k)-digestLen:])] = true
	}
	c := uses.Cursor()
	for k, _ := c.First(); k != nil && len(unused) > 0; k, _ = c.Next() {
		delete(unused, string(k[max(0, len(k)-digestLen):]))
	}
	for key := range unused {
		if err := tx.Bucket(bucketImages).Delete([]byte(key)); err != nil {
			return err
		}
	}
	return nil
}
