package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/transcript"
)

// What the bridge says, a line each. Exactly one of the other fields stands beside an id
// or a stream.

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

// connection says whether podd is there: which one, or why not.
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

// state is what a pod does, and its calls that wait.
type state struct {
	Pod       json.RawMessage   `json:"pod"`
	Approvals []json.RawMessage `json:"approvals"`
}

type blocksOf struct {
	Stream json.RawMessage `json:"stream"`
	Blocks blocks          `json:"blocks"`
}

// blocks is what a message changes in a transcript. Seq is its entry, which a client goes on
// behind.
type blocks struct {
	Seq item.Seq `json:"seq,string,omitempty"`
	transcript.Change
}

// blocksLine is a change as a line; nil where nothing changed.
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

// lineOf is what the bridge says as a line.
func lineOf(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("bridge: %T has no JSON: %v", v, err)) // Raw parts are valid, the rest is plain.
	}
	return b.Bytes()
}

// streamLine is a message as podctl tail prints it, with the stream that it is of.
// A field takes the place of the message's own ones.
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

// writer is the one that writes.
type writer struct {
	lines chan []byte
	// ended is closed once it writes no more; err is why, if lines is not closed.
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
