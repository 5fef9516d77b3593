package exchange

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
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
	drainTime = 100 * time.Millisecond
	// settleTime bounds the wait behind a complete answer for its usage, settledTime that behind
	// its usage for the end of the stream, which some endpoints do not send.
	settleTime  = 5 * time.Second
	settledTime = time.Second
	drainBytes  = 64 << 10
)

// Decoder turns the messages of a stream into events.
type Decoder interface {
	// Decode appends the events of one message, which is a JSON object or begins with
	// [DONE]. name is the event's name, if it has one.
	Decode(dst []llm.Event, name, data string) ([]llm.Event, error)
	// Whole appends the events of an answer that came as one JSON object, or of one message of
	// a stream.
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
	// kind is the answer's content type, odd the last message outside the answer.
	kind string
	odd  []byte
	// watched limits the waits for bytes; nil for an answer that was read only.
	watched *watchedBody
	// pass lets the request leave; nil for one that was read only.
	pass *pass
}

// run performs the request when the endpoint's waits allow it; it returns an error that it
// has not yielded.
func (a *answer) run() (err error) {
	e := a.endpoint
	if e.OpenAI && e.KeySource == "" {
		return &llm.Error{Class: llm.ClassNoKey, Message: "OpenAI needs a key and none is set; " + e.addKey() + ", or set " + e.setting("base_url") + " to another endpoint"}
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
	resp, err := a.client.send(httptrace.WithClientTrace(ctx, connected), http.MethodPost, e.path, a.body)
	if err != nil || resp.StatusCode >= 300 {
		return a.refused(ctx, resp, err)
	}
	defer resp.Body.Close()
	a.watched = &watchedBody{body: resp.Body, dog: dog, idle: e.IdleTimeout}
	err = a.read(ctx, resp, a.watched)
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
	if err != nil {
		return a.broken(ctx, err)
	}
	defer resp.Body.Close()
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
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

// read yields the events of a response. Its first byte says what it is, since its content type
// is often wrong: JSON, a page, or a stream.
func (a *answer) read(ctx context.Context, resp *http.Response, body io.Reader) error {
	dec := a.client.wire.Decoder(a.endpoint)
	a.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	sse := newSSEReader(flushed{a, body})
	defer sse.close()
	var err error
	switch first, failed := sse.first(); {
	case failed != nil:
		err = a.ended(ctx, dec, failed)
	case first == '<':
		return a.readPage(sse.in)
	case first == '{':
		err = a.readJSON(ctx, dec, sse.in)
	default:
		err = a.readStream(ctx, dec, sse)
	}
	a.flush()
	if err != nil {
		return err
	}
	if !dec.Complete() {
		return a.incomplete()
	}
	events, err := dec.Finish(a.events[:0])
	a.send(events)
	return err
}

// readPage is the error of a web page in place of an answer.
func (a *answer) readPage(in io.Reader) error {
	page, _ := io.ReadAll(io.LimitReader(in, maxErrorBody))
	return a.endpoint.wrongType("text/html", pageText(page))
}

// readJSON reads JSON: an answer of an endpoint that does not stream, or the messages of a
// stream without its fields.
func (a *answer) readJSON(ctx context.Context, dec Decoder, in *bufio.Reader) error {
	limited := &io.LimitedReader{R: in, N: maxWhole}
	head, _ := in.Peek(in.Buffered())
	head = bytes.Clone(head[:min(len(head), 200)])
	for values := json.NewDecoder(limited); !dec.Over() && !a.stopped; {
		var value json.RawMessage
		err := values.Decode(&value)
		_, garbage := errors.AsType[*json.SyntaxError](err)
		switch {
		case err == nil:
		case limited.N <= 0:
			return a.broken(ctx, errTooLong)
		case errors.Is(err, io.ErrUnexpectedEOF), garbage && values.InputOffset() > 0:
			return nil
		case garbage:
			return a.endpoint.notJSON(head)
		default:
			return a.ended(ctx, dec, err)
		}
		whole := dec.Complete()
		events, err := dec.Whole(a.events[:0], string(value))
		if len(events) == 0 {
			a.oddly("", value)
		}
		if err := a.take(dec, string(value), events, err); err != nil && !whole {
			return err
		}
	}
	return nil
}

// readStream reads server-sent events until the answer is over or the stream ends.
func (a *answer) readStream(ctx context.Context, dec Decoder, sse *sseReader) error {
	size := 0
	for !dec.Over() && !a.stopped {
		ev, err := sse.next()
		if err != nil {
			if err := a.ended(ctx, dec, err); err != nil {
				return err
			}
			break
		}
		data := bytes.TrimSpace(bytes.TrimPrefix(ev.data, byteOrderMark))
		if size += len(data); size > maxAnswer {
			return a.broken(ctx, errTooLong)
		}
		whole := dec.Complete()
		if err := a.message(dec, ev, data); err != nil && !whole {
			return err
		}
	}
	return a.readStray(dec, sse.stray)
}

// readStray reads the text between events: an answer or an error without the fields of a stream.
func (a *answer) readStray(dec Decoder, text []byte) error {
	if len(text) == 0 || dec.Complete() {
		return nil
	}
	if a.odd == nil {
		a.odd = bytes.Clone(text)
	}
	if a.begun || text[0] != '{' || !IsJSON(text) {
		return nil
	}
	events, err := dec.Whole(a.events[:0], string(text))
	return a.take(dec, string(text), events, err)
}

// message reads a message of a stream. One that is neither JSON nor begins so keeps the
// connection alive, or is what the endpoint says in place of the rest of the answer.
func (a *answer) message(dec Decoder, ev sseEvent, data []byte) error {
	text := string(data)
	switch {
	case text == "":
		return nil
	case strings.Contains(ev.name, "error"):
		return a.endpoint.StreamError(text)
	case text[0] == '{' && !IsJSON(data):
		if ev.cut {
			return nil
		}
		return a.endpoint.notJSON(data)
	case text[0] != '{' && !strings.HasPrefix(text, "[DONE]"):
		a.oddly(ev.name, data)
		return nil
	}
	events, err := dec.Decode(a.events[:0], ev.name, text)
	if len(events) == 0 && text[0] == '{' {
		a.oddly(ev.name, data)
	}
	return a.take(dec, text, events, err)
}

// oddly keeps a message outside the answer.
func (a *answer) oddly(name string, data []byte) {
	if !isBeat(name) && !isBeat(string(data[:min(len(data), 80)])) {
		a.odd = append(a.odd[:0], data[:min(len(data), maxErrorBody)]...)
	}
}

// take yields the events of a message. Behind a complete answer the wait is short, whatever
// arrives that adds nothing to it.
func (a *answer) take(dec Decoder, text string, events []llm.Event, err error) error {
	a.events = events[:0]
	a.collect(events)
	if len(events) > 0 {
		a.odd = nil
	}
	if w := a.watched; w != nil && dec.Complete() {
		if len(events) > 0 || !w.settling {
			w.settling, w.left = true, settleTime
		}
		if gjson.Get(text, "usage").IsObject() {
			w.left = min(w.left, settledTime)
		}
	}
	return err
}

// ended is the error of a stream without further messages; nil if the decoder knows whether the
// answer is whole.
func (a *answer) ended(ctx context.Context, dec Decoder, err error) error {
	// An error after the answer's end does not matter.
	if errors.Is(err, io.EOF) || dec.Complete() && a.ctx.Err() == nil {
		return nil
	}
	return a.broken(ctx, err)
}

// incomplete is the error of an answer without its end. What the endpoint said last beside the
// answer says why.
func (a *answer) incomplete() error {
	e, isJSON := a.endpoint, IsJSON(a.odd)
	said := readSaid(a.odd)
	said.hint(nil, e.Now())
	class, byWords := classOf(builtin().Errors, said)
	switch {
	case said.message == "" || said.message == string(a.odd) && isJSON:
		return e.CutError()
	case byWords || isJSON:
		return e.said(said, class, 0)
	case a.begun || a.kind == "" || a.kind == "text/event-stream" || a.kind == "application/json":
		return e.notJSON([]byte(said.message))
	}
	return e.wrongType(a.kind, said.message)
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
