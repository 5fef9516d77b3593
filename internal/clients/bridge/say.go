package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"podd/pkg/item"
	"podd/pkg/transcript"
	"podd/pkg/wire"
)

// The lines that the bridge writes. An id or a stream comes with exactly one of the other
// fields.

type answer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *failure        `json:"error,omitempty"`
}

type greeting struct {
	Hello hello `json:"hello"`
}

type hello struct {
	Protocol   int        `json:"protocol"`
	Version    string     `json:"version"`
	Socket     string     `json:"socket"`
	Connection connection `json:"connection"`
}

type connected struct {
	Connection connection `json:"connection"`
}

// connection says whether podd is up: its version, or the error.
type connection struct {
	Up       bool     `json:"up"`
	Podd     string   `json:"podd,omitempty"`
	APILevel int32    `json:"api_level,omitempty"`
	Error    *failure `json:"error,omitempty"`
}

type stateOf struct {
	Stream json.RawMessage `json:"stream"`
	State  state           `json:"state"`
}

// state is a pod's state and its calls that wait.
type state struct {
	Pod       json.RawMessage   `json:"pod"`
	Approvals []json.RawMessage `json:"approvals"`
}

type blocksOf struct {
	Stream json.RawMessage `json:"stream"`
	Blocks blocks          `json:"blocks"`
}

// blocks is the change of a transcript by a message. Seq is its entry, after which a client
// resumes.
type blocks struct {
	Seq item.Seq `json:"seq,string,omitempty"`
	transcript.Change
}

// blocksLine is a change as a line; nil if nothing changed.
func blocksLine(stream json.RawMessage, c transcript.Change) []byte {
	b := blocks{Change: c}
	if c.Entry != nil {
		b.Seq = c.Entry.Seq
	} else if len(c.Drop)+len(c.Put) == 0 && !c.CaughtUp {
		return nil
	}
	return lineOf(blocksOf{stream, b})
}

type ending struct {
	Stream json.RawMessage `json:"stream"`
	End    end             `json:"end"`
}

type end struct {
	Error *failure `json:"error,omitempty"`
}

// failure is an error of podd or of the bridge.
type failure struct {
	Kind    item.ErrorKind    `json:"kind"`
	Reason  string            `json:"reason"`
	Message string            `json:"message"`
	Meta    map[string]string `json:"meta,omitempty"`
}

func failureOf(err error) *failure {
	if e, ok := errors.AsType[*item.Error](err); ok {
		return &failure{Kind: e.Kind, Reason: e.Reason, Message: e.Message, Meta: e.Meta}
	}
	return &failure{Kind: item.KindOf(err), Message: err.Error()}
}

// lineOf is a value as a line.
func lineOf(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("bridge: %T has no JSON: %v", v, err)) // Raw parts are valid, the rest is plain.
	}
	return b.Bytes()
}

// streamLine is a message as podctl tail prints it, with the id of its stream. If field is
// set, the message is nested under it.
func streamLine(stream json.RawMessage, field string, m proto.Message) ([]byte, error) {
	text, err := wire.JSON(m)
	if err != nil {
		return nil, err
	}
	line := append([]byte(`{"stream":`), stream...)
	switch {
	case field != "":
		line = append(append(append(line, `,"`+field+`":`...), text...), '}')
	case string(text) != "{}":
		line = append(append(line, ','), text[1:]...)
	default:
		line = append(line, '}')
	}
	return append(line, '\n'), nil
}

// writer writes the lines.
type writer struct {
	lines chan []byte
	// ended is closed when it stops writing; err is why, if lines is not closed.
	ended chan struct{}
	err   error
}

func newWriter(out io.Writer) *writer {
	w := &writer{lines: make(chan []byte), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		for line := range w.lines {
			if _, w.err = out.Write(line); w.err != nil {
				return
			}
		}
	}()
	return w
}
