package client

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"podd/pkg/item"
	"podd/pkg/wire"
)

// explainUnary turns a call's error into podd's vocabulary.
func (c *Client) explainUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return c.explain(ctx, next(ctx, method, req, reply, conn, opts...))
}

// explainStream does the same for a stream.
func (c *Client) explainStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := next(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return &explained{ClientStream: s, explain: func(err error) error { return c.explain(ctx, err) }}, nil
}

// explained is a stream whose errors are in podd's vocabulary; io.EOF stays.
type explained struct {
	grpc.ClientStream
	explain func(error) error
}

// SendMsg sends a message.
func (s *explained) SendMsg(m any) error { return s.explain(s.ClientStream.SendMsg(m)) }

// RecvMsg receives a message.
func (s *explained) RecvMsg(m any) error { return s.explain(s.ClientStream.RecvMsg(m)) }

// explain writes the sentence for an error of gRPC itself. podd's errors have their own.
func (c *Client) explain(ctx context.Context, err error) error {
	err = wire.FromStatus(err)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return because(err, item.KindUnavailable, "CALL_ENDED", "podd is stopping and ended the call: try again once it has restarted")
	}
	e, ok := errors.AsType[*item.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Reason == wire.ReasonUnreachable:
		if _, failed := c.dialer.state(); failed != nil {
			return failed
		}
		return notReached(e, "the connection to podd at "+c.dialer.socket+" was lost")
	case e.Kind == item.KindExhausted && e.Reason == "":
		return because(e, e.Kind, "MESSAGE_TOO_LARGE",
			"the message is larger than the limit of %d MiB: put large text in a file and refer to it", MaxMessageBytes>>20)
	case e.Kind == item.KindUnimplemented && e.Reason == "":
		return because(e, e.Kind, "UNKNOWN_CALL",
			"the running podd is older than this client and does not know this call: install the newer podd, then run podd service restart")
	}
	return err
}

func because(cause error, kind item.ErrorKind, reason, format string, args ...any) error {
	e := item.Errorf(kind, reason, format, args...)
	e.Cause = cause
	return e
}
