package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxFrame is the largest message that a server may send, in bytes.
const maxFrame = 8 << 20

var (
	// errFrame is for a message that is too large.
	errFrame = fmt.Errorf("sent a message larger than %d MiB", maxFrame>>20)
	// errOutput and errInput are for a server that closed one of its streams, usually by
	// ending.
	errOutput = errors.New("closed its standard output")
	errInput  = errors.New("closed its standard input")
)

// broken is the first reason for which the server's side ended a conversation.
type broken struct {
	once sync.Once
	// err is set once done is closed.
	err  error
	done chan struct{}
}

func newBroken() *broken { return &broken{done: make(chan struct{})} }

// by sets the reason; only the first one counts.
func (b *broken) by(err error) {
	b.once.Do(func() {
		b.err = err
		close(b.done)
	})
}

// pipes is the connection to a server over its standard streams. Each line of its output is a
// text of the conversation; others go to noise: many programs print a greeting or a log.
type pipes struct {
	*conversation
	input  input
	output *os.File
	lines  lines
	noise  func(line string)
	// unread are messages that Read returns next.
	unread []jsonrpc.Message
}

// Read returns the next message.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(p.unread) == 0 {
		line, err := p.lines.next()
		if err != nil {
			return nil, p.ended(err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		h := p.hears(line)
		if !h.said {
			p.noise(string(line[:min(len(line), 200)]))
		}
		if h.again != nil {
			if err := p.Write(ctx, h.again); err != nil {
				return nil, err
			}
		}
		p.unread = h.messages
	}
	next := p.unread[0]
	p.unread = p.unread[1:]
	return next, nil
}

// ended records why reading ended, except by Close.
func (p *pipes) ended(err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		return io.EOF
	case errors.Is(err, io.EOF):
		p.input.broken.by(errOutput)
	default:
		p.input.broken.by(err)
	}
	return err
}

// Write writes a message.
func (p *pipes) Write(ctx context.Context, message jsonrpc.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	p.says(message)
	_, err = p.input.Write(append(text, '\n'))
	return err
}

// Close ends a Read that waits.
func (p *pipes) Close() error { return errors.Join(p.input.Close(), p.output.Close()) }

// SessionID is empty: only servers over HTTP have sessions.
func (p *pipes) SessionID() string { return "" }

// lines reads lines.
type lines struct {
	from io.Reader
	// read has unprocessed bytes. seen is how much of it is known to have no newline.
	read []byte
	seen int
}

// next returns the next line without its end. The last one may have none.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.read[l.seen:], '\n'); i >= 0 {
			line := l.read[:l.seen+i]
			l.read, l.seen = l.read[l.seen+i+1:], 0
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if l.seen = len(l.read); l.seen > maxFrame {
			return nil, errFrame
		}
		if cap(l.read)-len(l.read) < 4<<10 {
			l.read = append(make([]byte, 0, max(64<<10, 2*len(l.read))), l.read...)
		}
		n, err := l.from.Read(l.read[len(l.read):cap(l.read)])
		l.read = l.read[:len(l.read)+n]
		switch {
		case n > 0 || err == nil:
		case errors.Is(err, io.EOF) && len(l.read) > 0:
			line := l.read
			l.read, l.seen = nil, 0
			return line, nil
		default:
			return nil, err
		}
	}
}

// input is the standard input of a server. A write after the server has closed it ends the
// conversation before its output has been read to the end, so broken gets the reason.
type input struct {
	*os.File
	broken *broken
}

// Write writes a message.
func (w input) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		w.broken.by(errInput)
	}
	return n, err
}
