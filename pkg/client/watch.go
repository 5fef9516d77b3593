package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// Watch yields all pods, then Complete, and then each pod that changes. When podd went away
// and is back it begins again, with pods that have not changed too; one that is not there
// before the next Complete was deleted meanwhile. lost is as in StreamOptions.
func (c *Client) Watch(ctx context.Context, r *poddv1.WatchRequest, lost func(error)) iter.Seq2[*poddv1.WatchResponse, error] {
	return func(yield func(*poddv1.WatchResponse, error) bool) {
		f := follower[poddv1.WatchResponse]{
			client: c,
			open: func(ctx context.Context) (grpc.ServerStreamingClient[poddv1.WatchResponse], error) {
				return c.Fleet().Watch(ctx, r)
			},
			take:  func(m *poddv1.WatchResponse) (bool, error) { return yield(m, nil), nil },
			ended: func() bool { return false },
			lost:  lost,
		}
		if err := f.run(ctx); err != nil {
			yield(nil, err)
		}
	}
}
