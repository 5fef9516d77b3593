package wire

import (
	"time"

	"podd/pkg/item"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields of podd.v1.Pod, of its timestamp, and of
// podd.v1.ListPodsResponse.pods.
const (
	fieldPodName         = protowire.Number(2)
	fieldPodFirstSeq     = protowire.Number(7)
	fieldPodLastSeq      = protowire.Number(8)
	fieldPodQueued       = protowire.Number(9)
	fieldPodLastActivity = protowire.Number(12)
	fieldSeconds         = protowire.Number(1)
	fieldNanos           = protowire.Number(2)
	fieldListedPod       = protowire.Number(1)
)

// AppendPodCounts puts what the head of a pod's log counts behind the encoded pod: it
// decodes as one that has these, whatever it had.
func AppendPodCounts(b []byte, first, last item.Seq, queued int, activity time.Time) []byte {
	number := func(field protowire.Number, v int64) {
		b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
	}
	number(fieldPodFirstSeq, int64(first))
	number(fieldPodLastSeq, int64(last))
	number(fieldPodQueued, int64(toInt32(queued)))
	if activity.IsZero() {
		return b
	}
	seconds, nanos := uint64(activity.Unix()), uint64(activity.Nanosecond())
	size := protowire.SizeTag(fieldSeconds) + protowire.SizeVarint(seconds) + protowire.SizeTag(fieldNanos) + protowire.SizeVarint(nanos)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldPodLastActivity, protowire.BytesType), uint64(size))
	// A decoder merges two timestamps: both fields are there, also when they are 0.
	number(fieldSeconds, int64(seconds))
	number(fieldNanos, int64(nanos))
	return b
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
