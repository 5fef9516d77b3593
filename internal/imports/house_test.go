package imports_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/imports"
	"podd/internal/imports/sessions"
	"podd/internal/spec"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is a podd with the wing, at a socket. Its models, one for each API, answer "said: " and the last message.
type house struct {
	t     *testing.T
	host  *pod.Host
	store store.Store
	model *scripted.Server
	conn  *grpc.ClientConn
}

func newHouse(t *testing.T, api string, redactor tool.Redactor) *house {
	t.Helper()
	dir := t.TempDir()
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("said: " + r.LastUser()))
	}})
	check(t, err)
	t.Cleanup(func() { check(t, model.Close()) })
	var client interface {
		llm.Model
		Close()
	}
	if client, err = openai.New(openai.Config{BaseURL: model.URL(), API: api}); api == "messages" {
		client, err = anthropic.New(anthropic.Config{BaseURL: model.URL()})
	}
	check(t, err)
	t.Cleanup(client.Close)
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
	check(t, err)
	w, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(dir, "spool")}, workspace.Settings{BaseInstructions: "none"})
	check(t, err)
	host, err := pod.NewHost(context.Background(), pod.Config{
		Fixed:    pod.Fixed{Store: s, Workspaces: w},
		Settings: pod.Settings{Router: llm.One(client), Model: item.ModelRef{Model: "m"}},
	})
	check(t, err)
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	check(t, err)
	g := grpc.NewServer(grpc.MaxRecvMsgSize(16<<20), grpc.StreamInterceptor(func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		return wire.ToStatus(handle(srv, ss))
	}))
	imports.Open(imports.Config{Host: host, Redactor: redactor}).Register(g)
	check(t, host.Recover(t.Context()))
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	t.Cleanup(func() {
		check(t, conn.Close())
		g.Stop()
		check(t, <-served)
		host.Close(context.Background())
		w.Close()
		check(t, s.Close())
	})
	return &house{t, host, s, model, conn}
}

// send imports a session as podctl does.
func (h *house) send(s *sessions.Session, change func(*poddv1.ImportedSession)) (*poddv1.ImportSessionResponse, error) {
	h.t.Helper()
	stream, err := poddv1.NewImportServiceClient(h.conn).ImportSession(h.t.Context())
	check(h.t, err)
	to := &poddv1.ImportedSession{Agent: s.Agent, Id: s.ID, File: s.File, Title: s.Title, Dir: h.t.TempDir()}
	if change != nil {
		change(to)
	}
	err = stream.Send(&poddv1.ImportSessionRequest{Kind: &poddv1.ImportSessionRequest_Session{Session: to}})
	for i := 0; i < len(s.Items) && err == nil; i++ {
		it := s.Items[i]
		err = stream.Send(&poddv1.ImportSessionRequest{Kind: &poddv1.ImportSessionRequest_Item{Item: &poddv1.ImportedItem{
			Record: it.Record, Time: timestamppb.New(it.Time), Item: wire.ItemToProto(it.Item), Images: it.Images,
			Synthetic: it.Synthetic, Joined: it.Joined, Keeps: it.Keeps,
		}}})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		h.t.Fatal(err)
	}
	resp, err := stream.CloseAndRecv()
	return resp, wire.FromStatus(err)
}

// log is the log of a pod, which the checker has nothing against.
func (h *house) log(id string) (log []item.Entry) {
	h.t.Helper()
	found, err := spec.Pod(h.t.Context(), h.store, id)
	check(h.t, err)
	for _, f := range found {
		h.t.Errorf("%v", f)
	}
	p, err := h.store.Pod(h.t.Context(), id)
	check(h.t, err)
	for at := item.Seq(0); at < p.Last; {
		records, err := h.store.Read(h.t.Context(), id, at, 0)
		check(h.t, err)
		for _, r := range records {
			e, err := r.Decode()
			check(h.t, err)
			log, at = append(log, e), e.Seq
		}
	}
	return log
}

// goesOn submits to a pod, and waits for the end of the turn.
func (h *house) goesOn(id, text string) {
	h.t.Helper()
	submitted, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: id, Segments: []item.Segment{item.TextSegment{Text: text}}})
	check(h.t, err)
	for ev, err := range h.host.Logs.Stream(h.t.Context(), pod.StreamQuery{Pod: id, After: submitted.Seq, Follow: true}) {
		check(h.t, err)
		if ev.Record == nil {
			continue
		}
		e, err := wire.DecodeEntry(ev.Record.Entry)
		check(h.t, err)
		if end, ok := e.Kind.(item.TurnEnded); ok {
			if end.Outcome != item.OutcomeFinished {
				h.t.Errorf("the turn ended as %s: %s", end.Outcome, end.Cause)
			}
			return
		}
	}
}

// text is the log in a few words a line.
func text(log []item.Entry) string {
	var b strings.Builder
	for _, e := range log {
		b.WriteString(described(e.Kind))
	}
	return b.String()
}

// described is an entry in a line.
func described(k item.Kind) string {
	switch k := k.(type) {
	case item.Submitted:
		return fmt.Sprintf("submitted %s %s\n", k.RequestID, k.Text)
	case item.TurnStarted:
		return fmt.Sprintf("turn started %s\n", k.RequestIDs)
	case item.Promoted:
		return fmt.Sprintf("promoted %s\n", k.RequestIDs)
	case item.TurnEnded:
		return fmt.Sprintf("turn ended %s %d\n", k.Outcome, k.ToolCalls)
	case item.WingEntry:
		return fmt.Sprintf("wing %s %s%s\n", k.Name, k.Line, k.Data)
	case item.Compaction:
		return fmt.Sprintf("compaction up to %d %v\n", k.UpTo, k.Summary)
	case item.ItemAdded:
		switch it := k.Item.(type) {
		case item.UserMessage:
			return fmt.Sprintf("user %s (%d images)\n", it.Text, len(it.Images.List()))
		case item.AssistantMessage:
			return fmt.Sprintf("answer %s\n", it.Text)
		case item.ToolCall:
			return fmt.Sprintf("call %s %s %s\n", it.CallID, it.Name, it.Arguments)
		case item.ToolResult:
			return fmt.Sprintf("result %s %s %s [%s] [%s] %s error=%t (%d images)\n", it.CallID, it.Tool, it.Kind, it.Summary, it.Content, it.Path, it.IsError, len(it.Images.List()))
		}
	}
	return fmt.Sprintf("%T\n", k)
}
