package openai

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"time"

	"podd/pkg/llm"
)

// Decode reads a body as if it had come from the endpoint.
func (c *Client) Decode(ctx context.Context, contentType string, body io.Reader) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := answer{client: c, ctx: ctx, yield: yield}
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}}
		if err := a.read(ctx, resp, body); err != nil && !a.stopped {
			yield(nil, err)
		}
	}
}

// Message is one event as the stream reader gives it.
type Message struct {
	Name, Data string
	Cut        bool
}

// ReadMessages reads a stream to its end.
func ReadMessages(r io.Reader) ([]Message, error) {
	s := newSSEReader(r)
	var out []Message
	for {
		ev, err := s.next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, Message{string(ev.name), string(ev.data), ev.cut})
	}
}

// Quote encodes a JSON string.
func Quote(s string) []byte { return appendString(nil, s) }

// Wait reads how long an endpoint asks to wait.
func Wait(h http.Header, body string, now time.Time) time.Duration {
	s := readSaid([]byte(body))
	s.hint(h, now)
	return s.wait
}

// ClassOfError is the class of an error with a status, 0 for one within a stream.
func ClassOfError(status int, body string) llm.Class {
	s := readSaid([]byte(body))
	if status != 0 {
		s.status = status
	}
	s.hint(nil, time.Now())
	return classOf(s)
}

// MaxLine is the limit of a line.
const MaxLine = maxLine

// DialWith replaces how connections are made.
func (c *Client) DialWith(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.transport.DialContext = dial
}
