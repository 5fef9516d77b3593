package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"
)

// input is the editor's stream, a line at each read. The connection handles each request in a
// goroutine of its own; messages after a prompt, such as its cancel, are read only once the
// prompt is known to wait.
type input struct {
	lines *bufio.Reader
	rest  []byte

	mu   sync.Mutex
	more *sync.Cond
	// held says that the next line waits.
	held, stopped, end bool
}

// newInput is a stream whose first line waits for next.
func newInput(r io.Reader) *input {
	in := &input{lines: bufio.NewReader(r), held: true}
	in.more = sync.NewCond(&in.mu)
	return in
}

// line is the next line, or a piece of one that is longer than a message may be.
func (in *input) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := in.lines.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull || len(line) > maxMessage { //nolint:errorlint // ReadSlice returns it as it is
			if err == bufio.ErrBufferFull { //nolint:errorlint // as above
				err = nil
			}
			return line, err
		}
	}
}

// maxMessage is the longest message that the connection accepts, in bytes.
const maxMessage = 10 << 20

// isPrompt says whether the connection takes a line for a prompt.
func isPrompt(line []byte) bool {
	var message struct {
		JSONRPC string            `json:"jsonrpc"`
		ID      *json.RawMessage  `json:"id"`
		Method  string            `json:"method"`
		Error   *acp.RequestError `json:"error"`
	}
	return bytes.Contains(line, []byte(acp.AgentMethodSessionPrompt)) && json.Unmarshal(line, &message) == nil && message.Method == acp.AgentMethodSessionPrompt
}

// next lets the line behind a prompt be read.
func (in *input) next() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.held = false
	in.more.Broadcast()
}

// stop ends the reads that wait for next.
func (in *input) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
	in.more.Broadcast()
}

func (in *input) ended() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.end
}

// Read reads from one line of the editor.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest) > 0 {
		n := copy(p, in.rest)
		in.rest = in.rest[n:]
		return n, nil
	}
	in.mu.Lock()
	for in.held && !in.stopped {
		in.more.Wait()
	}
	stopped := in.stopped
	in.mu.Unlock()
	if stopped {
		return 0, io.EOF
	}
	line, err := in.line()
	in.mu.Lock()
	in.end = in.end || err != nil
	in.held = err == nil && isPrompt(line)
	in.mu.Unlock()
	n := copy(p, line)
	in.rest = line[n:]
	if n > 0 {
		err = nil
	}
	return n, err
}
