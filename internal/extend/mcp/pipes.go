package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// pipes is the connection to a server over its standard streams. Each line of its output is a
// text of the conversation; others go to noise: many programs print a greeting or a log.
type pipes struct {
	*conversation
	input  input
	output *os.File
	lines  *bufio.Scanner
	noise  func(line string)
	// unread are messages that Read returns next.
	unread []jsonrpc.Message
}

// Read returns the next message.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(p.unread) == 0 {
		line, err := nextLine(p.lines)
		if err != nil {
			return nil, p.ended(err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		h := p.hears(line)
		if !h.said && p.lines.Err() == nil { // Otherwise it is what a broken read had of a message.
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
		p.input.broken(errOutput)
	default:
		p.input.broken(err)
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

// linesOf reads lines of at most maxFrame bytes.
func linesOf(from io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(from)
	s.Buffer(make([]byte, 0, 64<<10), maxFrame+2)
	return s
}

// nextLine is the next line without its end, valid until the next call. The last one may have no end.
func nextLine(s *bufio.Scanner) ([]byte, error) {
	switch {
	case s.Scan():
		return s.Bytes(), nil
	case errors.Is(s.Err(), bufio.ErrTooLong):
		return nil, errFrame
	}
	return nil, cmp.Or(s.Err(), io.EOF)
}

// input is the standard input of a server. A write after the server has closed it ends the
// conversation before its output has been read to the end, so broken gets the reason.
type input struct {
	*os.File
	broken context.CancelCauseFunc
}

// Write writes a message.
func (w input) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		w.broken(errInput)
	}
	return n, err
}
