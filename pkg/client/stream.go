package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// StreamOptions says which part of a pod's log to read.
type StreamOptions struct {
	// Pod is a name or an id.
	Pod string
	// After is the sequence above which entries are wanted; 0: from the first.
	After int64
	// Follow goes on with what comes; else the stream ends once it has caught up.
	Follow bool
	// Deltas adds live fragments, with Follow.
	Deltas bool
	// Lost, if set, is told when the connection is lost and is made again, once each
	// time. It is called between two elements of the stream.
	Lost func(error)
}

// Stream reads a pod's log: each entry above After exactly once and in order, across
// lost connections and restarts of podd (see Config.RetryFor). It ends at the first
// error, after the end of the log without Follow, or when the consumer stops. A log
// that lacks an entry is an error of kind data_loss, reason STREAM_GAP.
//
// Live fragments are not kept by podd: after a loss, in_flight brings all text so
// far of what is unfinished once more, and replaces what came before; when podd
// itself was restarted, there may be none, and what was unfinished is void.
// caught_up comes once after each connection.
func (c *Client) Stream(ctx context.Context, o StreamOptions) iter.Seq2[*poddv1.StreamResponse, error] {
	return func(yield func(*poddv1.StreamResponse, error) bool) {
		at := cursor{pod: o.Pod, seq: o.After}
		caughtUp := false
		f := follower[poddv1.StreamResponse]{
			client: c,
			open: func(ctx context.Context) (grpc.ServerStreamingClient[poddv1.StreamResponse], error) {
				return c.Pods().Stream(ctx, &poddv1.StreamRequest{Pod: o.Pod, AfterSeq: at.seq, Follow: o.Follow, Deltas: o.Deltas})
			},
			take: func(m *poddv1.StreamResponse) (bool, error) {
				if e := m.GetEntry(); e != nil {
					if fresh, err := at.advance(e.GetSeq()); err != nil || !fresh {
						return true, err
					}
				}
				caughtUp = caughtUp || m.GetCaughtUp() != nil
				return yield(m, nil), nil
			},
			ended: func() bool { return caughtUp && !o.Follow },
			lost:  o.Lost,
		}
		if err := f.run(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// cursor is how far a log was read.
type cursor struct {
	pod string
	seq int64
}

// advance takes the next sequence. One that was read before is not fresh; one that
// leaves a gap is an error, save that a log read from 0 may begin anywhere.
func (k *cursor) advance(seq int64) (fresh bool, err error) {
	if seq <= k.seq {
		return false, nil
	}
	if k.seq != 0 && seq != k.seq+1 {
		return false, item.Errorf(item.KindDataLoss, "STREAM_GAP",
			"the log of pod %s goes from entry %d to entry %d: what is between them is missing; look at podd's log", k.pod, k.seq, seq)
	}
	k.seq = seq
	return true, nil
}
