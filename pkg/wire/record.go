package wire

import (
	"encoding/binary"
	"hash/crc32"

	"podd/pkg/item"
)

// SumLen is the size of a checksum.
const SumLen = 4

// seqRoom is the room for the sequence of an entry: its tag and the longest varint.
const seqRoom = 1 + binary.MaxVarintLen64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// separator separates two parts of a place.
var separator = []byte{0}

// Draft is an encoded entry that still needs its sequence. The room for the sequence is
// before the entry, so that the writer copies nothing.
type Draft struct {
	buf []byte // checksum, room for the sequence, entry without it
	sum uint32 // of the pod and the entry without its sequence
}

// NewDraft prepares the entry body, encoded with Seq 0, for the log of a pod.
func NewDraft(pod string, body []byte) Draft {
	buf := make([]byte, SumLen+seqRoom+len(body))
	copy(buf[SumLen+seqRoom:], body)
	return Draft{buf: buf, sum: sumBody(pod, body)}
}

// NewDrafts encodes entries for the log of a pod.
func NewDrafts(pod string, entries []item.Entry) ([]Draft, error) {
	drafts := make([]Draft, len(entries))
	for i, e := range entries {
		body, err := EncodeEntry(e)
		if err != nil {
			return nil, err
		}
		drafts[i] = NewDraft(pod, body)
	}
	return drafts, nil
}

// Record is the value to store under seq. It shares the draft's memory: a later
// call changes an earlier one's value.
func (d Draft) Record(seq item.Seq) []byte {
	prefix := WithSeq(seq, nil)
	value := d.buf[seqRoom-len(prefix):]
	binary.BigEndian.PutUint32(value, sumSeq(d.sum, seq))
	copy(value[SumLen:], prefix)
	return value
}

// Len is the size that the entry has at most with its sequence, in bytes.
func (d Draft) Len() int { return len(d.buf) - SumLen }

// OpenRecord is the entry in a record's value, as part of its memory. ok is false if the
// value is not the record of this pod and sequence.
func OpenRecord(pod string, seq item.Seq, value []byte) (entry []byte, ok bool) {
	prefix := WithSeq(seq, nil)
	if len(value) < SumLen+len(prefix) {
		return nil, false
	}
	entry = value[SumLen:]
	if string(entry[:len(prefix)]) != string(prefix) {
		return nil, false
	}
	sum := sumSeq(sumBody(pod, entry[len(prefix):]), seq)
	return entry, sum == binary.BigEndian.Uint32(value)
}

func sumBody(pod string, body []byte) uint32 {
	return crc32.Update(sumAll([]byte(pod), separator), castagnoli, body)
}

func sumSeq(sum uint32, seq item.Seq) uint32 {
	return crc32.Update(sum, castagnoli, binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(seq)))
}

// Seal is body with a checksum that binds it to its place.
func Seal(bucket, key, body []byte) []byte {
	sealed := make([]byte, SumLen, SumLen+len(body))
	binary.BigEndian.PutUint32(sealed, sumPlace(bucket, key, body))
	return append(sealed, body...)
}

// Unseal is the body of a sealed value, as part of its memory.
func Unseal(bucket, key, sealed []byte) (body []byte, ok bool) {
	if len(sealed) < SumLen {
		return nil, false
	}
	body = sealed[SumLen:]
	return body, sumPlace(bucket, key, body) == binary.BigEndian.Uint32(sealed)
}

func sumPlace(bucket, key, body []byte) uint32 {
	return sumAll(bucket, separator, key, separator, body)
}

func sumAll(parts ...[]byte) (sum uint32) {
	for _, part := range parts {
		sum = crc32.Update(sum, castagnoli, part)
	}
	return sum
}
