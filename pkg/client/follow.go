package client

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	"podd/pkg/item"
)

// follower reads a server stream and opens it again when it is lost.
type follower[M any] struct {
	client *Client
	// open opens the stream after what was taken so far.
	open func(context.Context) (grpc.ServerStreamingClient[M], error)
	// take handles a message; more is false if no further one is wanted.
	take func(*M) (more bool, err error)
	// ended says whether the stream may end here without an error.
	ended func() bool
	// lost, if set, is called with the reason why the stream is opened again.
	lost func(error)
}

// errEnded is the error for an endless stream that podd ended.
var errEnded = item.Errorf(item.KindUnavailable, "STREAM_ENDED", "podd closed the stream too early: try again")

// run reads until take wants no more, the stream ends, or an error is final.
func (f *follower[M]) run(ctx context.Context) error {
	r := retry{client: f.client, patient: f.client.patient}
	for {
		began := time.Now()
		got, err := f.once(ctx)
		if err == nil {
			return nil
		}
		if got || time.Since(began) > f.client.retryFor {
			r.answered()
		}
		outage := r.since.IsZero()
		if !r.worth(ctx, err) {
			return err
		}
		if outage && f.lost != nil {
			f.lost(err)
		}
		if !r.wait(ctx) {
			return err
		}
	}
}

// once reads one stream. got says that it received a message.
func (f *follower[M]) once(ctx context.Context) (got bool, err error) {
	// Cancel the stream when the consumer stops early.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	for {
		m, err := s.Recv()
		if f.ended() && err != nil {
			return got, nil
		}
		if errors.Is(err, io.EOF) {
			return got, errEnded
		}
		if err != nil {
			return got, err
		}
		got = true
		if more, err := f.take(m); err != nil || !more {
			return got, err
		}
	}
}
