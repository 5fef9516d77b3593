package socket

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Limited is a listener that bounds the open connections. A connection over the limit
// replaces the oldest idle one, which has no call in progress or never sent anything. Only
// if all are busy, the new one is closed at once. So programs that connect and stay silent
// cannot lock other clients out.
//
// Its methods may be called from any goroutine.
type Limited struct {
	net.Listener
	most int

	mu sync.Mutex
	// open has the connections, oldest first.
	open []*Conn
}

// Limit bounds the open connections of a listener to most.
func Limit(l net.Listener, most int) *Limited { return &Limited{Listener: l, most: most} }

// Accept waits for a connection, a *Conn.
func (l *Limited) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: raw, limited: l}
		if l.admit(c) {
			return c, nil
		}
		_ = raw.Close()
	}
}

// admit makes room for a connection; false if that is impossible.
func (l *Limited) admit(c *Conn) bool {
	l.mu.Lock()
	var idle *Conn
	if len(l.open) >= l.most {
		if idle = l.oldestIdle(); idle == nil {
			l.mu.Unlock()
			return false
		}
		l.remove(idle)
	}
	l.open = append(l.open, c)
	l.mu.Unlock()
	if idle != nil {
		_ = idle.Conn.Close()
	}
	return true
}

func (l *Limited) oldestIdle() *Conn {
	for _, c := range l.open {
		if c.calls.Load() == 0 {
			return c
		}
	}
	return nil
}

// remove forgets a connection, if it is not forgotten already.
func (l *Limited) remove(c *Conn) {
	for i, other := range l.open {
		if other == c {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

// Open is the number of open connections.
func (l *Limited) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Conn is a connection of a Limited listener.
type Conn struct {
	net.Conn
	limited *Limited
	calls   atomic.Int64
}

// Begin says that a call starts on the connection, so that it is not idle; End says that
// the call has ended.
func (c *Conn) Begin() { c.calls.Add(1) }

// End is the opposite of Begin.
func (c *Conn) End() { c.calls.Add(-1) }

// Write closes the connection when it fails. gRPC then stops writing and waits for its
// reader to fail as well. If the write failed because the kernel was out of memory, the
// reader does not fail, and the client would wait for ever.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// Close closes the connection and frees its place.
func (c *Conn) Close() error {
	c.limited.mu.Lock()
	c.limited.remove(c)
	c.limited.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn is the connection's descriptor, for PeerUID.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return raw.SyscallConn()
}
