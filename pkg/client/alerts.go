package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// AlertOptions says which alerts to read.
type AlertOptions struct {
	// Pod is a name or an id; empty means all pods and the daemon itself.
	Pod string
	// After is the sequence after which alerts start; 0: all alerts.
	After int64
	// Unacked leaves out acknowledged ones.
	Unacked bool
	// Lost is as in StreamOptions.
	Lost func(error)
}

// ListAlerts yields the stored alerts, oldest first, reading them page by page. It ends at
// the first error.
func (c *Client) ListAlerts(ctx context.Context, o AlertOptions) iter.Seq2[*poddv1.Alert, error] {
	return func(yield func(*poddv1.Alert, error) bool) {
		after := o.After
		for {
			page, err := c.Alerts().ListAlerts(ctx, &poddv1.ListAlertsRequest{Pod: o.Pod, AfterSeq: after, Unacked: o.Unacked})
			if err != nil {
				yield(nil, err)
				return
			}
			before := after
			for _, a := range page.GetAlerts() {
				if !yield(a, nil) {
					return
				}
				after = max(after, a.GetSeq())
			}
			if after == before {
				return
			}
		}
	}
}

// StreamAlerts yields the stored alerts and then new ones, each once, across lost
// connections and restarts of podd (see Config.RetryFor), until an error or until the
// consumer stops.
func (c *Client) StreamAlerts(ctx context.Context, o AlertOptions) iter.Seq2[*poddv1.Alert, error] {
	return func(yield func(*poddv1.Alert, error) bool) {
		after := o.After
		f := follower[poddv1.StreamAlertsResponse]{
			client: c,
			open: func(ctx context.Context) (grpc.ServerStreamingClient[poddv1.StreamAlertsResponse], error) {
				return c.Alerts().StreamAlerts(ctx, &poddv1.StreamAlertsRequest{Pod: o.Pod, AfterSeq: after, Unacked: o.Unacked})
			},
			take: func(m *poddv1.StreamAlertsResponse) (bool, error) {
				after = max(after, m.GetAlert().GetSeq())
				return yield(m.GetAlert(), nil), nil
			},
			ended: func() bool { return false },
			lost:  o.Lost,
		}
		if err := f.run(ctx); err != nil {
			yield(nil, err)
		}
	}
}
