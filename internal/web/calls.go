package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	poddv1 "podd/proto/podd/v1"
)

// message is any message of a call: a handler of Connect wants one type.
type message struct{ proto.Message }

// codec is protobuf's JSON.
type codec struct{}

// Name is the name in content types.
func (codec) Name() string { return "json" }

// Marshal encodes a message.
func (codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(*message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", v)
	}
	return protojson.Marshal(m.Message)
}

// Unmarshal decodes a message. Unknown fields are refused, as podd does.
func (codec) Unmarshal(data []byte, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("%T is no message", v)
	}
	if len(data) == 0 {
		return errors.New("the body is empty: send a JSON object")
	}
	return protojson.Unmarshal(data, m.Message)
}

// method is what the protocol says about a call.
type method struct {
	path    string
	stream  bool
	in, out protoreflect.MessageType
}

func methodAt(path string) (method, error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return method{}, err
	}
	m, ok := d.(protoreflect.MethodDescriptor)
	if !ok || m.IsStreamingClient() {
		return method{}, fmt.Errorf("the page cannot make the call %s", path)
	}
	in, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		return method{}, err
	}
	out, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	return method{path: path, stream: m.IsStreamingServer(), in: in, out: out}, err
}

// handler translates one call from Connect to gRPC. known learns the bearers that podd gives out.
func (m method) handler(conn grpc.ClientConnInterface, known *bearers) http.Handler {
	options := []connect.HandlerOption{
		connect.WithCodec(codec{}),
		// Nothing is decompressed: a small body stays small.
		connect.WithCompression("gzip", nil, nil),
		connect.WithReadMaxBytes(maxBody),
		connect.WithRequestInitializer(func(_ connect.Spec, v any) error {
			v.(*message).Message = m.in.New().Interface()
			return nil
		}),
	}
	if m.stream {
		return connect.NewServerStreamHandler(m.path, func(ctx context.Context, r *connect.Request[message], out *connect.ServerStream[message]) error {
			return connectError(m.pipe(outgoing(ctx, r.Header()), conn, r.Msg.Message, out))
		}, options...)
	}
	return connect.NewUnaryHandler(m.path, func(ctx context.Context, r *connect.Request[message]) (*connect.Response[message], error) {
		out := m.out.New().Interface()
		err := conn.Invoke(outgoing(ctx, r.Header()), m.path, r.Msg.Message, out)
		givenOf(ctx).judged(err)
		if err != nil {
			return nil, connectError(err)
		}
		if login, ok := out.(*poddv1.LoginResponse); ok {
			known.keep(hashOf(login.GetBearer()))
		}
		return connect.NewResponse(&message{out}), nil
	}, options...)
}

// pipe sends what podd streams.
func (m method) pipe(ctx context.Context, conn grpc.ClientConnInterface, in proto.Message, out *connect.ServerStream[message]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.path)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(in); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		next := m.out.New().Interface()
		err := stream.RecvMsg(next)
		givenOf(ctx).judged(err)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.Send(&message{next}); err != nil {
			return err
		}
	}
}

// outgoing has what podd gets of a request's headers: the bearer alone.
func outgoing(ctx context.Context, header http.Header) context.Context {
	md := metadata.MD{}
	if bearer := header.Get("Authorization"); bearer != "" {
		md.Set("authorization", bearer)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// connectError is an error of gRPC with its details.
func connectError(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	e := connect.NewError(connect.Code(s.Code()), errors.New(s.Message())) //nolint:gosec // The codes are the same, from 1 to 16.
	for _, detail := range s.Proto().GetDetails() {
		if d, err := connect.NewErrorDetail(detail); err == nil {
			e.AddDetail(d)
		}
	}
	return e
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20
