package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// Serving yields whether podd serves: first the current state, then each change. It yields
// false while podd drains. It survives lost connections like Stream; lost, which may be
// nil, is called for each loss, and Serving yields true again when podd is back.
func (c *Client) Serving(ctx context.Context, lost func(error)) iter.Seq2[bool, error] {
	return func(yield func(bool, error) bool) {
		f := follower[healthv1.HealthCheckResponse]{
			client: c,
			open: func(ctx context.Context) (grpc.ServerStreamingClient[healthv1.HealthCheckResponse], error) {
				return healthv1.NewHealthClient(c.conn).Watch(ctx, &healthv1.HealthCheckRequest{})
			},
			take: func(m *healthv1.HealthCheckResponse) (bool, error) {
				return yield(m.GetStatus() == healthv1.HealthCheckResponse_SERVING, nil), nil
			},
			ended: func() bool { return false },
			lost:  lost,
		}
		if err := f.run(ctx); err != nil {
			yield(false, err)
		}
	}
}
