package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// Serving tells whether podd serves: at once, and each time that this changes. It is
// false while podd drains. Across lost connections it is as Stream; lost, which may be
// nil, is told of each loss, and true comes again when podd is back.
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
