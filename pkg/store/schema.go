package store

import (
	"bytes"
	"encoding/binary"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// The buckets; see the package doc.
var (
	bucketMeta      = []byte("meta")
	bucketNames     = []byte("names")
	bucketPods      = []byte("pods")
	bucketHeads     = []byte("heads")
	bucketLogs      = []byte("logs")
	bucketInbox     = []byte("inbox")
	bucketRequests  = []byte("requests")
	bucketAdmitted  = []byte("admitted")
	bucketAlerts    = []byte("alerts")
	bucketPodAlerts = []byte("podalerts")
	bucketChains    = []byte("chains")
	bucketMoved     = []byte("moved")
	bucketLineages  = []byte("lineages")
	bucketSharers   = []byte("sharers")
	bucketPurges    = []byte("purges")
	bucketBases     = []byte("bases")
	bucketImages    = []byte("images")
	bucketImageUses = []byte("imageuses")
	bucketTrash     = []byte("trash")
	bucketTrashHead = []byte("trashheads")
)

// The keys of the meta bucket.
var (
	keyFormat  = []byte("format")
	keyVersion = []byte("version")
	keyID      = []byte("id")
	keyLeft    = []byte("left")
)

// fullPages is the fill factor of pages that only grow at their end: splitting them in the
// middle would leave half of each page empty for ever.
const fullPages = 0.95

// separator ends a pod's id in a key.
var separator = []byte{0}

func seqKey(seq item.Seq) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(seq))
}

// seqOf is the sequence at the end of a key.
func seqOf(key []byte) item.Seq {
	if len(key) < 8 {
		return 0
	}
	return item.Seq(binary.BigEndian.Uint64(key[len(key)-8:]))
}

// podKey is the prefix of a pod's keys in a bucket that all pods share.
func podKey(pod string) []byte {
	return append(append(make([]byte, 0, len(pod)+1+8), pod...), 0)
}

func podSeqKey(pod string, seq item.Seq) []byte {
	return binary.BigEndian.AppendUint64(podKey(pod), uint64(seq))
}

// hasPod says whether a key in a bucket that all pods share belongs to a pod.
func hasPod(key []byte, pod string) bool { return bytes.HasPrefix(key, podKey(pod)) }

// keysWith collects copies of the keys that begin with prefix: deleting the key under a
// cursor makes the cursor skip others.
func keysWith(b *bbolt.Bucket, prefix []byte) [][]byte {
	var keys [][]byte
	c := b.Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	return keys
}
