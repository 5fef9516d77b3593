package server_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// A newer client's call that changes something is refused if it has unknown fields,
// except for a segment of an unknown kind. A call that reads is answered.
func TestRequestsOfANewerClient(t *testing.T) {
	conn := serve(t)
	pods := poddv1.NewPodServiceClient(conn)
	newer := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 1)
	with := func(m proto.Message) { m.ProtoReflect().SetUnknown(newer) }

	spec := &poddv1.PodSpec{Dir: t.TempDir()}
	with(spec)
	_, err := pods.CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "new", Spec: spec})
	refused(t, err)
	if _, err := pods.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "new"}); item.KindOf(wire.FromStatus(err)) != item.KindNotFound {
		t.Errorf("the pod was made all the same: %v", err)
	}

	text := &poddv1.Segment{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "hello"}}}
	submit := func(change func(*poddv1.SubmitRequest)) error {
		req := &poddv1.SubmitRequest{Pod: "p", Segments: []*poddv1.Segment{text}}
		change(req)
		_, err := pods.Submit(t.Context(), req)
		return err
	}
	refused(t, submit(func(r *poddv1.SubmitRequest) { r.Mode = 99 }))
	refused(t, submit(func(r *poddv1.SubmitRequest) { with(r) }))
	err = submit(func(r *poddv1.SubmitRequest) {
		strange := &poddv1.Segment{}
		with(strange)
		r.Segments = append(r.Segments, strange)
	})
	if err != nil {
		t.Errorf("a segment of an unknown kind: %v", err)
	}
	get := &poddv1.GetPodRequest{Pod: "p"}
	with(get)
	if _, err := pods.GetPod(t.Context(), get); err != nil {
		t.Errorf("a call that reads: %v", err)
	}
}

func refused(t *testing.T, err error) {
	t.Helper()
	if e := wire.FromStatus(err); item.ReasonOf(e) != "UNKNOWN_FIELD" || item.KindOf(e) != item.KindUnimplemented {
		t.Errorf("got %v, want UNKNOWN_FIELD", err)
	}
}
