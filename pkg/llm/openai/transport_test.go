package openai_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

// countedConn counts what is written to a connection.
type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// In two writes, a request would wake the endpoint twice.
func TestRequestLeavesInOneWrite(t *testing.T) {
	var writes atomic.Int64
	c := serve(t, openai.Config{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return countedConn{conn, &writes}, err
	}}, sse("data: [DONE]\n\n"))
	if _, err := collect(t, c, `{"text":"`+strings.Repeat("x", 20_000)+`"}`); err == nil {
		t.Error("an answer without an end passes")
	}
	if n := writes.Load(); n != 1 {
		t.Errorf("the request took %d writes", n)
	}
}

// A body in parts leaves as one, with its length: some servers refuse a body without one. The
// connection that the server closed meanwhile is replaced.
func TestBodyInParts(t *testing.T) {
	var got atomic.Pointer[string]
	answer := sse("data: [DONE]\n\n")
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		said := fmt.Sprint(r.ContentLength, err, string(body))
		got.Store(&said)
		w.Header().Set("Connection", "close")
		answer(w, r)
	})
	for _, size := range []int{0, 100, 64 << 10, 1 << 20} {
		start := `{"text":"` + strings.Repeat("x", size)
		for _, err := range c.Stream(t.Context(), []byte(start), nil, []byte(`"`), []byte(`}`)) {
			if err != nil && llm.ClassOf(err) != llm.ClassCut {
				t.Fatal(err)
			}
		}
		whole := start + `"}`
		if want := fmt.Sprint(len(whole), error(nil), whole); *got.Load() != want {
			t.Errorf("%d bytes: the server read %.60s", size, *got.Load())
		}
	}
}
