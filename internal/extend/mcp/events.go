package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// position is how far a stream has been read.
type position struct {
	// event is the last event that has an id, retry how long the server wants podd to wait
	// before it goes on.
	event string
	retry time.Duration
	// lost is an error that named no request.
	lost *jsonrpc.Error
	// again is a request that the server wants in another form.
	again *jsonrpc.Request
}

// events reads the body of an answer: one text, or a stream of events. For the answer to a call
// it ends with the answer.
func (w *web) events(resp *http.Response, at *position, id jsonrpc.ID) error {
	defer resp.Body.Close()
	from := bufio.NewReader(resp.Body)
	first, err := afterSpace(from)
	if err != nil {
		return err
	}
	take := func(text []byte) {
		h := w.take(text)
		at.again, at.lost = cmp.Or(h.again, at.again), cmp.Or(h.lost, at.lost)
	}
	if first != '{' && first != '[' {
		return at.read(from, take, func() bool { return id.IsValid() && !w.waits(id) })
	}
	text, err := io.ReadAll(io.LimitReader(from, maxFrame+1))
	if len(text) > maxFrame {
		return errFrame
	}
	take(text)
	return err
}

// read reads events until enough.
func (at *position) read(from io.Reader, take func([]byte), enough func() bool) error {
	stream, e := linesOf(from), event{id: at.event, retry: at.retry}
	for {
		line, err := nextLine(stream)
		if err == nil && len(line) > 0 {
			if e.field(line); len(e.data) > maxFrame {
				return errFrame
			}
			continue
		}
		if len(e.data) > 0 {
			take(e.data)
		}
		if err != nil {
			return err
		}
		at.event, at.retry, e.data = e.id, e.retry, e.data[:0]
		if enough() {
			return nil
		}
	}
}

// afterSpace is the first byte of a text, which stays unread.
func afterSpace(from *bufio.Reader) (byte, error) {
	for {
		b, err := from.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // The last three mark UTF-8.
		default:
			return b, from.UnreadByte()
		}
	}
}

// event is an event of a stream in the making. Its id and its pause stay for the next ones.
type event struct {
	data  []byte
	id    string
	retry time.Duration
}

// field adds a line. The name of an event means nothing: what is a message says so itself.
func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	case "id":
		e.id = string(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 24); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}
