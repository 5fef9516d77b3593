package server_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"podd/internal/checkouts"
	"podd/internal/files"
	"podd/internal/letters"
	"podd/internal/server"
	"podd/internal/trash"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// serveFor is a server without pods, for the user with the id owner, that accepts the
// given number of connections. It returns the path of its socket.
func serveFor(t *testing.T, dir string, owner, conns int) string {
	t.Helper()
	state := t.TempDir()
	model, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	bolt, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	host, err := pod.NewHost(t.Context(), pod.Config{
		Fixed: pod.Fixed{Store: bolt, Workspaces: workspaces(t, state)}, Settings: pod.Settings{Router: llm.One(model)},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := server.NewFor(server.Config{Host: host, Trash: trash.Open(trash.Config{Host: host}), Checkouts: checkouts.Open(t.Context(), checkouts.Config{Host: host}), Files: files.Open(files.Config{Host: host}), Letters: letters.Open(t.Context(), letters.Config{Host: host}), Token: token, Trust: book(t), Status: func() server.Status { return server.Status{} }, Logger: slog.New(slog.DiscardHandler)}, owner, conns)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx := context.Background()
		host.Close(ctx)
		stop, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		s.Stop(stop)
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = bolt.Close()
		model.Close()
	})
	return path
}

func dial(t *testing.T, path string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func getStatus(ctx context.Context, conn *grpc.ClientConn) error {
	_, err := poddv1.NewAdminServiceClient(conn).GetStatus(ctx, &poddv1.GetStatusRequest{})
	return err
}

// shortDir is a directory whose path is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "podd") //nolint:usetesting // t.TempDir has the test's name in it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Another user is refused with a sentence that says so, for every call and every token.
func TestAnotherUserIsRefused(t *testing.T) {
	const other = 54321
	conn := dial(t, serveFor(t, shortDir(t), other, 10))
	methods := append(unaryMethods(), "/podd.v1.PodService/Unheard", "/grpc.health.v1.Health/Check")
	for _, method := range methods {
		err := conn.Invoke(withToken(t.Context()), method, &poddv1.GetPodRequest{}, &poddv1.GetPodResponse{})
		if status.Code(err) != codes.PermissionDenied || reason(t, err) != "PEER_NOT_OURS" ||
			!strings.Contains(status.Convert(err).Message(), "serves only user 54321") {
			t.Errorf("%s: %v", method, err)
		}
	}
	stream, err := poddv1.NewPodServiceClient(conn).Stream(t.Context(), &poddv1.StreamRequest{Pod: "p"})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("stream: %v", err)
	}
}

// podd itself refuses a process of another user that reaches the socket because someone
// opened its directory by mistake.
func TestProcessOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := shortDir(t)
	path := serveFor(t, dir, os.Geteuid(), 10)
	open(t, dir, 0o755)
	open(t, path, 0o666)
	if out := asNobody(t, dir, path); !strings.Contains(out, "PermissionDenied") || !strings.Contains(out, "you are user 65534") {
		t.Errorf("another user's call: %s", out)
	}
	if err := getStatus(t.Context(), dial(t, path)); err != nil {
		t.Errorf("the owner's call: %v", err)
	}
}

func open(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// callVariable names the socket that this binary calls when the test runs it again.
const callVariable = "SERVER_TEST_CALL"

// asNobody runs this binary as another user and returns the result of its call.
func asNobody(t *testing.T, dir, path string) string {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "caller")
	if err := os.WriteFile(copied, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, copied, 0o755)
	cmd := exec.Command(copied)
	cmd.Env, cmd.Dir = []string{callVariable + "=" + path}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// Every call is in exactly one of the two lists; one in neither is refused, with the
// token too.
func TestEveryCallIsListed(t *testing.T) {
	for _, d := range []grpc.ServiceDesc{
		poddv1.PodService_ServiceDesc, poddv1.AlertService_ServiceDesc,
		poddv1.ApprovalService_ServiceDesc, poddv1.AdminService_ServiceDesc,
	} {
		var names []string
		for _, m := range d.Methods {
			names = append(names, m.MethodName)
		}
		for _, s := range d.Streams {
			names = append(names, s.StreamName)
		}
		for _, name := range names {
			if open, needsToken := server.Listed("/" + d.ServiceName + "/" + name); open == needsToken {
				t.Errorf("%s/%s: open %v, needs the token %v: list it in exactly one of openCalls and tokenCalls", d.ServiceName, name, open, needsToken)
			}
		}
	}
	conn := dial(t, serveFor(t, shortDir(t), os.Geteuid(), 10))
	for _, method := range []string{"/podd.v1.PodService/Unheard", "/grpc.channelz.v1.Channelz/GetServers", "/podd.v1.PodService/submit"} {
		err := conn.Invoke(withToken(t.Context()), method, &poddv1.GetPodRequest{}, &poddv1.GetPodResponse{})
		if status.Code(err) != codes.Unimplemented || reason(t, err) != "UNLISTED_CALL" {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// An empty token, several tokens, and a token in another form are refused.
func TestForgedTokens(t *testing.T) {
	conn := dial(t, serveFor(t, shortDir(t), os.Geteuid(), 10))
	admin := poddv1.NewAdminServiceClient(conn)
	for _, shown := range [][]string{
		{}, {""}, {"Bearer "}, {"Bearer"}, {token}, {"bearer " + token}, {"Bearer  " + token}, {"Bearer " + token + " "},
		{"Bearer " + token[:len(token)-1]}, {"Bearer " + token + "x"}, {"Basic " + token}, {"Bearer a", "Bearer b"},
	} {
		ctx := t.Context()
		for _, value := range shown {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", value)
		}
		if _, err := admin.TrustDir(ctx, &poddv1.TrustDirRequest{}); status.Code(err) != codes.Unauthenticated && len(shown) != 0 || err == nil {
			t.Errorf("%q: %v", shown, err)
		}
	}
}

// A server without a token accepts no token, least of all the empty one.
func TestNoTokenIsNoPermission(t *testing.T) {
	if server.EmptyTokenOpens() {
		t.Error("the empty token is accepted")
	}
}

// 500 connections that are silent, or send half a request, block no client, though the
// server accepts only a few at once.
func TestSilentConnections(t *testing.T) {
	path := serveFor(t, shortDir(t), os.Geteuid(), 20)
	busy := dial(t, path)
	stream, err := healthv1.NewHealthClient(busy).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			_, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		}
		if i%50 == 0 {
			if err := getStatus(t.Context(), dial(t, path)); err != nil {
				t.Fatalf("after %d silent connections: %v", i+1, err)
			}
		}
	}
	if err := getStatus(t.Context(), busy); err != nil {
		t.Errorf("a connection with a call under way was disturbed: %v", err)
	}
}

// A connection that never sends a request ends.
func TestSilentConnectionEnds(t *testing.T) {
	t.Parallel()
	path := serveFor(t, shortDir(t), os.Geteuid(), 20)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The server sends its settings and then closes the connection.
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

// Bytes that are not HTTP/2 end their own connection and no other.
func TestRandomBytes(t *testing.T) {
	path := serveFor(t, shortDir(t), os.Geteuid(), 20)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			junk := make([]byte, 64<<10)
			_, _ = rand.Read(junk)
			if i%2 == 0 {
				junk = append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"), junk...)
			}
			_, _ = io.Copy(conn, bytes.NewReader(junk))
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	all.Wait()
	if err := getStatus(t.Context(), dial(t, path)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A message above its cap and metadata above its own are refused; the connection
// continues.
func TestLargeMessages(t *testing.T) {
	conn := dial(t, serveFor(t, shortDir(t), os.Geteuid(), 20))
	pods := poddv1.NewPodServiceClient(conn)
	huge := &poddv1.GetPodRequest{Pod: strings.Repeat("x", server.MaxRequest+1)}
	if _, err := pods.GetPod(t.Context(), huge); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a huge message: %v", status.Code(err))
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-filler", strings.Repeat("x", 64<<10))
	if err := getStatus(ctx, conn); err == nil {
		t.Error("huge metadata is taken")
	}
	if err := getStatus(t.Context(), conn); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// An error quotes only a part of a long name from the client.
func TestErrorsAreBrief(t *testing.T) {
	conn := serve(t)
	_, err := poddv1.NewPodServiceClient(conn).GetPod(t.Context(), &poddv1.GetPodRequest{Pod: strings.Repeat("x", server.MaxRequest/2)})
	st := status.Convert(err)
	if st.Code() != codes.NotFound && st.Code() != codes.InvalidArgument || proto.Size(st.Proto()) > 64<<10 || !strings.HasSuffix(st.Message(), "…") {
		t.Errorf("%v: %d bytes", st.Code(), proto.Size(st.Proto()))
	}
}
