package socket_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/socket"
)

// pair is both ends of a connection.
type pair struct {
	client net.Conn
	server *socket.Conn
}

// connect makes a connection; the channel closes without a server when it was closed at
// once.
func connect(t *testing.T, l *socket.Limited, path string) (client net.Conn, server <-chan *socket.Conn) {
	t.Helper()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan *socket.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			close(accepted)
			return
		}
		accepted <- conn.(*socket.Conn)
	}()
	return client, accepted
}

// closed waits until the server has closed a connection.
func closed(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection is open: %v", err)
	}
}

// One connection too many ends the oldest idle one, or itself when none is idle.
func TestLimit(t *testing.T) {
	base := listen(t, place(t))
	l := socket.Limit(base, 2)
	var pairs []pair
	open := func() pair {
		client, server := connect(t, l, base.Path())
		t.Cleanup(func() { client.Close() })
		p := pair{client, <-server}
		pairs = append(pairs, p)
		return p
	}
	first, second := open(), open()
	first.server.Begin()
	third := open()
	closed(t, second.client)
	third.server.Begin()
	if l.Open() != 2 {
		t.Errorf("%d connections are open", l.Open())
	}

	refused, server := connect(t, l, base.Path())
	defer refused.Close()
	closed(t, refused)

	first.server.End()
	client, err := net.Dial("unix", base.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fourth := <-server
	closed(t, first.client)
	if err := fourth.Close(); err != nil || l.Open() != 1 {
		t.Errorf("%d connections are open, %v", l.Open(), err)
	}
	_ = fourth.Close()
	_ = third.server.Close()
	if l.Open() != 0 {
		t.Errorf("%d connections are open at the end", l.Open())
	}
}

// A connection that cannot be written is closed: its client notices, although reading
// still works.
func TestFailedWriteCloses(t *testing.T) {
	base := listen(t, place(t))
	l := socket.Limit(base, 1)
	client, accepted := connect(t, l, base.Path())
	defer client.Close()
	server := <-accepted
	if err := server.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Write([]byte("x")); err == nil || l.Open() != 0 {
		t.Fatalf("a write that fails: %v, %d connections are open", err, l.Open())
	}
	closed(t, client)
}

// However connections come and go, never more than the limit are open, and only its owner
// closes a busy one.
func TestLimitProperty(t *testing.T) {
	base := listen(t, place(t))
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(rt, "most")
		l := socket.Limit(base, most)
		var all []pair
		busy := map[*socket.Conn]bool{}
		defer func() {
			for _, p := range all {
				_, _ = p.client.Close(), p.server.Close()
			}
		}()
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch n := rapid.IntRange(0, 3).Draw(rt, "what"); {
			case n == 0 && len(busy) < most:
				client, server := connect(t, l, base.Path())
				all = append(all, pair{client, <-server})
			case n == 1 && len(all) > 0 && len(busy) < most-1:
				c := all[len(all)-1].server
				if _, gone := socket.PeerUID(c); gone == nil && !busy[c] {
					c.Begin()
					busy[c] = true
				}
			case n == 2 && len(all) > 0:
				c := rapid.SampledFrom(all).Draw(rt, "closed").server
				_ = c.Close()
				delete(busy, c)
			}
			if l.Open() > most {
				rt.Fatalf("%d of %d connections are open", l.Open(), most)
			}
			for c := range busy {
				if _, err := socket.PeerUID(c); err != nil {
					rt.Fatalf("a busy connection was closed: %v", err)
				}
			}
		}
	})
}
