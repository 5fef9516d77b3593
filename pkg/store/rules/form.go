package rules

import (
	"encoding/binary"
	"time"

	"podd/pkg/item"
)

// Head is the part of a pod that appends change.
type Head struct {
	Epoch int64
	// First is the first sequence that the log still has; in an empty log the next one.
	First, Last item.Seq
	// Queued counts the submits in the inbox, Requests the remembered request ids.
	Queued, Requests uint32
	Activity         time.Time
	// Status is an encoded podd.v1.Pod with only the status.
	Status []byte
}

// HeadLen is the length of an encoded head without its status.
const HeadLen = 8 + 8 + 8 + 4 + 4 + 8 + 4

// Encode is read by DecodeHead.
func (h Head) Encode() []byte {
	b := make([]byte, 0, HeadLen+len(h.Status))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Epoch))
	b = binary.BigEndian.AppendUint64(b, uint64(h.First))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Last))
	b = binary.BigEndian.AppendUint32(b, h.Queued)
	b = binary.BigEndian.AppendUint32(b, h.Requests)
	b = appendTime(b, h.Activity)
	return append(b, h.Status...)
}

// DecodeHead reads what Encode wrote; the status is part of b's memory.
func DecodeHead(b []byte) (h Head, ok bool) {
	if len(b) < HeadLen {
		return Head{}, false
	}
	return Head{
		Epoch:    int64(binary.BigEndian.Uint64(b)),
		First:    item.Seq(binary.BigEndian.Uint64(b[8:])),
		Last:     item.Seq(binary.BigEndian.Uint64(b[16:])),
		Queued:   binary.BigEndian.Uint32(b[24:]),
		Requests: binary.BigEndian.Uint32(b[28:]),
		Activity: timeOf(b[32:]),
		Status:   b[HeadLen:],
	}, true
}

func appendTime(b []byte, at time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(at.Unix()))
	return binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond()))
}

func timeOf(b []byte) time.Time {
	return time.Unix(int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))).UTC()
}

// EncodeTrashed says when a pod was deleted, and with which one.
func EncodeTrashed(at time.Time, with string) []byte { return append(appendTime(nil, at), with...) }

// DecodeTrashed reads what EncodeTrashed wrote.
func DecodeTrashed(b []byte) (at time.Time, with string, ok bool) {
	if len(b) < 12 {
		return at, "", false
	}
	return timeOf(b), string(b[12:]), true
}

const requestLen = 32 + 8 + 1

// EncodeRequest is an admitted request without its id.
func EncodeRequest(digest []byte, seq item.Seq, queued bool) []byte {
	b := append(make([]byte, 0, requestLen), digest...)
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	if queued {
		return append(b, 1)
	}
	return append(b, 0)
}

// DecodeRequest reads what EncodeRequest wrote; digest is part of b's memory.
func DecodeRequest(b []byte) (digest []byte, seq item.Seq, queued, ok bool) {
	if len(b) != requestLen {
		return nil, 0, false, false
	}
	return b[:32], item.Seq(binary.BigEndian.Uint64(b[32:])), b[40] != 0, true
}
