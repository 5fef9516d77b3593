package notes_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	notes "podd/examples/wing"
	"podd/internal/workspace"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/transcript"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// podd is one with the wing, at a socket.
type podd struct {
	t      *testing.T
	socket string
	host   *pod.Host
	stop   func()
}

// start starts a podd on a directory. Its models are a scripted one.
func start(t *testing.T, dir string, model *openai.Client) *podd {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
	check(t, err)
	w, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(dir, "spool")}, workspace.Settings{BaseInstructions: "none"})
	check(t, err)
	host, err := pod.NewHost(context.Background(), pod.Config{
		Fixed:    pod.Fixed{Store: s, Workspaces: w},
		Settings: pod.Settings{Router: llm.One(model), Model: item.ModelRef{Model: "m"}},
	})
	check(t, err)
	p := &podd{t: t, socket: filepath.Join(dir, "s"), host: host}
	l, err := net.Listen("unix", p.socket)
	check(t, err)
	g := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		resp, err := handle(ctx, req)
		return resp, wire.ToStatus(err)
	}))
	notes.Open(notes.Config{Host: host}).Register(g)
	check(t, host.Recover(t.Context()))
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	p.stop = func() {
		g.Stop()
		check(t, <-served)
		host.Close(context.Background())
		w.Close()
		check(t, s.Close())
	}
	return p
}

// run runs the verb note, and returns what it prints.
func (p *podd) run(args ...string) (string, error) {
	p.t.Helper()
	var out strings.Builder
	cmd := notes.NewCommand(func() (*client.Client, error) { return client.New(client.Config{Socket: p.socket}) })
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(p.t.Context())
	return out.String(), err
}

// A note is in the log, in the transcript of any client and in the list, over a restart and in a fork, and no model sees it.
func TestNotes(t *testing.T) {
	server, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("hello"))
	}})
	check(t, err)
	defer func() { check(t, server.Close()) }()
	model, err := openai.New(openai.Config{BaseURL: server.URL(), API: "chat"})
	check(t, err)
	defer model.Close()

	dir := t.TempDir()
	p := start(t, dir, model)
	_, err = p.host.Create(t.Context(), "site", item.PodSpec{Dir: t.TempDir()})
	check(t, err)
	if out, err := p.run("add", "site", "the build", "is green"); err != nil || out != "wrote a note into pod site (#1)\n" {
		t.Errorf("add prints %q, %v", out, err)
	}
	if _, err := p.run("add", "site", "the build is green"); err == nil || !strings.Contains(err.Error(), "this note already, as entry #1") {
		t.Errorf("the same note: %v", err)
	}
	submitted, err := p.host.Submit(t.Context(), pod.Submit{Pod: "site", Segments: []item.Segment{item.TextSegment{Text: "go"}}})
	check(t, err)
	blocks := transcript.New(transcript.Options{})
	for ev, err := range p.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "site", Follow: true}) {
		check(t, err)
		if ev.Record == nil {
			continue
		}
		e, err := wire.DecodeEntry(ev.Record.Entry)
		check(t, err)
		blocks.Apply(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(e)}})
		if _, ended := e.Kind.(item.TurnEnded); ended && e.Seq > submitted.Seq {
			break
		}
	}
	if first := blocks.Blocks()[0]; first.Code != transcript.CodeWing || first.Text != "noted: the build is green" {
		t.Errorf("a client shows %+v", first)
	}
	if body := string(server.Requests()[0]); strings.Contains(body, "green") {
		t.Errorf("the model is sent %s", body)
	}

	p.stop()
	p = start(t, dir, model)
	defer func() { p.stop() }()
	_, err = p.host.Fork(t.Context(), "site", "copy", 0)
	check(t, err)
	_, err = p.run("add", "site", "merged")
	check(t, err)
	out, err := p.run("list", "copy")
	if first := "#1  the build is green\n"; err != nil || out != first {
		t.Errorf("the notes of the fork are %q, %v", out, err)
	} else if out, err = p.run("list", "site"); err != nil || !strings.HasPrefix(out, first) || !strings.HasSuffix(out, "  merged\n") {
		t.Errorf("the notes are %q, %v", out, err)
	}
}
