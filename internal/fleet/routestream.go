package fleet

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// cutMethod splits "/service/method".
func cutMethod(method string) (service, name string, ok bool) {
	return strings.Cut(strings.TrimPrefix(method, "/"), "/")
}

// Stream answers a stream, here or by another node. All streams have one request.
func (f *Fleet) Stream(srv any, ss grpc.ServerStream, method string, handler grpc.StreamHandler) error {
	to := routes[method]
	if f == nil || to == here {
		return handler(srv, ss)
	}
	req, _, err := types(method)
	if err != nil {
		return err
	}
	if err := ss.RecvMsg(req); err != nil {
		return err
	}
	first := &replayed{ServerStream: ss, ctx: ss.Context(), req: req}
	pod := PodOf(req)
	if follow, ok := req.(*poddv1.StreamRequest); ok && follow.GetFollow() {
		on := &following{Fleet: f, out: &tracked{ServerStream: ss, cursor: follow.GetAfterSeq()}, req: follow}
		return on.run(srv, handler)
	}
	if pod == "" || to == thereOrHere {
		return handler(srv, first)
	}
	at, err := f.locate(ss.Context(), pod)
	switch {
	case err != nil:
		return err
	case at.Here:
		return handler(srv, first)
	case !at.Answers():
		return store.Elsewhere(pod, at.Node)
	}
	return f.relay(ss.Context(), at.Node, req, method, ss.SendMsg)
}

// relay passes on what another node sends.
func (f *Fleet) relay(ctx context.Context, n store.Node, req proto.Message, method string, send func(any) error) error {
	conn, err := f.peers.Ready(ctx, n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, err := conn.NewStream(f.outgoing(ctx), &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return theirs(n, false, err)
	}
	// An error of sending is that of receiving, too.
	if in.SendMsg(req) == nil {
		_ = in.CloseSend()
	}
	for {
		_, out, err := types(method)
		if err != nil {
			return err
		}
		err = in.RecvMsg(out)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return theirs(n, false, err)
		}
		if err := send(out); err != nil {
			return err
		}
	}
}

// Replayed is a stream whose request was read already.
func Replayed(ctx context.Context, ss grpc.ServerStream, req proto.Message) grpc.ServerStream {
	return &replayed{ServerStream: ss, ctx: ctx, req: req}
}

// replayed is a stream whose request was read.
type replayed struct {
	grpc.ServerStream
	ctx context.Context
	req proto.Message
}

// Context is that of the stream, or one that ends earlier.
func (s *replayed) Context() context.Context { return s.ctx }

// RecvMsg gives the request once.
func (s *replayed) RecvMsg(m any) error {
	if s.req == nil {
		return s.ServerStream.RecvMsg(m)
	}
	proto.Merge(m.(proto.Message), s.req)
	s.req = nil
	return nil
}

// tracked is a stream of a log that knows how far it is.
type tracked struct {
	grpc.ServerStream
	cursor   int64
	caughtUp bool
}

// SendMsg sends a message. That the log has been sent is said once.
func (s *tracked) SendMsg(m any) error {
	r := m.(*poddv1.StreamResponse)
	if raw := r.ProtoReflect().GetUnknown(); len(raw) > 0 {
		r = new(poddv1.StreamResponse)
		if err := proto.Unmarshal(raw, r); err != nil {
			return err
		}
	}
	if r.GetCaughtUp() != nil {
		if s.caughtUp {
			return nil
		}
		s.caughtUp = true
	}
	if err := s.ServerStream.SendMsg(m); err != nil {
		return err
	}
	s.cursor = max(s.cursor, r.GetEntry().GetSeq())
	return nil
}

// following follows a pod: by its node while that answers, else by the database.
type following struct {
	*Fleet
	out *tracked
	req *poddv1.StreamRequest
}

// run follows the pod wherever it moves.
func (f *following) run(srv any, handler grpc.StreamHandler) error {
	for {
		err := f.settled(srv, handler)
		if !isMoving(err) || !sleep(f.out.Context(), triesPause) {
			return err
		}
	}
}

func (f *following) settled(srv any, handler grpc.StreamHandler) error {
	ctx := f.out.Context()
	for begun := false; ; begun = true {
		at, err := f.members.Locate(ctx, f.req.GetPod())
		if err != nil && !isMoving(err) && (!begun || item.KindOf(err) != item.KindUnavailable) {
			return err
		}
		if at.Here {
			return handler(srv, f.rest(ctx))
		}
		if err == nil && f.reaches(ctx, at) {
			err = f.relay(ctx, at.Node, f.rest(ctx).req, poddv1.PodService_Stream_FullMethodName, f.out.SendMsg)
			if !passes(err) || isMoving(err) || ctx.Err() != nil {
				return err
			}
		}
		if err := f.read(ctx, srv, handler); err != nil {
			return err
		}
	}
}

// rest is the stream of what was not sent yet.
func (f *following) rest(ctx context.Context) *replayed {
	req := proto.CloneOf(f.req)
	req.AfterSeq = f.out.cursor
	return &replayed{ServerStream: f.out, ctx: ctx, req: req}
}

// passes says whether another node may answer the next time.
func passes(err error) bool {
	return item.KindOf(err) == item.KindUnavailable || item.ReasonOf(err) == store.ReasonNotOwner
}

// readFor is how long the database is followed before the pod's node is tried again, and how long
// that may take to answer.
const readFor = 200 * time.Millisecond

// reaches says whether a node can be asked now.
func (f *following) reaches(ctx context.Context, at store.Place) bool {
	if !at.Answers() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, readFor)
	defer cancel()
	_, err := f.peers.Ready(ctx, at.Node)
	return err == nil
}

// read follows the database until the pod's node can be asked.
func (f *following) read(ctx context.Context, srv any, handler grpc.StreamHandler) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for sleep(reading, readFor) {
			if at, err := f.members.Locate(reading, f.req.GetPod()); err == nil && (at.Here || f.reaches(reading, at)) {
				cancel()
			}
		}
	}()
	err := handler(srv, f.rest(reading))
	again := ctx.Err() == nil && reading.Err() != nil
	cancel()
	<-ended
	if again || item.KindOf(wire.FromStatus(err)) == item.KindUnavailable && sleep(ctx, readFor) {
		return nil
	}
	return err
}
