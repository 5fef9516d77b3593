package wiretest_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"podd/pkg/wire/wiretest"
	poddv1 "podd/proto/podd/v1"
)

// Two consecutive encodings are one message for a decoder that merges. The check finds
// each field that is in both, also in a nested message.
func TestOnceFindsWhatADecoderWouldMerge(t *testing.T) {
	encode := func(m proto.Message) []byte {
		body, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	pod := (&poddv1.Pod{}).ProtoReflect().Descriptor()
	list := (&poddv1.ListPodsResponse{}).ProtoReflect().Descriptor()
	spec := encode(&poddv1.Pod{Spec: &poddv1.PodSpec{Dir: "/w", Read: []string{"a", "b"}}})
	for _, good := range [][]byte{nil, spec, append(encode(&poddv1.Pod{Name: "p"}), spec...)} {
		if err := wiretest.Once(pod, good); err != nil {
			t.Error(err)
		}
	}
	twice := append(append([]byte{}, spec...), encode(&poddv1.Pod{Spec: &poddv1.PodSpec{}})...)
	if err := wiretest.Once(pod, twice); err == nil {
		t.Error("a spec that comes twice is not found")
	}
	listed := append([]byte{0x0a, byte(len(twice))}, twice...)
	if err := wiretest.Once(list, listed); err == nil {
		t.Error("a spec that comes twice in a list is not found")
	}
	segment := (&poddv1.Segment{}).ProtoReflect().Descriptor()
	both := append(encode(&poddv1.Segment{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{}}}), encode(&poddv1.Segment{Kind: &poddv1.Segment_Paste{Paste: &poddv1.PasteSegment{}}})...)
	if err := wiretest.Once(segment, both); err == nil {
		t.Error("two kinds of one segment are not found")
	}
	if err := wiretest.Once(pod, []byte{0x1a, 9, 1}); err == nil {
		t.Error("malformed bytes are not found")
	}
}
