package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// The codes are part of the contract.
var wantCodes = map[item.ErrorKind]codes.Code{
	item.KindInvalid:         codes.InvalidArgument,
	item.KindNotFound:        codes.NotFound,
	item.KindExists:          codes.AlreadyExists,
	item.KindPrecondition:    codes.FailedPrecondition,
	item.KindExhausted:       codes.ResourceExhausted,
	item.KindOutOfRange:      codes.OutOfRange,
	item.KindUnavailable:     codes.Unavailable,
	item.KindUnauthenticated: codes.Unauthenticated,
	item.KindDenied:          codes.PermissionDenied,
	item.KindDataLoss:        codes.DataLoss,
	item.KindUnimplemented:   codes.Unimplemented,
	item.KindInternal:        codes.Internal,
}

// An error of podd reaches the client complete, except for its cause.
func TestErrorRoundTrip(t *testing.T) {
	for kind, code := range wantCodes {
		want := &item.Error{
			Kind: kind, Reason: "SOME_REASON", Message: "Entry 3 is gone; start after 10.",
			Meta: map[string]string{"first_seq": "10"}, Cause: errors.New("secret cause"),
		}
		sent := wire.ToStatus(fmt.Errorf("read: %w", want))
		if got := status.Code(sent); got != code {
			t.Errorf("%s has code %v, want %v", kind, got, code)
		}
		if text := fmt.Sprintf("%+v", status.Convert(sent).Proto()); strings.Contains(text, "secret") {
			t.Errorf("%s shows its cause: %s", kind, text)
		}
		back := wire.FromStatus(sent)
		got, ok := errors.AsType[*item.Error](back)
		if !ok {
			t.Fatalf("%s came back as %T", kind, back)
		}
		if got.Kind != want.Kind || got.Reason != want.Reason || got.Message != want.Message || !maps.Equal(got.Meta, want.Meta) {
			t.Errorf("%s came back as %#v", kind, got)
		}
		if !errors.Is(back, sent) {
			t.Errorf("%s: the status is not its cause", kind)
		}
	}
}

func TestToStatus(t *testing.T) {
	aborted := status.Error(codes.Aborted, "from gRPC")
	for name, c := range map[string]struct {
		err  error
		code codes.Code
		text string
	}{
		"plain error":      {errors.New("open /secret: EIO"), codes.Internal, "internal error in podd: see its log"},
		"cancelled":        {fmt.Errorf("secret: %w", context.Canceled), codes.Canceled, "the call was cancelled"},
		"deadline":         {fmt.Errorf("secret: %w", context.DeadlineExceeded), codes.DeadlineExceeded, "the call took longer than its deadline"},
		"status":           {aborted, codes.Aborted, "from gRPC"},
		"wrapped status":   {fmt.Errorf("secret: %w", aborted), codes.Aborted, "from gRPC"},
		"kind not known":   {item.Errorf("new", "R", "A sentence."), codes.Internal, "A sentence."},
		"invalid text":     {item.Errorf(item.KindInvalid, "R", "bad \xff name"), codes.InvalidArgument, "bad \ufffd name"},
		"cause is context": {&item.Error{Kind: item.KindUnavailable, Message: "Stopping.", Cause: context.Canceled}, codes.Unavailable, "Stopping."},
	} {
		st := status.Convert(wire.ToStatus(c.err))
		if st.Code() != c.code || st.Message() != c.text {
			t.Errorf("%s: got %v %q, want %v %q", name, st.Code(), st.Message(), c.code, c.text)
		}
	}
	if err := wire.ToStatus(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
}

// A reason or meta that is not valid text is lost; the rest of the detail arrives.
func TestToStatusCleansDetail(t *testing.T) {
	back := wire.FromStatus(wire.ToStatus(&item.Error{
		Kind: item.KindNotFound, Reason: "R\xff", Message: "Gone.", Meta: map[string]string{"path\xff": "a\xffb"},
	}))
	got, _ := errors.AsType[*item.Error](back)
	if got.Reason != "R\ufffd" || got.Meta["path\ufffd"] != "a\ufffdb" {
		t.Errorf("got %#v", got)
	}
}

func TestFromStatus(t *testing.T) {
	foreign, err := status.New(codes.NotFound, "elsewhere").WithDetails(&errdetails.ErrorInfo{Domain: "other", Reason: "R"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err    error
		kind   item.ErrorKind
		reason string
	}{
		"no detail":              {status.Error(codes.FailedPrecondition, "m"), item.KindPrecondition, ""},
		"detail of another":      {foreign.Err(), item.KindNotFound, ""},
		"a code without a kind":  {status.Error(codes.Unknown, "m"), item.KindInternal, ""},
		"connection lost":        {status.Error(codes.Unavailable, "m"), item.KindUnavailable, "UNREACHABLE"},
		"rpc not known to podd":  {status.Error(codes.Unimplemented, "m"), item.KindUnimplemented, ""},
		"message above the cap":  {status.Error(codes.ResourceExhausted, "m"), item.KindExhausted, ""},
		"podd says that it ends": {wire.ToStatus(item.Errorf(item.KindUnavailable, "DRAINING", "Stopping.")), item.KindUnavailable, "DRAINING"},
	} {
		got, ok := errors.AsType[*item.Error](wire.FromStatus(c.err))
		if !ok || got.Kind != c.kind || got.Reason != c.reason || got.Message == "" {
			t.Errorf("%s: got %#v", name, got)
		}
	}
}

// The end of a context looks the same whether the client or podd noticed it.
func TestFromStatusKeepsContextErrors(t *testing.T) {
	for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
		if got := wire.FromStatus(wire.ToStatus(want)); !errors.Is(got, want) {
			t.Errorf("%v came back as %v", want, got)
		}
	}
	for _, want := range []error{nil, io.EOF} {
		if got := wire.FromStatus(want); got != want {
			t.Errorf("%v came back as %v", want, got)
		}
	}
}

// detailServer answers GetPod with an error of podd.
type detailServer struct {
	poddv1.UnimplementedPodServiceServer
}

func (detailServer) GetPod(_ context.Context, r *poddv1.GetPodRequest) (*poddv1.GetPodResponse, error) {
	return nil, wire.ToStatus(item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "There is no pod %q.", r.GetPod()))
}

// Over a real connection: an error with its detail, a call that is not served, and a
// socket without a server.
func TestStatusOverASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	poddv1.RegisterPodServiceServer(server, detailServer{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := poddv1.NewPodServiceClient(conn)

	_, err = client.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "nn\xc3\xb6"})
	wantError(t, wire.FromStatus(err), item.KindNotFound, "POD_NOT_FOUND")
	_, err = client.ListPods(t.Context(), &poddv1.ListPodsRequest{})
	wantError(t, wire.FromStatus(err), item.KindUnimplemented, "")
	server.Stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_, err = client.GetPod(t.Context(), &poddv1.GetPodRequest{})
	wantError(t, wire.FromStatus(err), item.KindUnavailable, "UNREACHABLE")
}

func wantError(t *testing.T, err error, kind item.ErrorKind, reason string) {
	t.Helper()
	if item.KindOf(err) != kind || item.ReasonOf(err) != reason {
		t.Errorf("got %v (%s %s), want %s %s", err, item.KindOf(err), item.ReasonOf(err), kind, reason)
	}
}
