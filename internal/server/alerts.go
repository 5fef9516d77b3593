package server

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// alerts serves AlertService.
type alerts struct {
	poddv1.UnimplementedAlertServiceServer
	host *pod.Host
}

// ListAlerts lists stored alerts.
func (s *alerts) ListAlerts(ctx context.Context, r *poddv1.ListAlertsRequest) (*poddv1.ListAlertsResponse, error) {
	list, err := s.host.Alerts.List(ctx, pod.AlertQuery{
		Pod: r.GetPod(), Only: reaching(ctx).onlyID(ctx), After: item.Seq(r.GetAfterSeq()), Unacked: r.GetUnacked(), Limit: int(r.GetLimit()),
	})
	if err != nil {
		return nil, err
	}
	return &poddv1.ListAlertsResponse{Alerts: wire.AlertsToProto(list)}, nil
}

// StreamAlerts sends stored alerts and then new ones.
func (s *alerts) StreamAlerts(r *poddv1.StreamAlertsRequest, out poddv1.AlertService_StreamAlertsServer) error {
	ctx := out.Context()
	q := pod.AlertQuery{Pod: r.GetPod(), Only: reaching(ctx).onlyID(ctx), After: item.Seq(r.GetAfterSeq()), Unacked: r.GetUnacked()}
	for alert, err := range s.host.Alerts.Stream(ctx, q) {
		if err != nil {
			return err
		}
		if err := out.Send(&poddv1.StreamAlertsResponse{Alert: wire.AlertToProto(alert)}); err != nil {
			return err
		}
	}
	return nil
}

// AckAlerts acknowledges alerts.
func (s *alerts) AckAlerts(ctx context.Context, r *poddv1.AckAlertsRequest) (*poddv1.AckAlertsResponse, error) {
	if err := reaching(ctx).acks(ctx, r.GetSeqs()); err != nil {
		return nil, err
	}
	seqs := make([]item.Seq, len(r.GetSeqs()))
	for i, seq := range r.GetSeqs() {
		seqs[i] = item.Seq(seq)
	}
	if err := s.host.Alerts.Ack(ctx, seqs); err != nil {
		return nil, err
	}
	return &poddv1.AckAlertsResponse{}, nil
}
