package socket

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Limited is a listener that bounds the connections that are open at once. One too
// many takes the place of the oldest that is idle: no call is under way on it, or it
// never said anything. Only where all are busy is the new one closed at once. So
// programs that connect and stay silent, however many, keep nobody out.
//
// Its methods may be called from any goroutine.
type Limited struct {
	net.Listener
	most int

	mu sync.Mutex
	// open has the connections in the order in which they came.
	open []*Conn
}

// Limit bounds the connections that a listener accepts to most.
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

// admit makes room for a connection; false when there is none.
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

// remove forgets a connection; one that is forgotten already is no matter.
func (l *Limited) remove(c *Conn) {
	for i, other := range l.open {
		if other == c {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

// Open is how many connections there are.
func (l *Limited) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Conn is a connection of a Limited.
type Conn struct {
	net.Conn
	limited *Limited
	calls   atomic.Int64
}

// Begin says that a call begins on the connection, so that it is not idle, and End
// that one has ended.
func (c *Conn) Begin() { c.calls.Add(1) }

// End is the opposite of Begin.
func (c *Conn) End() { c.calls.Add(-1) }

// Write closes the connection when it fails. gRPC writes no more then, and waits for its
// reader to fail as well, which one that the kernel had no memory to write to does not:
// its client would wait for ever.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// Close closes the connection and gives its place free.
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
