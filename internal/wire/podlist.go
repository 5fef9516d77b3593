package wire

import (
	"errors"
	"time"

	"podd/pkg/item"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields of podd.v1.Pod, of its timestamp, and of
// podd.v1.ListPodsResponse.pods.
const (
	fieldPodID           = protowire.Number(1)
	fieldPodName         = protowire.Number(2)
	fieldPodSpec         = protowire.Number(3)
	fieldPodFirstSeq     = protowire.Number(7)
	fieldPodLastSeq      = protowire.Number(8)
	fieldPodQueued       = protowire.Number(9)
	fieldPodCreatedAt    = protowire.Number(11)
	fieldPodLastActivity = protowire.Number(12)
	fieldPodNode         = protowire.Number(17)
	fieldPodMovable      = protowire.Number(18)
	fieldSeconds         = protowire.Number(1)
	fieldNanos           = protowire.Number(2)
	fieldListedPod       = protowire.Number(1)
)

// PodCounts are the counts in the head of a pod's log.
type PodCounts struct {
	First, Last item.Seq
	Queued      int
	Activity    time.Time
	// Node is the name of the node that runs the pod; may be empty.
	Node    string
	Movable bool
}

// JoinPod assembles an encoded pod from three sources without decoding them: the fields that
// turns do not change (id, name, spec, creation) come from an encoded record, the counts
// from counts, all others from an encoded status. Each field occurs at most once, so a
// decoder need not merge.
func JoinPod(record, status []byte, counts PodCounts) ([]byte, error) {
	const room = 64 // for the counts
	b := make([]byte, 0, len(record)+len(status)+room)
	b, err := appendFields(b, record, fromRecord)
	if err != nil {
		return nil, err
	}
	b, err = appendFields(b, status, func(n protowire.Number) bool { return !fromRecord(n) && !fromCounts(n) })
	if err != nil {
		return nil, err
	}
	return counts.appendTo(b), nil
}

func fromRecord(n protowire.Number) bool {
	return n == fieldPodID || n == fieldPodName || n == fieldPodSpec || n == fieldPodCreatedAt
}

func fromCounts(n protowire.Number) bool {
	return n == fieldPodFirstSeq || n == fieldPodLastSeq || n == fieldPodQueued || n == fieldPodLastActivity || n == fieldPodNode || n == fieldPodMovable
}

var errMalformed = errors.New("an encoded pod is malformed")

// appendFields appends the fields of a message that are wanted.
func appendFields(b, message []byte, wanted func(protowire.Number) bool) ([]byte, error) {
	for len(message) > 0 {
		number, _, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, errMalformed
		}
		if wanted(number) {
			b = append(b, message[:n]...)
		}
		message = message[n:]
	}
	return b, nil
}

func (c PodCounts) appendTo(b []byte) []byte {
	b = appendNumber(b, fieldPodFirstSeq, int64(c.First))
	b = appendNumber(b, fieldPodLastSeq, int64(c.Last))
	b = appendNumber(b, fieldPodQueued, int64(toInt32(c.Queued)))
	if c.Node != "" {
		b = protowire.AppendString(protowire.AppendTag(b, fieldPodNode, protowire.BytesType), c.Node)
	}
	if c.Movable {
		b = appendNumber(b, fieldPodMovable, 1)
	}
	if c.Activity.IsZero() {
		return b
	}
	const room = 24 // for the timestamp
	at := appendNumber(make([]byte, 0, room), fieldSeconds, c.Activity.Unix())
	at = appendNumber(at, fieldNanos, int64(c.Activity.Nanosecond()))
	return protowire.AppendBytes(protowire.AppendTag(b, fieldPodLastActivity, protowire.BytesType), at)
}

// appendNumber omits 0, as an encoder does.
func appendNumber(b []byte, field protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// PodName is the name in an encoded pod; empty when the bytes are malformed.
func PodName(body []byte) string {
	var name []byte
	for len(body) > 0 {
		field, wireType, n := protowire.ConsumeTag(body)
		if n < 0 {
			return ""
		}
		value := body[n:]
		if n = protowire.ConsumeFieldValue(field, wireType, value); n < 0 {
			return ""
		}
		if field == fieldPodName && wireType == protowire.BytesType {
			name, _ = protowire.ConsumeBytes(value)
		}
		body = value[n:]
	}
	return string(name)
}

// PodList is an encoded podd.v1.ListPodsResponse of encoded pods. It decodes nothing.
func PodList(pods [][]byte) []byte {
	size := 0
	for _, body := range pods {
		size += protowire.SizeTag(fieldListedPod) + protowire.SizeBytes(len(body))
	}
	b := make([]byte, 0, size)
	for _, body := range pods {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldListedPod, protowire.BytesType), body)
	}
	return b
}
