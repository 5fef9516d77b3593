package client_test

import (
	"slices"
	"testing"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func TestListAlertsAsksPageByPage(t *testing.T) {
	p := newPeer(t)
	var asked []int64
	p.list = func(r *poddv1.ListAlertsRequest) (*poddv1.ListAlertsResponse, error) {
		if r.GetPod() != "p" || !r.GetUnacked() {
			t.Errorf("asked for %v", r)
		}
		asked = append(asked, r.GetAfterSeq())
		resp := &poddv1.ListAlertsResponse{}
		for seq := r.GetAfterSeq() + 1; seq <= 7 && len(resp.GetAlerts()) < 3; seq++ {
			resp.Alerts = append(resp.Alerts, &poddv1.Alert{Seq: seq})
		}
		return resp, nil
	}
	p.start()
	var got []int64
	for a, err := range p.client().ListAlerts(t.Context(), client.AlertOptions{Pod: "p", After: 1, Unacked: true}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a.GetSeq())
	}
	if !slices.Equal(got, seqs(2, 7)) || !slices.Equal(asked, []int64{1, 4, 7}) {
		t.Errorf("got %v, asked after %v", got, asked)
	}
}

func TestStreamAlertsGoesOnWhereItWas(t *testing.T) {
	p := newPeer(t)
	connection := 0
	p.alerts = func(r *poddv1.StreamAlertsRequest, out poddv1.AlertService_StreamAlertsServer) error {
		connection++
		for seq := r.GetAfterSeq() + 1; seq <= r.GetAfterSeq()+2; seq++ {
			if err := out.Send(&poddv1.StreamAlertsResponse{Alert: &poddv1.Alert{Seq: seq}}); err != nil {
				return err
			}
		}
		switch connection {
		case 1:
			return nil // podd's shutdown ends streams
		case 2:
			return errDraining
		case 3:
			return p.restart(out.Context())
		}
		return item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "no such pod")
	}
	p.start()
	lost := 0
	var got []int64
	var last error
	stream := p.client().StreamAlerts(t.Context(), client.AlertOptions{After: 10, Lost: func(error) { lost++ }})
	for a, err := range stream {
		if last = err; err == nil {
			got = append(got, a.GetSeq())
		}
	}
	wantError(t, last, item.KindNotFound, "POD_NOT_FOUND")
	// The alert that the crash hid comes next.
	if !slices.Equal(got, seqs(11, 10+int64(len(got)))) || len(got) < 6 || lost < 2 {
		t.Errorf("got %v with %d losses told", got, lost)
	}
}
