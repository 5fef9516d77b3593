package server_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poddv1 "podd/proto/podd/v1"
)

// One stream has the pods, the log of one above a cursor, alerts and a beat; a log that
// cannot be read ends it with the reason.
func TestWatchHasAll(t *testing.T) {
	conn := serve(t)
	submitted, err := poddv1.NewPodServiceClient(conn).Submit(t.Context(), textSubmit("r1", "hello", poddv1.SubmitMode_SUBMIT_MODE_QUEUE))
	if err != nil {
		t.Fatal(err)
	}
	follow(t, conn, func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
	fleet := poddv1.NewFleetServiceClient(conn)
	in, err := fleet.Watch(t.Context(), &poddv1.WatchRequest{Pod: "p", AfterSeq: submitted.GetSeq(), Alerts: true, Beats: true})
	if err != nil {
		t.Fatal(err)
	}
	var pods, complete, beat, caughtUp bool
	cursor := submitted.GetSeq()
	for !pods || !complete || !beat || !caughtUp {
		m, err := in.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if e := m.GetLog().GetEntry(); e != nil {
			if e.GetSeq() != cursor+1 {
				t.Errorf("entry %d follows %d", e.GetSeq(), cursor)
			}
			cursor = e.GetSeq()
		}
		pods = pods || m.GetPod().GetPod().GetName() == "p"
		complete = complete || m.GetComplete()
		beat = beat || m.GetBeat().IsValid()
		caughtUp = caughtUp || m.GetLog().GetCaughtUp().GetSeq() > submitted.GetSeq()
	}
	gone, err := fleet.Watch(t.Context(), &poddv1.WatchRequest{Pod: "nobody"})
	for err == nil {
		_, err = gone.Recv()
	}
	if status.Code(err) != codes.NotFound {
		t.Errorf("the log of no pod: %v", err)
	}
}
