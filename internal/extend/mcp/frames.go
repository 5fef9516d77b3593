package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
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

// frames passes on the lines of a server's standard output that are messages. Other lines go
// to noise: many programs print a greeting or a log to standard output.
type frames struct {
	file  *os.File
	noise func(line string)
	// see gets each message.
	see func(message []byte)
	// broken gets the reason why reading ended, except Close.
	broken *broken

	// read has unprocessed bytes, line is passed on next.
	read, line []byte
	// seen is how much of read is known to have no newline.
	seen int
	err  error
}

// Read returns the next message, or a part of one.
func (f *frames) Read(p []byte) (int, error) {
	for len(f.line) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if err := f.next(); err != nil {
			f.err = io.EOF
			switch {
			case errors.Is(err, os.ErrClosed):
			case errors.Is(err, io.EOF):
				f.broken.by(errOutput)
			default:
				f.err = err
				f.broken.by(err)
			}
		}
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// next finds the next line that is a message.
func (f *frames) next() error {
	for {
		if i := bytes.IndexByte(f.read[f.seen:], '\n'); i >= 0 {
			end := f.seen + i + 1
			line := f.read[:end]
			f.read, f.seen = f.read[end:], 0
			switch trimmed := bytes.TrimSpace(line); {
			case len(trimmed) == 0:
			case isMessage(trimmed):
				f.see(trimmed)
				f.line = line
				return nil
			default:
				f.noise(string(trimmed[:min(len(trimmed), 200)]))
			}
			continue
		}
		if f.seen = len(f.read); f.seen > maxFrame {
			return errFrame
		}
		if cap(f.read)-len(f.read) < 4<<10 {
			f.read = append(make([]byte, 0, max(64<<10, 2*len(f.read))), f.read...)
		}
		n, err := f.file.Read(f.read[len(f.read):cap(f.read)])
		f.read = f.read[:len(f.read)+n]
		if n == 0 && err != nil {
			return err
		}
	}
}

// isMessage says whether a line is a message of the protocol, or a batch of them.
func isMessage(line []byte) bool {
	return (line[0] == '{' || line[0] == '[') && json.Valid(line)
}

// Close ends a Read that waits.
func (f *frames) Close() error { return f.file.Close() }

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
