package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// JobOptions says what to read of a job's output.
type JobOptions struct {
	// Pod is a name or an id.
	Pod, ID string
	// After is the mark to begin at, in bytes of the output.
	After int64
	// Follow continues with new output until the job ends.
	Follow bool
	// Lost, if set, is called once each time that the connection is lost and being restored.
	Lost func(error)
}

// ReadJob reads a job's output in parts, each byte once and in order, across lost
// connections and restarts of podd (see Config.RetryFor). It ends after the last part, at
// the first error, or when the consumer stops.
func (c *Client) ReadJob(ctx context.Context, o JobOptions) iter.Seq2[*poddv1.ReadJobResponse, error] {
	return func(yield func(*poddv1.ReadJobResponse, error) bool) {
		mark, last := o.After, false
		f := follower[poddv1.ReadJobResponse]{
			client: c,
			open: func(ctx context.Context) (grpc.ServerStreamingClient[poddv1.ReadJobResponse], error) {
				return c.Jobs().ReadJob(ctx, &poddv1.ReadJobRequest{Pod: o.Pod, Id: o.ID, After: mark, Follow: o.Follow})
			},
			take: func(m *poddv1.ReadJobResponse) (bool, error) {
				mark, last = m.GetMark(), m.GetLast()
				return yield(m, nil) && !last, nil
			},
			ended: func() bool { return last },
			lost:  o.Lost,
		}
		if err := f.run(ctx); err != nil {
			yield(nil, err)
		}
	}
}
