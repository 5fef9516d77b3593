package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"podd/pkg/item"
)

// DigestLen is the size of the key of an image, in bytes.
const DigestLen = sha256.Size

// DigestKey is the key of the image with a digest in an entry.
func DigestKey(digest string) (key []byte, ok bool) {
	key, err := hex.DecodeString(digest)
	return key, err == nil && len(key) == DigestLen && hex.EncodeToString(key) == digest
}

// IsImage says whether data is the image with a key.
func IsImage(key, data []byte) bool {
	sum := sha256.Sum256(data)
	return bytes.Equal(sum[:], key)
}

// Picture is an image to which an entry of a batch refers.
type Picture struct {
	// Entry is the index of the entry.
	Entry int
	Key   []byte
	// Data is nil for an image that the store has.
	Data []byte
}

// Pictures finds the images of entries. data has the bytes by the digests.
func Pictures(entries []item.Entry, data map[string][]byte) (found []Picture, err error) {
	for i, e := range entries {
		for _, image := range item.ImagesIn(e.Kind) {
			p := Picture{Entry: i, Data: data[image.Digest]}
			var ok bool
			if p.Key, ok = DigestKey(image.Digest); !ok {
				return nil, Batch("an image has the digest %q", image.Digest)
			}
			if p.Data != nil && !IsImage(p.Key, p.Data) {
				return nil, Batch("the image %s has other bytes than its digest says", image.Digest)
			}
			found = append(found, p)
		}
	}
	return found, nil
}
