package openai

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
	// maxWhole bounds an answer that does not stream.
	maxWhole = 16 << 20
	// maxAnswer bounds one that does, in bytes of its messages. A chunk has some
	// 300 bytes a token.
	maxAnswer = 256 << 20
	// maxItems bounds the calls or items of one answer.
	maxItems = 1024
	// drainTime and drainBytes bound the wait for the end of a body after the
	// answer is whole; a body read to its end leaves the connection in use.
	drainTime  = 100 * time.Millisecond
	drainBytes = 64 << 10
)

// decoder turns the messages of a stream into events.
type decoder interface {
	// decode appends the events of one message, which is valid JSON or begins with
	// a bracket. name is the event's, where it has one.
	decode(dst []llm.Event, name []byte, data string) ([]llm.Event, error)
	// whole appends the events of an answer that came as one JSON object.
	whole(dst []llm.Event, data string) ([]llm.Event, error)
	// over says that nothing more is to come.
	over() bool
	// complete says whether the answer is whole as it stands.
	complete() bool
	// finish appends what closes a complete answer, End last.
	finish(dst []llm.Event) ([]llm.Event, error)
}

// Stream sends a body and yields the answer's events; see llm.Model. A consumer
// that stops early loses the connection.
func (c *Client) Stream(ctx context.Context, body []byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := answer{client: c, ctx: ctx, body: body, yield: yield}
		if err := a.run(); err != nil && !a.stopped {
			yield(nil, err)
		}
	}
}

// answer is one request and what comes back.
type answer struct {
	client *Client
	ctx    context.Context
	body   []byte
	yield  func(llm.Event, error) bool
	events []llm.Event
	// sent says that there was a connection, so that the endpoint may have the request.
	sent atomic.Bool
	// begun says that an event was yielded, stopped that no other may be.
	begun, stopped bool
}

// run does the request; its error is not yet yielded.
func (a *answer) run() error {
	e := &a.client.endpoint
	if e.openAI && e.APIKey == "" {
		return &llm.Error{Class: llm.ClassNoKey, Message: "OpenAI needs a key and none is set; set OPENAI_API_KEY, or base_url to another endpoint"}
	}
	ctx, dog := watch(a.ctx, e.FirstByteTimeout)
	defer dog.close()
	start := time.Now()
	connected := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }}
	resp, err := a.client.post(httptrace.WithClientTrace(ctx, connected), a.body)
	if err != nil || resp.StatusCode >= 300 {
		return a.refused(ctx, resp, err)
	}
	defer resp.Body.Close()
	err = a.read(ctx, resp, &watchedBody{body: resp.Body, dog: dog, idle: e.IdleTimeout})
	e.Logger.DebugContext(a.ctx, "model request", "status", resp.StatusCode,
		"request_bytes", len(a.body), "duration_ms", time.Since(start).Milliseconds())
	if err == nil && resp.ProtoMajor < 2 {
		dog.arm(drainTime)
		_, _ = io.CopyN(io.Discard, resp.Body, drainBytes)
	}
	return err
}

// refused is the error of a request that got no answer.
func (a *answer) refused(ctx context.Context, resp *http.Response, err error) error {
	if resp == nil {
		return a.broken(ctx, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return a.client.endpoint.httpError(resp, text, gjson.GetBytes(a.body, "model").String())
}

// broken is the error of a connection that failed: the caller's own cause when it
// cancelled.
func (a *answer) broken(ctx context.Context, err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return a.client.endpoint.connectionError(ctx, err, a.sent.Load(), a.begun)
}

// read yields the events of a response by what its content type promises.
func (a *answer) read(ctx context.Context, resp *http.Response, body io.Reader) error {
	dec := a.client.newDecoder()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var err error
	switch kind {
	case "text/html":
		return a.client.endpoint.wrongType(kind)
	case "application/json":
		err = a.readWhole(ctx, dec, body)
	default:
		err = a.readStream(ctx, dec, body, kind)
	}
	if err != nil {
		return err
	}
	if !dec.complete() {
		return a.client.endpoint.cutError()
	}
	events, err := dec.finish(a.events[:0])
	a.send(events)
	return err
}

// readWhole reads an answer of an endpoint that does not stream.
func (a *answer) readWhole(ctx context.Context, dec decoder, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, maxWhole+1))
	switch {
	case err != nil:
		return a.broken(ctx, err)
	case len(text) > maxWhole || !isJSON(text):
		return a.client.endpoint.notJSON(text)
	}
	events, err := dec.whole(a.events[:0], string(text))
	a.send(events)
	return err
}

// readStream reads server-sent events until the answer is over or the stream ends.
func (a *answer) readStream(ctx context.Context, dec decoder, body io.Reader, kind string) error {
	sse := newSSEReader(body)
	defer sse.close()
	messages, size := 0, 0
	for !dec.over() && !a.stopped {
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
		// A list is no message of either API, "[DONE]" least.
		if data[0] != '[' && !isJSON(data) {
			if ev.cut {
				return nil
			}
			return a.client.endpoint.notJSON(data)
		}
		events, err := dec.decode(a.events[:0], ev.name, string(data))
		a.events = events[:0]
		a.send(events)
		if err != nil {
			return err
		}
	}
	return nil
}

// ended is the error of a stream that has no more messages; nil where its answer
// may be whole, which the decoder knows.
func (a *answer) ended(ctx context.Context, dec decoder, err error, messages int, kind string) error {
	if errors.Is(err, io.EOF) {
		if messages == 0 && kind != "" && kind != "text/event-stream" {
			return a.client.endpoint.wrongType(kind)
		}
		return nil
	}
	// What breaks after the answer's last word breaks nothing.
	if dec.complete() && a.ctx.Err() == nil {
		return nil
	}
	return a.broken(ctx, err)
}

// send yields events until the consumer stops.
func (a *answer) send(events []llm.Event) {
	for _, ev := range events {
		if a.stopped {
			return
		}
		a.begun = true
		a.stopped = !a.yield(ev, nil)
	}
}

func (c *Client) newDecoder() decoder {
	if c.endpoint.API == APIResponses {
		return &responsesDecoder{endpoint: &c.endpoint}
	}
	return &chatDecoder{endpoint: &c.endpoint}
}
