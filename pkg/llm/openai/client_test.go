package openai_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

// serve starts an endpoint and a client for it.
func serve(t *testing.T, cfg openai.Config, h http.HandlerFunc) *openai.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg.BaseURL = srv.URL + "/v1"
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serveInBubble is serve for a test in a bubble: its connections are pipes.
func serveInBubble(t *testing.T, cfg openai.Config, h http.HandlerFunc) *openai.Client {
	t.Helper()
	l := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	cfg.BaseURL, cfg.Dial = "http://h.example/v1", l.dial
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		_ = srv.Close()
		<-served
	})
	return c
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// sse answers with a stream of the given text.
func sse(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

// collect reads a whole stream.
func collect(t *testing.T, c llm.Model, body string) ([]llm.Event, error) {
	t.Helper()
	var events []llm.Event
	for ev, err := range c.Stream(t.Context(), []byte(body)) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

func TestChatAnswer(t *testing.T) {
	c := serve(t, openai.Config{}, sse("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n"+
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	events, err := collect(t, c, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Event{
		llm.BlockStart{Block: 0, Kind: llm.BlockText},
		llm.BlockDelta{Block: 0, Text: "hello"},
		llm.BlockEnd{Block: 0},
		llm.End{Stop: llm.StopDone, Reason: "finish_reason stop"},
	}
	if len(events) != len(want) {
		t.Fatalf("got %v", events)
	}
	for i := range want {
		if events[i] != want[i] {
			t.Errorf("event %d: got %#v, want %#v", i, events[i], want[i])
		}
	}
	body, err := c.Body(llm.Request{Setup: item.Setup{Model: "m", Instructions: "be"}, Items: []item.Item{item.UserMessage{Text: "hi"}}})
	if err != nil || !strings.HasSuffix(string(body), `"messages":[{"role":"system","content":"be"},{"role":"user","content":"hi"}]}`) {
		t.Fatalf("%s %v", body, err)
	}
}
