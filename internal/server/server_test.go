package server_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"podd/internal/checkouts"
	"podd/internal/files"
	"podd/internal/letters"
	"podd/internal/server"
	"podd/internal/testing/logs"
	"podd/internal/trash"
	"podd/internal/workspace"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

const token = "s3cret"

// serve is a server on a real socket with one pod "p", whose model answers "hello".
func serve(t *testing.T) *grpc.ClientConn {
	t.Helper()
	return serveModel(t, &poddv1.PodSpec{}, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("hello"))
	})
}

// serveModel is serve with another model and further fields in the pod's spec.
func serveModel(t *testing.T, spec *poddv1.PodSpec, h scripted.Handler) *grpc.ClientConn {
	t.Helper()
	return serveWith(t, spec, h, func(*pod.Config) {})
}

// workspaces are those of a Host whose files are below state.
func workspaces(t testing.TB, state string) *workspace.Workspaces {
	t.Helper()
	all, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(state, "spool")}, workspace.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// serveWith is serveModel with a changed configuration of the Host.
func serveWith(t testing.TB, spec *poddv1.PodSpec, h scripted.Handler, change func(*pod.Config)) *grpc.ClientConn {
	t.Helper()
	state := t.TempDir()
	logs.AtEnd(t, state)
	model, err := scripted.Serve(scripted.Config{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	client, err := openai.New(openai.Config{BaseURL: model.URL()})
	if err != nil {
		t.Fatal(err)
	}
	bolt, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	config := pod.Config{
		Fixed: pod.Fixed{Store: bolt, Workspaces: workspaces(t, state)}, Settings: pod.Settings{Router: llm.One(client)},
	}
	change(&config)
	host, err := pod.NewHost(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(state, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{
		Host: host, Trash: trash.Open(trash.Config{Host: host}), Checkouts: checkouts.Open(t.Context(), checkouts.Config{Host: host}), Files: files.Open(files.Config{Host: host}), Letters: letters.Open(t.Context(), letters.Config{Host: host}), Token: token, Trust: book(t), Status: func() server.Status { return server.Status{Sandbox: "none", PID: 7} }, Logger: slog.New(slog.DiscardHandler),
	})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient("unix:"+filepath.Join(state, "s"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		host.Close(ctx)
		_ = conn.Close()
		s.Stop(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := bolt.Close(); err != nil {
			t.Error(err)
		}
		client.Close()
		_ = model.Close()
	})
	spec.Dir = t.TempDir()
	_, err = poddv1.NewPodServiceClient(conn).CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "p", Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Stopping a server before it serves is not an error, and leaves no listener behind.
func TestStoppedBeforeServing(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Token: token, Status: func() server.Status { return server.Status{} }, Logger: slog.New(slog.DiscardHandler)})
	s.Stop(t.Context())
	if err := s.Serve(l); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err == nil {
		t.Error("the listener is left open")
	}
}

func withToken(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// reason is the reason of an error's ErrorInfo.
func reason(t *testing.T, err error) string {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			if info.GetDomain() != "podd" {
				t.Errorf("domain %q", info.GetDomain())
			}
			return info.GetReason()
		}
	}
	return ""
}

// The stream sends each stored entry once, in order and unchanged, and then new ones.
func TestSubmitAndStream(t *testing.T) {
	pods := poddv1.NewPodServiceClient(serve(t))
	answer, err := pods.Submit(t.Context(), &poddv1.SubmitRequest{
		Pod: "p", RequestId: "r",
		Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "hi @./missing"}}}}, ParseRefs: true,
	})
	if err != nil || answer.GetSeq() != 1 || answer.GetRequestId() != "r" || answer.GetDuplicate() || len(answer.GetAlerts()) != 1 {
		t.Fatalf("answer %v, %v", answer, err)
	}
	stream, err := pods.Stream(t.Context(), &poddv1.StreamRequest{Pod: "p", Follow: true, Deltas: true})
	if err != nil {
		t.Fatal(err)
	}
	var seq int64
	text := ""
	for {
		r, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		e := r.GetEntry()
		if e == nil {
			continue
		}
		if seq++; e.GetSeq() != seq || e.GetTime() == nil {
			t.Fatalf("entry %v after %d", e, seq-1)
		}
		if m := e.GetItem().GetAssistantMessage(); m != nil {
			text = m.GetText()
		}
		if end := e.GetTurnEnded(); end != nil {
			if end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED || text != "hello" {
				t.Errorf("end %v, text %q", end, text)
			}
			break
		}
	}
	again, err := pods.Stream(t.Context(), &poddv1.StreamRequest{Pod: "p", AfterSeq: seq - 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		r, err := again.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Fields(r.String())[0])
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "entry:") || !strings.HasPrefix(got[1], "caught_up:") {
		t.Errorf("without follow: %v", got)
	}
}

// Calls that change policy need the client token; a wrong one is refused.
func TestClientToken(t *testing.T) {
	conn := serve(t)
	pods, admin := poddv1.NewPodServiceClient(conn), poddv1.NewAdminServiceClient(conn)
	approvals, servers := poddv1.NewApprovalServiceClient(conn), poddv1.NewMcpServiceClient(conn)
	calls := map[string]func(context.Context) error{
		"CreatePod": func(ctx context.Context) error {
			_, err := pods.CreatePod(ctx, &poddv1.CreatePodRequest{Name: "q"})
			return err
		},
		"UpdatePod": func(ctx context.Context) error {
			_, err := pods.UpdatePod(ctx, &poddv1.UpdatePodRequest{})
			return err
		},
		"ResolveApproval": func(ctx context.Context) error {
			_, err := approvals.ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{})
			return err
		},
		"Reload": func(ctx context.Context) error {
			_, err := admin.Reload(ctx, &poddv1.ReloadRequest{})
			return err
		},
		"TrustDir": func(ctx context.Context) error {
			_, err := admin.TrustDir(ctx, &poddv1.TrustDirRequest{})
			return err
		},
		"TestMcpServer": func(ctx context.Context) error {
			_, err := servers.TestMcpServer(ctx, &poddv1.TestMcpServerRequest{})
			return err
		},
		"LoginMcpServer": func(ctx context.Context) error {
			s, err := servers.LoginMcpServer(ctx, &poddv1.LoginMcpServerRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		},
		"AnswerMcpLogin": func(ctx context.Context) error {
			_, err := servers.AnswerMcpLogin(ctx, &poddv1.AnswerMcpLoginRequest{})
			return err
		},
		"LogoutMcpServer": func(ctx context.Context) error {
			_, err := servers.LogoutMcpServer(ctx, &poddv1.LogoutMcpServerRequest{})
			return err
		},
		"AcceptMcpTools": func(ctx context.Context) error {
			_, err := servers.AcceptMcpTools(ctx, &poddv1.AcceptMcpToolsRequest{})
			return err
		},
		"Backup": func(ctx context.Context) error {
			s, err := admin.Backup(ctx, &poddv1.BackupRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		},
	}
	for name, call := range calls {
		for _, shown := range []string{"", "Bearer wrong", token} {
			ctx := t.Context()
			if shown != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", shown)
			}
			if err := call(ctx); status.Code(err) != codes.Unauthenticated || reason(t, err) != "CLIENT_TOKEN" {
				t.Errorf("%s with %q: %v", name, shown, err)
			}
		}
		if err := call(withToken(t.Context())); status.Code(err) == codes.Unauthenticated {
			t.Errorf("%s with the token: %v", name, err)
		}
	}
}

// CompletePath is open to every client and completes the text after an @.
func TestCompletePath(t *testing.T) {
	pods := poddv1.NewPodServiceClient(serve(t))
	p, err := pods.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.go", "make it.sh", "other"} {
		if err := os.WriteFile(filepath.Join(p.GetPod().GetSpec().GetDir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		req  *poddv1.CompletePathRequest
		want []string
	}{
		{&poddv1.CompletePathRequest{Pod: "p", Prefix: "ma"}, []string{"main.go", `"make it.sh"`}},
		{&poddv1.CompletePathRequest{Pod: "p", Prefix: "ma", Limit: 1}, []string{"main.go"}},
		{&poddv1.CompletePathRequest{Pod: "p", Prefix: "/etc/pass"}, nil},
		{&poddv1.CompletePathRequest{Pod: "p", Prefix: "mgo"}, []string{"main.go"}},
	} {
		if got, err := pods.CompletePath(t.Context(), tt.req); err != nil || !slices.Equal(got.GetPaths(), tt.want) {
			t.Errorf("%v: %q, %v; want %q", tt.req, got.GetPaths(), err, tt.want)
		}
	}
	_, err = pods.CompletePath(t.Context(), &poddv1.CompletePathRequest{Pod: "none"})
	if status.Code(err) != codes.NotFound || reason(t, err) != "POD_NOT_FOUND" {
		t.Errorf("of no pod: %v", err)
	}
}

// Every call of the API is either served or returns a sentence that it is not. A call
// that podd forgot would return the generated "method X not implemented".
func TestNothingPretends(t *testing.T) {
	conn := serve(t)
	for _, method := range unaryMethods() {
		err := conn.Invoke(withToken(t.Context()), method, &poddv1.GetPodRequest{}, &poddv1.GetPodResponse{})
		if status.Code(err) != codes.Unimplemented {
			continue
		}
		if reason(t, err) != "UNIMPLEMENTED" || !strings.Contains(status.Convert(err).Message(), "not supported by this version") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// unaryMethods are the full names of the unary calls of podd's services.
func unaryMethods() []string {
	var names []string
	for _, d := range []grpc.ServiceDesc{
		poddv1.PodService_ServiceDesc, poddv1.AlertService_ServiceDesc,
		poddv1.ApprovalService_ServiceDesc, poddv1.AdminService_ServiceDesc,
	} {
		for _, m := range d.Methods {
			names = append(names, "/"+d.ServiceName+"/"+m.MethodName)
		}
	}
	return names
}

func TestErrors(t *testing.T) {
	conn := serve(t)
	pods, alerts := poddv1.NewPodServiceClient(conn), poddv1.NewAlertServiceClient(conn)
	stream := func(r *poddv1.StreamRequest) error {
		s, err := pods.Stream(t.Context(), r)
		if err != nil {
			return err
		}
		_, err = s.Recv()
		return err
	}
	_, unknown := pods.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "unknown"})
	_, empty := pods.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p"})
	_, ack := alerts.AckAlerts(t.Context(), &poddv1.AckAlertsRequest{Seqs: []int64{99}})
	_, taken := pods.CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}})
	tests := []struct {
		name   string
		err    error
		code   codes.Code
		reason string
	}{
		{"unknown pod", unknown, codes.NotFound, "POD_NOT_FOUND"},
		{"empty prompt", empty, codes.InvalidArgument, "EMPTY_PROMPT"},
		{"unknown alert", ack, codes.NotFound, "ALERT_NOT_FOUND"},
		{"taken name", taken, codes.AlreadyExists, "POD_EXISTS"},
		{"stream of an unknown pod", stream(&poddv1.StreamRequest{Pod: "unknown"}), codes.NotFound, "POD_NOT_FOUND"},
		{"cursor in the future", stream(&poddv1.StreamRequest{Pod: "p", AfterSeq: 5, Follow: true}), codes.OutOfRange, "BEYOND_END"},
	}
	for _, tt := range tests {
		if status.Code(tt.err) != tt.code || reason(t, tt.err) != tt.reason {
			t.Errorf("%s: %v", tt.name, tt.err)
		}
	}
}

func TestStatusHealthReflection(t *testing.T) {
	conn := serve(t)
	got, err := poddv1.NewAdminServiceClient(conn).GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if err != nil || got.GetPods() != 1 || got.GetSandbox() != "none" || got.GetPid() != 7 {
		t.Errorf("status %v, %v", got, err)
	}
	h, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || h.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health %v, %v", h, err)
	}
	r, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	list, err := r.Recv()
	if err != nil || !strings.Contains(list.String(), "podd.v1.PodService") {
		t.Errorf("reflection %v, %v", list, err)
	}
	_ = r.CloseSend()
	_, _ = r.Recv()
}
