package notes

import (
	"context"

	"google.golang.org/grpc"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// The service is written by hand, with messages that podd's protocol has, so that the protocol does not get what no podd
// serves. A wing of podd declares its service in proto/podd/v1, and generated code stands for desc.
const (
	serviceName = "podd.example.NoteService"
	addMethod   = "/" + serviceName + "/AddNote"
	listMethod  = "/" + serviceName + "/ListNotes"
)

var desc = grpc.ServiceDesc{
	ServiceName: serviceName,
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "AddNote", Handler: func(srv any, ctx context.Context, decode func(any) error, around grpc.UnaryServerInterceptor) (any, error) {
		r := &poddv1.NotifyRequest{}
		if err := decode(r); err != nil {
			return nil, err
		}
		handle := func(ctx context.Context, r any) (any, error) {
			return srv.(*Notes).addNote(ctx, r.(*poddv1.NotifyRequest))
		}
		if around == nil {
			return handle(ctx, r)
		}
		return around(ctx, r, &grpc.UnaryServerInfo{Server: srv, FullMethod: addMethod}, handle)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "ListNotes", Handler: listHandler, ServerStreams: true}},
}

// Register serves the notes.
func (w *Notes) Register(g grpc.ServiceRegistrar) { g.RegisterService(&desc, w) }

// addNote writes a note.
func (w *Notes) addNote(ctx context.Context, r *poddv1.NotifyRequest) (*poddv1.NotifyResponse, error) {
	seq, err := w.Add(ctx, r.GetPod(), r.GetText())
	if err != nil {
		return nil, err
	}
	return &poddv1.NotifyResponse{Seq: int64(seq)}, nil
}

// listNotes sends the entries of notes.
func (w *Notes) listNotes(r *poddv1.StreamRequest, s grpc.ServerStreamingServer[poddv1.Entry]) error {
	for e, err := range w.Host.Logs.Wing(s.Context(), r.GetPod(), wing) {
		if err != nil {
			return err
		}
		if err := s.Send(wire.EntryToProto(e)); err != nil {
			return err
		}
	}
	return nil
}

func listHandler(srv any, s grpc.ServerStream) error {
	r := &poddv1.StreamRequest{}
	if err := s.RecvMsg(r); err != nil {
		return err
	}
	return srv.(*Notes).listNotes(r, &grpc.GenericServerStream[poddv1.StreamRequest, poddv1.Entry]{ServerStream: s})
}

// add asks podd to write a note.
func add(ctx context.Context, c grpc.ClientConnInterface, pod, text string) (item.Seq, error) {
	resp := &poddv1.NotifyResponse{}
	err := c.Invoke(ctx, addMethod, &poddv1.NotifyRequest{Pod: pod, Text: text}, resp)
	return item.Seq(resp.GetSeq()), err
}

// list asks podd for notes. The stream is read to its end.
func list(ctx context.Context, c grpc.ClientConnInterface, pod string) (*grpc.GenericClientStream[poddv1.StreamRequest, poddv1.Entry], error) {
	s, err := c.NewStream(ctx, &desc.Streams[0], listMethod)
	if err != nil {
		return nil, err
	}
	x := &grpc.GenericClientStream[poddv1.StreamRequest, poddv1.Entry]{ClientStream: s}
	if err := x.Send(&poddv1.StreamRequest{Pod: pod}); err != nil {
		return nil, err
	}
	return x, x.CloseSend()
}
