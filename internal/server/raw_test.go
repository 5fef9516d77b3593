package server_test

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"podd/pkg/wire/wiretest"
	poddv1 "podd/proto/podd/v1"
)

// rawCodec returns replies as the bytes received.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", v)
	}
	return proto.Marshal(m)
}

func (rawCodec) Unmarshal(body []byte, v any) error {
	raw, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is no place for bytes", v)
	}
	*raw = append([]byte(nil), body...)
	return nil
}

func checkOnce(t *testing.T, method string, m proto.Message, raw []byte) {
	t.Helper()
	if len(raw) == 0 {
		t.Errorf("%s: the reply is empty", method)
	}
	if err := wiretest.Once(m.ProtoReflect().Descriptor(), raw); err != nil {
		t.Errorf("%s: %v", method, err)
	}
}

// Replies that forward stored bytes have each field once, and so do those encoded for the
// call: not every decoder merges a repeated field.
func TestEachFieldIsSentOnce(t *testing.T) {
	conn := serve(t)
	ctx := withToken(t.Context())
	pods := poddv1.NewPodServiceClient(conn)
	text := []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "hi @./gone.txt"}}}}
	if _, err := pods.Submit(ctx, &poddv1.SubmitRequest{Pod: "p", Segments: text, ParseRefs: true}); err != nil {
		t.Fatal(err)
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, poddv1.PodService_Stream_FullMethodName, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&poddv1.StreamRequest{Pod: "p", Follow: true, Deltas: true}), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended; {
		var raw []byte
		if err := stream.RecvMsg(&raw); err != nil {
			t.Fatal(err)
		}
		checkOnce(t, "Stream", &poddv1.StreamResponse{}, raw)
		var r poddv1.StreamResponse
		if err := proto.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		ended = r.GetEntry().GetTurnEnded() != nil
	}
	for method, call := range map[string]struct{ request, reply proto.Message }{
		poddv1.PodService_ListPods_FullMethodName:     {&poddv1.ListPodsRequest{}, &poddv1.ListPodsResponse{}},
		poddv1.PodService_GetPod_FullMethodName:       {&poddv1.GetPodRequest{Pod: "p"}, &poddv1.GetPodResponse{}},
		poddv1.PodService_Pause_FullMethodName:        {&poddv1.PauseRequest{Pod: "p"}, &poddv1.PauseResponse{}},
		poddv1.AlertService_ListAlerts_FullMethodName: {&poddv1.ListAlertsRequest{}, &poddv1.ListAlertsResponse{}},
	} {
		var raw []byte
		if err := conn.Invoke(ctx, method, call.request, &raw, grpc.ForceCodec(rawCodec{})); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		checkOnce(t, method, call.reply, raw)
	}
}
