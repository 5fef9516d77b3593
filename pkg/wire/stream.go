package wire

import (
	"podd/pkg/item"

	"google.golang.org/protobuf/encoding/protowire"
)

// StreamEntry is an encoded podd.v1.StreamResponse that carries an entry, where
// body was encoded with Seq 0. It copies body without decoding it, so that a stream can
// forward stored bytes.
func StreamEntry(seq item.Seq, body []byte) []byte {
	size := len(body)
	if seq != 0 {
		size += protowire.SizeTag(fieldSeq) + protowire.SizeVarint(uint64(seq))
	}
	b := make([]byte, 0, protowire.SizeTag(fieldStreamEntry)+protowire.SizeBytes(size))
	b = protowire.AppendTag(b, fieldStreamEntry, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	if seq != 0 {
		b = appendSeq(b, seq)
	}
	return append(b, body...)
}

// fieldStreamEntry is the number of podd.v1.StreamResponse.entry.
const fieldStreamEntry = protowire.Number(1)
