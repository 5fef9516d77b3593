package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
)

// carrier sends requests to a server over HTTP, with its headers and within limits.
type carrier struct {
	next    http.RoundTripper
	headers http.Header
	// ctx ends all requests.
	ctx context.Context
	// see gets each message that answers a request.
	see func(message []byte)

	mu   sync.Mutex
	last error
}

// RoundTrip sends one request.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(c.ctx, cancel)
	r = r.Clone(ctx)
	for name, values := range c.headers {
		r.Header[name] = values
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		// The outcome of a request says more than the end of a parallel stream.
		if ctx.Err() == nil && (r.Method == http.MethodPost || c.why() == nil) {
			c.failed(fmt.Errorf("cannot be reached: %w", withoutURL(err)))
		}
		stop()
		cancel()
		return nil, err
	}
	switch {
	case resp.StatusCode >= 400 && (r.Method == http.MethodPost || resp.StatusCode == http.StatusUnauthorized):
		c.failed(fmt.Errorf("answered with HTTP status %s", resp.Status))
	case r.Method == http.MethodPost:
		c.failed(nil)
	}
	body := &bounded{ReadCloser: resp.Body, done: func() { stop(); cancel() }, left: -1}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		body.left, body.over = maxFrame, func() { c.failed(errFrame) }
	}
	if r.Method == http.MethodPost {
		body.messages = &messages{stream: kind == "text/event-stream", see: c.see}
	}
	resp.Body = body
	return resp, nil
}

func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// failed records the last failure; nil records a success.
func (c *carrier) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = err
}

// why is the server's last failure.
func (c *carrier) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// bounded is the body of an answer, read up to the size limit of a message.
type bounded struct {
	io.ReadCloser
	done func()
	// left is how many bytes may follow; negative means no limit.
	left int
	over func()
	// messages gets the bytes that are read; may be nil.
	messages *messages
}

// Read fails once the limit is exceeded.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.messages != nil {
		b.messages.write(p[:n], err != nil)
	}
	if b.left < 0 {
		return n, err
	}
	if b.left -= n; b.left < 0 {
		b.left = 0
		b.over()
		return 0, errFrame
	}
	return n, err
}

// Close returns the connection.
func (b *bounded) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
