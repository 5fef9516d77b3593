package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// peer is a gRPC server on a real socket whose answers a test scripts. Stopped, it is
// gone like a killed podd; started again, it listens on the same path.
type peer struct {
	poddv1.UnimplementedPodServiceServer
	poddv1.UnimplementedAlertServiceServer
	poddv1.UnimplementedAdminServiceServer

	t        *testing.T
	socket   string
	server   *grpc.Server
	health   *health.Server
	served   sync.WaitGroup
	restarts sync.WaitGroup
	// heard receives what one client sends; may be nil.
	heard io.Writer

	submit func(context.Context, *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error)
	stream func(*poddv1.StreamRequest, poddv1.PodService_StreamServer) error
	create func(context.Context) error
	pod    func(context.Context) (*poddv1.GetPodResponse, error)
	alerts func(*poddv1.StreamAlertsRequest, poddv1.AlertService_StreamAlertsServer) error
	list   func(*poddv1.ListAlertsRequest) (*poddv1.ListAlertsResponse, error)
	status func(context.Context) (*poddv1.GetStatusResponse, error)
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{t: t, socket: filepath.Join(shortDir(t), "podd.sock")}
	t.Cleanup(func() {
		p.restarts.Wait()
		if p.server != nil {
			p.stop()
		}
	})
	return p
}

// shortDir is a directory whose path is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "podd") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (p *peer) start() {
	p.t.Helper()
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		p.t.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(client.MaxMessageBytes), grpc.MaxSendMsgSize(client.MaxMessageBytes))
	poddv1.RegisterPodServiceServer(s, p)
	poddv1.RegisterAlertServiceServer(s, p)
	poddv1.RegisterAdminServiceServer(s, p)
	p.health = health.NewServer()
	healthv1.RegisterHealthServer(s, p.health)
	p.server = s
	p.served.Go(func() { _ = s.Serve(tapped{l, p.heard}) })
}

// tapped copies what its connections read.
type tapped struct {
	net.Listener
	to io.Writer
}

func (t tapped) Accept() (net.Conn, error) {
	conn, err := t.Listener.Accept()
	if err != nil || t.to == nil {
		return conn, err
	}
	return tappedConn{conn, io.TeeReader(conn, t.to)}, nil
}

type tappedConn struct {
	net.Conn
	read io.Reader
}

func (c tappedConn) Read(b []byte) (int, error) { return c.read.Read(b) }

// stop cuts all connections and removes the socket.
func (p *peer) stop() {
	p.server.Stop()
	p.served.Wait()
}

// restart is a crash in the middle of a call, and podd's next start.
func (p *peer) restart(call context.Context) error {
	p.restarts.Go(func() {
		p.stop()
		p.start()
	})
	<-call.Done()
	return call.Err()
}

// client makes a client of the peer.
func (p *peer) client(change ...func(*client.Config)) *client.Client {
	p.t.Helper()
	cfg := client.Config{Socket: p.socket, RetryFor: 10 * time.Second}
	for _, f := range change {
		f(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := c.Close(); err != nil && status.Code(errors.Unwrap(err)) != codes.Canceled {
			p.t.Error(err)
		}
	})
	return c
}

func (p *peer) Submit(ctx context.Context, r *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	resp, err := p.submit(ctx, r)
	return resp, wire.ToStatus(err)
}

func (p *peer) Stream(r *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
	return wire.ToStatus(p.stream(r, out))
}

func (p *peer) GetPod(ctx context.Context, _ *poddv1.GetPodRequest) (*poddv1.GetPodResponse, error) {
	resp, err := p.pod(ctx)
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	return resp, nil
}

func (p *peer) CreatePod(ctx context.Context, _ *poddv1.CreatePodRequest) (*poddv1.CreatePodResponse, error) {
	if err := p.create(ctx); err != nil {
		return nil, wire.ToStatus(err)
	}
	return &poddv1.CreatePodResponse{Pod: &poddv1.Pod{Name: "made"}}, nil
}

func (p *peer) StreamAlerts(r *poddv1.StreamAlertsRequest, out poddv1.AlertService_StreamAlertsServer) error {
	return wire.ToStatus(p.alerts(r, out))
}

func (p *peer) ListAlerts(_ context.Context, r *poddv1.ListAlertsRequest) (*poddv1.ListAlertsResponse, error) {
	return p.list(r)
}

func (p *peer) GetStatus(ctx context.Context, _ *poddv1.GetStatusRequest) (*poddv1.GetStatusResponse, error) {
	resp, err := p.status(ctx)
	return resp, wire.ToStatus(err)
}

// alive answers GetStatus.
func alive(context.Context) (*poddv1.GetStatusResponse, error) {
	return &poddv1.GetStatusResponse{Version: "test"}, nil
}

// authorization is the metadata that a call sent.
func authorization(ctx context.Context) []string {
	md, _ := metadata.FromIncomingContext(ctx)
	return md.Get("authorization")
}

func note(seq int64) *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: &poddv1.Entry{
		Seq: seq, Kind: &poddv1.Entry_Note{Note: &poddv1.Note{Text: "n"}},
	}}}
}

func caughtUp(seq int64) *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: &poddv1.CaughtUp{Seq: seq}}}
}

// wantError checks kind and reason, and that the message is a sentence that says what to
// do.
func wantError(t *testing.T, err error, kind item.ErrorKind, reason string) *item.Error {
	t.Helper()
	e, ok := errors.AsType[*item.Error](err)
	if !ok {
		t.Fatalf("got %v (%T), want an item.Error of kind %s", err, err, kind)
	}
	if e.Kind != kind || e.Reason != reason {
		t.Fatalf("got kind %s, reason %q (%s), want %s, %q", e.Kind, e.Reason, e.Message, kind, reason)
	}
	return e
}

var errDraining = item.Errorf(item.KindUnavailable, "STOPPING", "podd is stopping: try again once it runs")
