package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// refersTo checks that the store has the images of an entry, and knows that it refers to them.
func (c *checker) refersTo(v logView, e item.Entry) {
	owner, _ := v.lineage.Place(v.pod, e.Seq, v.head.last)
	for _, image := range item.ImagesIn(e.Kind) {
		key, ok := rules.DigestKey(image.Digest)
		if !ok || v.tx.Bucket(bucketImageUses).Get(imageUse(owner, e.Seq, key)) == nil || v.tx.Bucket(bucketImages).Get(key) == nil {
			c.note("entry %d of pod %s refers to the image %s, which is missing", e.Seq, v.pod, image.Digest)
		}
	}
}

// images checks the bytes of each image, and that an entry refers to it.
func (c *checker) images(tx *bbolt.Tx) error {
	used := make(map[string]bool)
	for _, k := range keysWith(tx.Bucket(bucketImageUses), nil) {
		used[string(k[max(0, len(k)-digestLen):])] = true
	}
	return tx.Bucket(bucketImages).ForEach(func(key, data []byte) error {
		name := hex.EncodeToString(key)
		if sum := sha256.Sum256(data); !bytes.Equal(sum[:], key) {
			c.note("the image %s is damaged", name)
		} else if !used[string(key)] && len(c.found) == 0 {
			c.harmless("no entry refers to the image %s", name)
		}
		return c.goOn()
	})
}

// imageUses checks that each record that is said to refer to an image exists. Damage that was
// found before would explain that it does not.
func (c *checker) imageUses(tx *bbolt.Tx) error {
	logs := tx.Bucket(bucketLogs)
	for _, k := range keysWith(tx.Bucket(bucketImageUses), nil) {
		if len(k) < digestLen+len(separator)+8 {
			c.note("an image has a use that cannot be read: %x", k)
			continue
		}
		at := len(k) - digestLen
		seq, owner := seqOf(k[:at]), string(k[:at-8-len(separator)])
		if log := logs.Bucket([]byte(owner)); len(c.found) == 0 && (log == nil || log.Get(seqKey(seq)) == nil) {
			c.harmless("the image %x belongs to entry %d of pod %s, which does not exist", k[at:], seq, owner)
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
	return nil
}
