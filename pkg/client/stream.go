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
	// After is the sequence after which entries start; 0: from the first.
	After int64
	// Follow continues with new entries; otherwise the stream ends at the end of the log.
	Follow bool
	// Deltas adds live fragments, with Follow.
	Deltas bool
	// Lost, if set, is called once each time that the connection is lost and being restored,
	// between two elements of the stream.
	Lost func(error)
}

// Stream reads a pod's log: each entry above After exactly once and in order, across
// lost connections and restarts of podd (see Config.RetryFor). It ends at the first
// error, after the end of the log without Follow, or when the consumer stops. A log
// that lacks an entry is an error of kind data_loss, reason STREAM_GAP.
//
// podd does not store live fragments: after a loss, in_flight has all text so far of the
// unfinished blocks and replaces what was received before. After a restart of podd
// in_flight may be empty, and unfinished blocks are void. caught_up arrives once per
// connection.
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

// cursor is the position in a log.
type cursor struct {
	pod string
	seq int64
}

// advance takes the next sequence. A sequence that was read before is not fresh; a gap is
// an error, except that a log read from 0 may begin anywhere.
func (k *cursor) advance(seq int64) (fresh bool, err error) {
	if seq <= k.seq {
		return false, nil
	}
	if k.seq != 0 && seq != k.seq+1 {
		return false, item.Errorf(item.KindDataLoss, "STREAM_GAP",
			"the log of pod %s jumps from entry %d to entry %d: run podd check to look for damage", k.pod, k.seq, seq)
	}
	k.seq = seq
	return true, nil
}
