package web

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"podd/internal/commands/confine"
)

// A parent and its child share a connection. The parent sends a setup and the child a hello,
// each with its length before it. Then the child sends a byte whenever it needs a
// connection to podd, and gets a byte: connected, which brings it, or notConnected.
const (
	askConnection = 'd'
	connected     = 'c'
	notConnected  = 'n'
	// maxFrame bounds a setup, in bytes.
	maxFrame = 1 << 20
)

// setup is what a child needs to know.
type setup struct {
	Origin string
	pair
}

// hello says that a child serves. Unfiltered is why it has no filter of system calls; empty
// if it has one.
type hello struct{ Unfiltered string }

func writeFrame(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)) //nolint:gosec // Below maxFrame.
	return err
}

func readFrame(r io.Reader, v any) error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxFrame {
		return errors.New("the frame is too long")
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Child serves the page in a process that a Parent started, until that or ctx ends. First it
// confines the process: from then on it only answers on what it has open.
func Child(ctx context.Context) error {
	l, link, err := inherited()
	if err != nil {
		return errors.New("podd web starts this process: run podd web")
	}
	defer l.Close()
	defer link.control.Close()
	var s setup
	if err := readFrame(link.control, &s); err != nil {
		return err
	}
	c := Config{Listener: l, Origin: s.Origin, Dial: link.dial}
	if s.Cert != nil {
		pair, err := tls.X509KeyPair(s.Cert, s.Key)
		if err != nil {
			return err
		}
		c.TLS = &pair
	}
	var h hello
	if err := confine.Answer(); err != nil {
		h.Unfiltered = err.Error()
	}
	if err := writeFrame(link.control, h); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel()
		link.read()
	})
	err = Serve(ctx, c)
	_ = link.control.Close()
	reading.Wait()
	return err
}

// inherited are the listener and the way to the parent: standard input and output.
func inherited() (net.Listener, *link, error) {
	l, err := net.FileListener(os.Stdin)
	if err != nil {
		return nil, nil, err
	}
	conn, err := net.FileConn(os.Stdout)
	control, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, nil, errors.Join(err, l.Close())
	}
	// Both are copies.
	_, _ = os.Stdin.Close(), os.Stdout.Close()
	return l, &link{control: control, answers: make(chan net.Conn)}, nil
}

// link is a child's way to its parent.
type link struct {
	control *net.UnixConn
	// asking is held by the one who waits for an answer.
	asking sync.Mutex
	// answers has a connection for each question, nil without one, and is closed at the end.
	answers chan net.Conn
}

var errParentGone = errors.New("podd web ends")

// dial asks for a connection to podd. The parent answers within a second.
func (l *link) dial(context.Context) (net.Conn, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	if _, err := l.control.Write([]byte{askConnection}); err != nil {
		return nil, errParentGone
	}
	conn, ok := <-l.answers
	switch {
	case !ok:
		return nil, errParentGone
	case conn == nil:
		return nil, errors.New("podd does not answer")
	}
	return conn, nil
}

// read reads answers until the parent ends or has no more of them.
func (l *link) read() {
	defer close(l.answers)
	for {
		one, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
		n, rightsLen, _, _, err := l.control.ReadMsgUnix(one, rights)
		if err != nil || n == 0 {
			return
		}
		var conn net.Conn
		if one[0] == connected {
			conn, err = received(rights[:rightsLen])
			if err != nil {
				return
			}
		}
		l.answers <- conn
	}
}

// received is the connection that came with a message.
func received(rights []byte) (net.Conn, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, errors.New("no connection came")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("no connection came")
	}
	file := os.NewFile(uintptr(fds[0]), "podd") //nolint:gosec // A descriptor.
	defer file.Close()
	return net.FileConn(file)
}
