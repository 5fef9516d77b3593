package web_test

import (
	"context"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

var insecureOption = grpc.WithTransportCredentials(insecure.NewCredentials())

// rpc is a call of the protocol.
type rpc struct {
	path    string
	in, out protoreflect.FullName
}

// allMethods are all calls of the protocol.
func allMethods() (all []rpc) {
	protoregistry.GlobalFiles.RangeFilesByPackage("podd.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			service := f.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				all = append(all, rpc{"/" + string(service.FullName()) + "/" + string(m.Name()), m.Input().FullName(), m.Output().FullName()})
			}
		}
		return true
	})
	return all
}

func newMessage(name protoreflect.FullName) proto.Message {
	t, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		panic(err)
	}
	return t.New().Interface()
}

// has says whether the request has a field.
func (m rpc) has(field string) bool {
	return newMessage(m.in).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(field)) != nil
}

// reasonIn is the reason of an error of gRPC; empty if it has none.
func reasonIn(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// reasonOf makes a call with an empty request and returns the reason of the first answer's
// error; empty for other errors.
func (s *stage) reasonOf(conn *grpc.ClientConn, m rpc, bearer string) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	if bearer != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+bearer)
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.path)
	check(s.t, err)
	_ = stream.SendMsg(newMessage(m.in))
	_ = stream.CloseSend()
	return reasonIn(stream.RecvMsg(newMessage(m.out)))
}
