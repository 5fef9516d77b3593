package web_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"podd/internal/checkouts"
	"podd/internal/files"
	"podd/internal/guard/devices"
	"podd/internal/guard/trust"
	"podd/internal/letters"
	"podd/internal/search"
	"podd/internal/server"
	"podd/internal/testing/logs"
	"podd/internal/trash"
	"podd/internal/triggers"
	"podd/internal/web"
	"podd/internal/web/webtest"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

const token = "s3cret"

// stage is a podd with the pod "p", and podd web beside it.
type stage struct {
	*webtest.Page
	t *testing.T
	// podd is podd's own socket.
	podd  *grpc.ClientConn
	book  *devices.Book
	host  *pod.Host
	state string
}

// newStage starts both on real sockets. podd web is a parent with a confined child or, if a
// change says so, a server in this process that lacks something.
func newStage(t *testing.T, change ...func(*web.Config)) *stage {
	t.Helper()
	state, err := os.MkdirTemp("", "web") //nolint:usetesting // A socket's path has to be short.
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	logs.AtEnd(t, state)
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		if command, ok := strings.CutPrefix(r.LastUser(), "run "); ok {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + command + `"}`})
		}
		return scripted.Say(scripted.Text("hello"))
	}})
	check(t, err)
	llms, err := openai.New(openai.Config{BaseURL: model.URL()})
	check(t, err)
	bolt, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	check(t, err)
	works, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(state, "spool"), CheckpointDir: filepath.Join(state, "checkpoints")}, workspace.Settings{})
	check(t, err)
	host, err := pod.NewHost(t.Context(), pod.Config{Fixed: pod.Fixed{Store: bolt, Workspaces: works}, Settings: pod.Settings{Router: llm.One(llms)}})
	check(t, err)
	book, err := devices.Open(state)
	check(t, err)
	trusted, err := trust.Open(state, nil, nil)
	check(t, err)
	kept := files.Open(files.Config{Host: host, Stores: works.Stores(), Alone: server.ReachesSome, Redact: strings.Clone})
	mail := letters.Open(t.Context(), letters.Config{Host: host})
	due := triggers.Open(triggers.Config{Host: host})
	s := server.New(server.Config{
		Host: host, Letters: mail, Services: []func(grpc.ServiceRegistrar){kept.Register, mail.Register, due.Register}, Trash: trash.Open(trash.Config{Host: host}), Checkouts: checkouts.Open(t.Context(), checkouts.Config{Host: host}), Files: kept, Token: token, Trust: trusted, Search: search.New(bolt), Logger: slog.New(slog.DiscardHandler),
		Status: func() server.Status { return server.Status{Sandbox: "none"} }, Devices: book, Redact: strings.Clone, Page: func() server.WebPage { return server.WebPage{} },
	})
	own, err := net.Listen("unix", filepath.Join(state, "podd.sock"))
	check(t, err)
	forWeb, err := net.Listen("unix", devices.SocketPath(state))
	check(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	origin := "http://" + tcp.Addr().String()
	serve := web.Parent{
		Listener: tcp.(*net.TCPListener), Origin: origin, Socket: devices.SocketPath(state),
		Tell: func(string) error { return nil }, Log: func(sentence string) { t.Log(sentence) },
	}.Serve
	if len(change) > 0 {
		c := web.Config{Listener: tcp, Origin: origin, Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", devices.SocketPath(state))
		}}
		for _, change := range change {
			change(&c)
		}
		serve = func(ctx context.Context) error { return web.Serve(ctx, c) }
	}
	served := make(chan error, 3)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- s.Serve(own) }()
	go func() { served <- s.ServeWeb(forWeb) }()
	go func() { served <- serve(ctx) }()
	conn, err := grpc.NewClient("unix:"+filepath.Join(state, "podd.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		host.Close(context.Background())
		_ = conn.Close()
		s.Stop(context.Background())
		for range 3 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		_, _ = bolt.Close(), tcp.Close()
		llms.Close()
		_ = model.Close()
	})
	_, err = poddv1.NewPodServiceClient(conn).CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}})
	check(t, err)
	// So that a stream of alerts sends one at once.
	host.Alerts.Raise(item.LevelWarn, "test", "an alert")
	return &stage{Page: &webtest.Page{T: t, Origin: origin}, t: t, podd: conn, book: book, host: host, state: state}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func withToken(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// terminal is podctl web pair.
func (s *stage) terminal(scope poddv1.DeviceScope) (stream poddv1.WebService_StartPairingClient, code string) {
	s.t.Helper()
	stream, err := poddv1.NewWebServiceClient(s.podd).StartPairing(withToken(s.t.Context()), &poddv1.StartPairingRequest{Scope: scope})
	check(s.t, err)
	m, err := stream.Recv()
	check(s.t, err)
	return stream, m.GetCode().GetCode()
}

// pair pairs a browser, for some pods or all: both sides show the same number.
func (s *stage) pair(scope poddv1.DeviceScope, pods ...string) *webtest.Browser {
	s.t.Helper()
	b := webtest.New(s.Page)
	b.Pair(withToken(s.t.Context()), poddv1.NewWebServiceClient(s.podd), &poddv1.StartPairingRequest{Scope: scope, Pods: pods})
	return b
}
