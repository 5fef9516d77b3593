package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

const (
	// maxWhole bounds an answer that does not stream, in bytes.
	maxWhole = 16 << 20
	// maxAnswer bounds one that does, in bytes of its messages. A chunk has about 300 bytes
	// per token.
	maxAnswer = 256 << 20
	// MaxItems bounds the calls or items of one answer.
	MaxItems = 1024
	// drainTime and drainBytes bound the wait for the end of a body after the answer is
	// whole: a connection is reused only after its body was read to the end.
	drainTime  = 100 * time.Millisecond
	drainBytes = 64 << 10
)

// Decoder turns the messages of a stream into events.
type Decoder interface {
	// Decode appends the events of one message, which is valid JSON or begins with a
	// bracket. name is the event's name, if it has one.
	Decode(dst []llm.Event, name []byte, data string) ([]llm.Event, error)
	// Whole appends the events of an answer that came as one JSON object.
	Whole(dst []llm.Event, data string) ([]llm.Event, error)
	// Over says that the answer has no further messages.
	Over() bool
	// Complete says whether the answer is whole now.
	Complete() bool
	// Finish appends the events that close a complete answer, End last.
	Finish(dst []llm.Event) ([]llm.Event, error)
}

// Stream sends a body and yields the answer's events; see llm.Model. A consumer that
// stops early closes the connection.
func (c *Client) Stream(ctx context.Context, body ...[]byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := answer{client: c, ctx: ctx, body: body, yield: yield}
		a.endpoint = c.Endpoint.asked(a.model())
		if err := a.run(); err != nil && !a.stopped {
			yield(nil, err)
		}
	}
}

// Decode reads a body as if it had come from the endpoint. Adapters are tested with it.
func (c *Client) Decode(ctx context.Context, contentType string, body io.Reader) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := answer{client: c, endpoint: c.Endpoint, ctx: ctx, yield: yield}
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}}
		if err := a.read(ctx, resp, body); err != nil && !a.stopped {
			yield(nil, err)
		}
	}
}

// answer is one request and its answer.
type answer struct {
	client *Client
	// endpoint names the model in its errors.
	endpoint *Endpoint
	ctx      context.Context
	body     llm.Body
	yield    func(llm.Event, error) bool
	events   []llm.Event
	// text of block came with the last read and is not yielded yet.
	text  []byte
	block int
	// sent says that there was a connection, so that the endpoint may have the request.
	sent atomic.Bool
	// begun says that an event was yielded, stopped that no further one may be.
	begun, stopped bool
	// pass lets the request leave; nil for one that was read only.
	pass *pass
}

// run performs the request when the endpoint's waits allow it; it returns an error that it
// has not yielded.
func (a *answer) run() (err error) {
	e := a.endpoint
	if e.OpenAI && e.KeySource == "" {
		return &llm.Error{Class: llm.ClassNoKey, Message: "OpenAI needs a key and none is set; set " + e.keySetting() + ", or " + e.setting("base_url") + " to another endpoint"}
	}
	if a.pass, err = a.client.waits.enter(a.ctx, a.model()); err != nil {
		return err
	}
	defer func() { a.pass.ended(err) }()
	return a.exchange()
}

// model is the model that the body names in its first part.
func (a *answer) model() string {
	if len(a.body) == 0 {
		return ""
	}
	return gjson.GetBytes(a.body[0], "model").String()
}

// exchange sends the request and reads its answer.
func (a *answer) exchange() error {
	e := a.endpoint
	ctx, dog := watch(a.ctx, e.FirstByteTimeout)
	defer dog.close()
	start := time.Now()
	connected := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }}
	sending, body := inParts(httptrace.WithClientTrace(ctx, connected), a.body)
	resp, err := a.client.wire.Send(sending, http.MethodPost, e.path, body)
	if err != nil || resp.StatusCode >= 300 {
		return a.refused(ctx, resp, err)
	}
	defer resp.Body.Close()
	err = a.read(ctx, resp, &watchedBody{body: resp.Body, dog: dog, idle: e.IdleTimeout})
	e.Logger.DebugContext(a.ctx, "model request", "status", resp.StatusCode,
		"request_bytes", a.body.Len(), "duration_ms", time.Since(start).Milliseconds())
	if err == nil && resp.ProtoMajor < 2 {
		dog.arm(drainTime)
		_, _ = io.CopyN(io.Discard, resp.Body, drainBytes)
	}
	return err
}

// refused is the error of a request without an answer.
func (a *answer) refused(ctx context.Context, resp *http.Response, err error) error {
	if resp == nil {
		return a.broken(ctx, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return a.endpoint.httpError(resp, text)
}

// broken is the error of a connection that failed: the caller's own cause when it
// cancelled.
func (a *answer) broken(ctx context.Context, err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return a.endpoint.connectionError(ctx, err, a.sent.Load(), a.begun)
}

// read yields the events of a response according to its content type.
func (a *answer) read(ctx context.Context, resp *http.Response, body io.Reader) error {
	dec := a.client.wire.Decoder(a.endpoint)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var err error
	switch kind {
	case "text/html":
		return a.endpoint.wrongType(kind)
	case "application/json":
		err = a.readWhole(ctx, dec, body)
	default:
		err = a.readStream(ctx, dec, body, kind)
	}
	if err != nil {
		return err
	}
	if !dec.Complete() {
		return a.endpoint.CutError()
	}
	events, err := dec.Finish(a.events[:0])
	a.send(events)
	return err
}

// readWhole reads an answer of an endpoint that does not stream.
func (a *answer) readWhole(ctx context.Context, dec Decoder, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, maxWhole+1))
	switch {
	case err != nil:
		return a.broken(ctx, err)
	case len(text) > maxWhole || !IsJSON(text):
		return a.endpoint.notJSON(text)
	}
	events, err := dec.Whole(a.events[:0], string(text))
	a.send(events)
	return err
}

// readStream reads server-sent events until the answer is over or the stream ends.
func (a *answer) readStream(ctx context.Context, dec Decoder, body io.Reader, kind string) error {
	sse := newSSEReader(flushed{a, body})
	defer sse.close()
	defer a.flush()
	messages, size := 0, 0
	for !dec.Over() && !a.stopped {
		ev, err := sse.next()
		if err != nil {
			return a.ended(ctx, dec, err, messages, kind)
		}
		data := bytes.TrimSpace(ev.data)
		if len(data) == 0 {
			continue
		}
		messages++
		if size += len(data); size > maxAnswer {
			return a.broken(ctx, errTooLong)
		}
		// Neither API sends a list as a message. "[DONE]" is not a message either.
		if data[0] != '[' && !IsJSON(data) {
			if ev.cut {
				return nil
			}
			return a.endpoint.notJSON(data)
		}
		events, err := dec.Decode(a.events[:0], ev.name, string(data))
		a.events = events[:0]
		a.collect(events)
		if err != nil {
			return err
		}
	}
	return nil
}

// ended is the error of a stream without further messages; nil if the answer may be
// whole, which the decoder knows.
func (a *answer) ended(ctx context.Context, dec Decoder, err error, messages int, kind string) error {
	if errors.Is(err, io.EOF) {
		if messages == 0 && kind != "" && kind != "text/event-stream" {
			return a.endpoint.wrongType(kind)
		}
		return nil
	}
	// An error after the answer's end does not matter.
	if dec.Complete() && a.ctx.Err() == nil {
		return nil
	}
	return a.broken(ctx, err)
}

// flushed yields the collected text before each read, which may wait.
type flushed struct {
	a    *answer
	body io.Reader
}

func (f flushed) Read(p []byte) (int, error) {
	f.a.flush()
	return f.body.Read(p)
}

// collect yields events, but the text of a block that one read brings in one piece.
func (a *answer) collect(events []llm.Event) {
	for i, ev := range events {
		d, ok := ev.(llm.BlockDelta)
		if !ok || d.Block != a.block {
			a.flush()
		}
		if ok {
			a.text, a.block = append(a.text, d.Text...), d.Block
		} else {
			a.send(events[i : i+1])
		}
	}
}

// flush yields the collected text.
func (a *answer) flush() {
	if len(a.text) > 0 {
		a.send([]llm.Event{llm.BlockDelta{Block: a.block, Text: string(a.text)}})
		a.text = a.text[:0]
	}
}

// send yields events until the consumer stops.
func (a *answer) send(events []llm.Event) {
	for _, ev := range events {
		if a.stopped {
			return
		}
		if !a.begun && a.pass != nil {
			a.pass.answered()
		}
		a.begun = true
		a.stopped = !a.yield(ev, nil)
	}
}
