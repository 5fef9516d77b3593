package rules

import (
	"encoding/binary"

	"podd/pkg/item"
)

// A fork's log begins with entries that are stored in the logs of other pods. Its lineage
// says where: it is written when the fork is created and never changes.

// Segment is a part of a log that is stored in the log of Owner and ends at UpTo.
type Segment struct {
	Owner string
	UpTo  item.Seq
}

// Lineage is the shared part of a log, oldest first; later entries are the pod's own.
// A segment begins where the previous one ends.
type Lineage []Segment

// Place is where an entry is stored: the pod that wrote it, and the last entry in the
// same part.
func (l Lineage) Place(pod string, seq, last item.Seq) (owner string, upTo item.Seq) {
	for _, s := range l {
		if seq <= s.UpTo {
			return s.Owner, s.UpTo
		}
	}
	return pod, last
}

// Fork is the lineage of a fork of pod at a sequence, without entries below first.
func (l Lineage) Fork(pod string, first, at item.Seq) Lineage {
	var out Lineage
	for _, s := range append(l[:len(l):len(l)], Segment{pod, at}) {
		if s.UpTo < first {
			continue
		}
		out = append(out, Segment{s.Owner, min(s.UpTo, at)})
		if s.UpTo >= at {
			break
		}
	}
	return out
}

// Encode is read by DecodeLineage.
func (l Lineage) Encode() []byte {
	var b []byte
	for _, s := range l {
		b = binary.BigEndian.AppendUint64(b, uint64(s.UpTo))
		b = binary.AppendUvarint(b, uint64(len(s.Owner)))
		b = append(b, s.Owner...)
	}
	return b
}

// DecodeLineage reads what Encode wrote.
func DecodeLineage(b []byte) (l Lineage, ok bool) {
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
		l = append(l, Segment{Owner: string(b[:n]), UpTo: upTo})
		b = b[n:]
	}
	return l, true
}
