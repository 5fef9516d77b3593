package openai_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

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
