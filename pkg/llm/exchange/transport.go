package exchange

import (
	"bytes"
	"context"
	"io"
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
		// See wholeBody. Larger bodies need further writes.
		WriteBufferSize: 32 << 10,
		// See decompressed.
		DisableCompression: true,
		// A ping finds a dead HTTP/2 connection, as TCP keep-alive does for HTTP/1.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// queried adds the query of the base URL to requests.
type queried struct {
	next  http.RoundTripper
	query string
}

// RoundTrip does the request.
func (t queried) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.query == "" {
		return t.next.RoundTrip(req)
	}
	req = req.WithContext(req.Context())
	address := *req.URL
	address.RawQuery, req.URL = t.query, &address
	return t.next.RoundTrip(req)
}

// boundedErrors limits the bodies of errors: SDKs read them whole, and lose the status if that
// fails.
type boundedErrors struct {
	next http.RoundTripper
}

// readable ends where its reader fails.
type readable struct{ io.Reader }

// Read reads.
func (r readable) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// RoundTrip does the request.
func (t boundedErrors) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil && resp.StatusCode >= 400 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{readable{io.LimitReader(resp.Body, maxErrorBody)}, resp.Body}
	}
	return resp, err
}

// wholeBody gives net/http a request's body as bytes, so that they leave with the
// headers, in one write. SDKs wrap the body; net/http then expects that it may
// block, and sends the headers first. A long body comes in parts, by the context.
type wholeBody struct {
	next http.RoundTripper
}

// RoundTrip does the request.
func (t wholeBody) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.GetBody == nil {
		return t.next.RoundTrip(req)
	}
	defer req.Body.Close()
	req = req.WithContext(req.Context())
	if parts, ok := req.Context().Value(partsKey{}).(llm.Body); ok {
		req.ContentLength = int64(parts.Len())
		req.GetBody = func() (io.ReadCloser, error) {
			unread := net.Buffers(slices.Clone(parts))
			return io.NopCloser(&unread), nil
		}
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	req.Body = body
	return t.next.RoundTrip(req)
}

// partsKey is the key of a context's value with the parts of a body.
type partsKey struct{}

// joined is the size of a body, in bytes, from which its parts are not joined: that would cost
// more than the write of the headers alone.
const joined = 64 << 10

// inParts returns what to send of a body with an SDK: all of it, or its first part, with a
// context by which wholeBody sends all parts.
func inParts(ctx context.Context, body llm.Body) (context.Context, []byte) {
	switch {
	case len(body) == 1:
		return ctx, body[0]
	case body.Len() < joined:
		return ctx, bytes.Join(body, nil)
	}
	return context.WithValue(ctx, partsKey{}, body), body[0]
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
