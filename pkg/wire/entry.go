package wire

import (
	"fmt"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// EncodeEntry is the stored form of an entry: a podd.v1.Entry message. The same entry gives
// the same bytes; Seq is left out if it is 0. It refuses an entry that could not be read
// back completely: one of kind UnknownKind or none, or with a missing item.
func EncodeEntry(e item.Entry) ([]byte, error) {
	if err := checkItems(e.Kind); err != nil {
		return nil, fmt.Errorf("encode entry: %w", err)
	}
	p := EntryToProto(e)
	if p.GetKind() == nil {
		return nil, fmt.Errorf("encode entry: the kind has the type %T", e.Kind)
	}
	body, err := marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode entry: %w", err)
	}
	return body, nil
}

// DecodeEntry reads what EncodeEntry or WithSeq wrote. A kind that this podd does
// not know is item.UnknownKind, as is an entry with an item of an unknown kind;
// malformed bytes are an error. The entry does not share memory with body.
func DecodeEntry(body []byte) (item.Entry, error) {
	var p poddv1.Entry
	if err := proto.Unmarshal(body, &p); err != nil {
		return item.Entry{}, fmt.Errorf("decode entry: %w", err)
	}
	return EntryFromProto(&p), nil
}

// WithSeq is the encoded entry with a sequence, where body was encoded with Seq 0.
// It copies body and decodes nothing.
func WithSeq(seq item.Seq, body []byte) []byte {
	if seq == 0 {
		return append([]byte(nil), body...)
	}
	size := protowire.SizeTag(fieldSeq) + protowire.SizeVarint(uint64(seq))
	return append(appendSeq(make([]byte, 0, size+len(body)), seq), body...)
}

// EntryToProto converts an entry. UnknownKind and nil become a message without a
// kind.
func EntryToProto(e item.Entry) *poddv1.Entry {
	p := &poddv1.Entry{Seq: int64(e.Seq), Time: timeToProto(e.Time), Turn: e.Turn}
	setKind(p, e.Kind)
	return p
}

// EntryFromProto converts an entry; see DecodeEntry for unknown kinds.
func EntryFromProto(p *poddv1.Entry) item.Entry {
	return item.Entry{
		Seq:  item.Seq(p.GetSeq()),
		Time: timeFromProto(p.GetTime()),
		Turn: p.GetTurn(),
		Kind: kindFromProto(p),
	}
}

// fieldSeq is the number of podd.v1.Entry.seq.
const fieldSeq = protowire.Number(1)

func appendSeq(b []byte, seq item.Seq) []byte {
	b = protowire.AppendTag(b, fieldSeq, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(seq))
}

func marshal(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}
