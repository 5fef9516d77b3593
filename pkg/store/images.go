package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// Images are stored once for all pods, under their digests. Which records refer to an image
// is in imageuses, by the log that has the record: what is removed from a log gives up its
// images in the same transaction, and an image without a use is removed.

const digestLen = sha256.Size

// Image returns the bytes of an image.
func (s *Bolt) Image(ctx context.Context, digest string) (data []byte, err error) {
	key, ok := digestKey(digest)
	if !ok {
		return nil, noImage(digest)
	}
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		stored := tx.Bucket(bucketImages).Get(key)
		if stored == nil {
			return noImage(digest)
		}
		data = bytes.Clone(stored)
		return nil
	})
	if err != nil {
		return nil, s.fileFault(err)
	}
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], key) {
		return nil, damagedImage(digest)
	}
	return data, nil
}

func noImage(digest string) error {
	return item.Errorf(item.KindNotFound, ReasonImageNotFound, "no entry refers to an image with the digest %q", digest)
}

func damagedImage(digest string) error {
	return item.Errorf(item.KindDataLoss, ReasonDamaged, "the stored image %s is damaged: compact the pod to go on without it, or restore a backup", digest)
}

// digestKey is the key of an image.
func digestKey(digest string) (key []byte, ok bool) {
	key, err := hex.DecodeString(digest)
	return key, err == nil && len(key) == digestLen && hex.EncodeToString(key) == digest
}

// imageUse is the key that says that a record refers to an image.
func imageUse(owner string, seq item.Seq, digest []byte) []byte {
	return append(podSeqKey(owner, seq), digest...)
}

// picture is an image that an entry of a batch refers to.
type picture struct {
	// entry is the index of the entry.
	entry int
	key   []byte
	// data is nil for an image that the store has.
	data []byte
}

// pictures finds the images of a batch's entries.
func (c *appendBatch) pictures() error {
	for i, e := range c.batch.Entries {
		for _, image := range item.ImagesIn(e.Kind) {
			key, ok := digestKey(image.Digest)
			if !ok {
				return badBatch("an image has the digest %q", image.Digest)
			}
			data := c.batch.Images[image.Digest]
			if data != nil && sha256.Sum256(data) != [digestLen]byte(key) {
				return badBatch("the image %s has other bytes than its digest says", image.Digest)
			}
			c.images = append(c.images, picture{entry: i, key: key, data: data})
			c.bytes += len(data)
		}
	}
	return nil
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
		size := len(p.data)
		if p.data == nil {
			data := stored.Get(p.key)
			if data == nil {
				return badBatch("the image %x is missing", p.key)
			}
			size = len(data)
		}
		if !seen[string(p.key)] {
			seen[string(p.key)] = true
			added += int64(size)
		}
	}
	if limit := c.batch.ImageLimit; limit > 0 && added > 0 && c.imageBytes(tx)+added > limit {
		return item.Errorf(item.KindExhausted, ReasonImagesFull,
			"the images of pod %[2]s would have more than %[1]d bytes together: fork the pod to go on with more images", limit, c.batch.Pod)
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
		if p.data != nil && stored.Get(p.key) == nil {
			if err := stored.Put(p.key, p.data); err != nil {
				return err
			}
		}
		if err := uses.Put(imageUse(c.batch.Pod, first+item.Seq(p.entry), p.key), []byte{}); err != nil {
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
