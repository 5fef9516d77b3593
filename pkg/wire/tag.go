package wire

import "google.golang.org/protobuf/encoding/protowire"

// KindNumber identifies the kind of an entry without decoding it. It is the number of the
// kind's field in podd.v1.Entry, so it never changes for a kind; 0 is an unknown kind.
type KindNumber int32

// The kind numbers.
const (
	KindSubmitted KindNumber = iota + 4
	KindPromoted
	KindTurnStarted
	KindTurnEnded
	KindSetup
	KindItem
	KindToolStarted
	KindUsage
	KindPrune
	KindCompaction
	KindApprovalRequested
	KindApprovalResolved
	KindRewind
	KindNote
	KindRecovered
	KindAlert
	KindPurged
	KindWithdrawn
	KindJob
	KindCheckpoint
	KindRestore
	KindWing
)

// KindOf is the kind of an encoded entry. It reads only the outermost tags and allocates
// nothing; malformed bytes and unknown kinds give 0.
func KindOf(body []byte) KindNumber {
	var kind KindNumber
	for len(body) > 0 {
		field, wireType, n := protowire.ConsumeTag(body)
		if n < 0 {
			return 0
		}
		body = body[n:]
		if n = protowire.ConsumeFieldValue(field, wireType, body); n < 0 {
			return 0
		}
		body = body[n:]
		// The last one wins, as it does for a decoder.
		if number := KindNumber(field); wireType == protowire.BytesType && number >= KindSubmitted && number <= KindWing {
			kind = number
		}
	}
	return kind
}

// ItemNumber identifies the kind of an item without decoding it: the number of the kind's field
// in podd.v1.Item. 0 is an unknown kind.
type ItemNumber int32

// The item numbers.
const (
	ItemUser ItemNumber = iota + 1
	ItemSystem
	ItemAssistant
	ItemReasoning
	ItemToolCall
	ItemToolResult
)

// Peek is the kind of an entry and, of an item, the item's. It reads only the beginning of an
// entry that podd encoded: other bytes may give anything.
func Peek(body []byte) (KindNumber, ItemNumber) {
	for len(body) > 0 {
		field, wireType, n := protowire.ConsumeTag(body)
		if n < 0 {
			break
		}
		body = body[n:]
		if kind := KindNumber(field); kind >= KindSubmitted {
			if _, n = protowire.ConsumeVarint(body); kind != KindItem || n < 0 {
				return kind, 0
			}
			number, _, _ := protowire.ConsumeTag(body[n:])
			return kind, ItemNumber(number)
		}
		if n = protowire.ConsumeFieldValue(field, wireType, body); n < 0 {
			break
		}
		body = body[n:]
	}
	return 0, 0
}
