package store

import (
	"encoding/binary"
	"hash/crc32"

	"podd/internal/wire"
	"podd/pkg/item"
)

// MaxEntryBytes is the size of the largest entry that can be stored. It is below the
// largest message that podd sends, 16 MiB, so that every stored entry can be streamed.
const MaxEntryBytes = 15 << 20

// Decode is the record's entry.
func (r Record) Decode() (item.Entry, error) { return wire.DecodeEntry(r.Entry) }

// Decode is the entry of the submit; its kind is item.Submitted.
func (w Waiting) Decode() (item.Entry, error) { return wire.DecodeEntry(w.Entry) }

// sumLen is the size of a checksum.
const sumLen = 4

// seqRoom is the room for the sequence of an entry: its tag and the longest varint.
const seqRoom = 1 + binary.MaxVarintLen64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// separator separates two parts of a place.
var separator = []byte{0}

// draft is an encoded entry that still needs its sequence. The room for the sequence is
// before the entry, so that the writer copies nothing.
type draft struct {
	buf []byte // checksum, room for the sequence, entry without it
	sum uint32 // of the pod and the entry without its sequence
}

// newDraft prepares the entry body, encoded with Seq 0, for the log of a pod.
func newDraft(pod string, body []byte) draft {
	buf := make([]byte, sumLen+seqRoom+len(body))
	copy(buf[sumLen+seqRoom:], body)
	return draft{buf: buf, sum: sumBody(pod, body)}
}

// record is the value to store under seq. It shares the draft's memory: a later
// call changes an earlier one's value.
func (d draft) record(seq item.Seq) []byte {
	prefix := wire.WithSeq(seq, nil)
	value := d.buf[seqRoom-len(prefix):]
	binary.BigEndian.PutUint32(value, sumSeq(d.sum, seq))
	copy(value[sumLen:], prefix)
	return value
}

// openRecord is the entry in a record's value, as part of its memory. ok is false if the
// value is not the record of this pod and sequence.
func openRecord(pod string, seq item.Seq, value []byte) (entry []byte, ok bool) {
	prefix := wire.WithSeq(seq, nil)
	if len(value) < sumLen+len(prefix) {
		return nil, false
	}
	entry = value[sumLen:]
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
	return crc32.Update(sum, castagnoli, seqKey(seq))
}

// seal is body with a checksum that binds it to its place.
func seal(bucket, key, body []byte) []byte {
	sealed := make([]byte, sumLen, sumLen+len(body))
	binary.BigEndian.PutUint32(sealed, sumPlace(bucket, key, body))
	return append(sealed, body...)
}

// unseal is the body of a sealed value, as part of its memory.
func unseal(bucket, key, sealed []byte) (body []byte, ok bool) {
	if len(sealed) < sumLen {
		return nil, false
	}
	body = sealed[sumLen:]
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
