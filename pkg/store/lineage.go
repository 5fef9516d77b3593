package store

import (
	"encoding/binary"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// A fork's log begins with entries that are stored in the logs of other pods. Its lineage
// says where: it is written when the fork is created and never changes.

// segment is a part of a log that is stored in the log bucket of owner and ends at upTo.
type segment struct {
	owner string
	upTo  item.Seq
}

// lineage is the shared part of a log, oldest first; later entries are in the pod's own
// bucket. A segment begins where the previous one ends.
type lineage []segment

// place is where an entry is stored: the pod with its bucket, and the last entry in the same
// bucket.
func (l lineage) place(pod string, seq, last item.Seq) (owner string, upTo item.Seq) {
	for _, s := range l {
		if seq <= s.upTo {
			return s.owner, s.upTo
		}
	}
	return pod, last
}

// fork is the lineage of a fork of pod at a sequence, without entries below first.
func (l lineage) fork(pod string, first, at item.Seq) lineage {
	var out lineage
	for _, s := range append(l[:len(l):len(l)], segment{pod, at}) {
		if s.upTo < first {
			continue
		}
		out = append(out, segment{s.owner, min(s.upTo, at)})
		if s.upTo >= at {
			break
		}
	}
	return out
}

func (l lineage) encode() []byte {
	var b []byte
	for _, s := range l {
		b = binary.BigEndian.AppendUint64(b, uint64(s.upTo))
		b = binary.AppendUvarint(b, uint64(len(s.owner)))
		b = append(b, s.owner...)
	}
	return b
}

func decodeLineage(b []byte) (l lineage, ok bool) {
	for len(b) > 0 {
		if len(b) < 8 {
			return nil, false
		}
		upTo := item.Seq(binary.BigEndian.Uint64(b))
		n, size := binary.Uvarint(b[8:])
		if size <= 0 || n > uint64(len(b)-8-size) {
			return nil, false
		}
		b = b[8+size:]
		l = append(l, segment{owner: string(b[:n]), upTo: upTo})
		b = b[n:]
	}
	return l, true
}

// loadLineage reads the lineage of a pod; most have none.
func loadLineage(tx *bbolt.Tx, pod string) (lineage, error) {
	sealed := tx.Bucket(bucketLineages).Get([]byte(pod))
	if sealed == nil {
		return nil, nil
	}
	body, ok := unseal(bucketLineages, []byte(pod), sealed)
	if ok {
		if l, ok := decodeLineage(body); ok {
			return l, nil
		}
	}
	return nil, damagedPod(pod)
}

func storeLineage(tx *bbolt.Tx, pod string, l lineage) error {
	key := []byte(pod)
	if err := tx.Bucket(bucketLineages).Put(key, seal(bucketLineages, key, l.encode())); err != nil {
		return err
	}
	for _, s := range l {
		key := sharerKey(s.owner, pod)
		value := seal(bucketSharers, key, seqKey(s.upTo))
		if err := tx.Bucket(bucketSharers).Put(key, value); err != nil {
			return err
		}
	}
	return nil
}
