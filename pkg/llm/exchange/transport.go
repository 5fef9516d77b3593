package exchange

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"podd/pkg/llm"
)

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 64 << 10

// newTransport makes the one transport of a Client. It keeps an idle connection for every
// pod that may work at once.
func newTransport(e *Endpoint) *http.Transport {
	proxy := e.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         e.Dial,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		MaxIdleConns:        256,
		MaxIdleConnsPerHost: 128,
		IdleConnTimeout:     90 * time.Second,
		// See reader. Larger bodies need further writes.
		WriteBufferSize: 32 << 10,
		// See decompressed.
		DisableCompression: true,
		// A ping finds a dead HTTP/2 connection, as TCP keep-alive does for HTTP/1.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// newHTTP makes what sends the requests: it follows no redirect.
func newHTTP(e *Endpoint, transport http.RoundTripper) *http.Client {
	if e.Transport != nil {
		transport = e.Transport(transport)
	}
	return &http.Client{
		Transport: decompressed{transport},
		// A redirected POST would arrive as a GET, or send the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send sends one request; body is nil for GET. The caller closes the body of the response.
func (c *Client) send(ctx context.Context, method, path string, body llm.Body) (*http.Response, error) {
	e := c.Endpoint
	address, err := e.Base.Parse(path)
	if err != nil {
		return nil, err
	}
	if len(e.query) > 0 {
		address.RawQuery = e.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(body.Len())
		req.GetBody = func() (io.ReadCloser, error) { return reader(body), nil }
		req.Body = reader(body)
	}
	// A compressed stream would arrive in lumps.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", e.UserAgent)
	maps.Copy(req.Header, c.wire.Header)
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	return c.http.Do(req)
}

// joined is the size of a body, in bytes, from which its parts are not joined: that would cost
// more than the write of the headers alone.
const joined = 64 << 10

// reader reads a body. What is in memory as a whole leaves with the headers, in one write.
func reader(body llm.Body) io.ReadCloser {
	switch {
	case len(body) == 1:
		return io.NopCloser(bytes.NewReader(body[0]))
	case body.Len() < joined:
		return io.NopCloser(bytes.NewReader(bytes.Join(body, nil)))
	}
	unread := net.Buffers(slices.Clone(body))
	return io.NopCloser(&unread)
}

// stalled is the cause of a request that a watchdog ended.
type stalled struct {
	after time.Duration
}

// Error says how long the endpoint was silent.
func (s stalled) Error() string { return "the endpoint was silent for " + s.after.String() }

// watchdog cancels a request whose endpoint is silent for too long.
type watchdog struct {
	timer  *time.Timer
	after  atomic.Int64
	cancel context.CancelCauseFunc
}

// watch derives the context of a request. At first the endpoint has to begin its answer.
func watch(ctx context.Context, first time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{cancel: cancel}
	w.after.Store(int64(first))
	w.timer = time.AfterFunc(first, func() { cancel(stalled{time.Duration(w.after.Load())}) })
	return ctx, w
}

// arm gives the endpoint d from now.
func (w *watchdog) arm(d time.Duration) {
	w.after.Store(int64(d))
	w.timer.Reset(d)
}

func (w *watchdog) close() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// watchedBody arms the watchdog only while it waits for bytes: a slow consumer is not a
// silent endpoint.
type watchedBody struct {
	body  io.Reader
	dog   *watchdog
	idle  time.Duration
	begun bool
	// settling says that left bounds all further waits together: bytes do not renew it.
	settling bool
	left     time.Duration
}

// Read reads from the body. The first read has the rest of the watchdog's first time.
func (b *watchedBody) Read(p []byte) (int, error) {
	idle := b.idle
	if b.settling {
		idle = min(idle, b.left)
	}
	if idle <= 0 {
		return 0, stalled{settleTime}
	}
	if b.begun {
		b.dog.arm(idle)
	}
	start := time.Now()
	n, err := b.body.Read(p)
	b.begun = true
	b.left -= time.Since(start)
	b.dog.timer.Stop()
	return n, err
}
