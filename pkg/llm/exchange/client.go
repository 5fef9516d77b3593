package exchange

import (
	"context"
	"net/http"
	"sync"
)

// Wire is what an adapter knows of its API.
type Wire struct {
	// Path follows the base URL in the address of requests.
	Path string
	// DefaultModel is the endpoint's default; empty for the first that it lists.
	DefaultModel string
	// Send sends one request; body is nil for GET. The caller closes the body of a response,
	// which may come with an error.
	Send func(ctx context.Context, method, path string, body []byte) (*http.Response, error)
	// Decoder begins an answer of the endpoint.
	Decoder func(*Endpoint) Decoder
}

// Client sends requests to one endpoint. It is safe for use from many goroutines.
type Client struct {
	// Endpoint does not change.
	Endpoint  *Endpoint
	wire      Wire
	transport *http.Transport
	waits     *waits

	mu     sync.Mutex
	models modelCache
}

// New makes a client of an adapter that speaks these APIs; it does not connect. The error
// says what to change in cfg.
func New(cfg Config, wire func(*Client) Wire, apis ...string) (*Client, error) {
	e, err := cfg.validate(apis)
	if err != nil {
		return nil, err
	}
	c := &Client{Endpoint: e, transport: newTransport(e), waits: &waits{now: e.Now, held: make(map[string]*held)}}
	c.wire = wire(c)
	e.path = c.wire.Path
	return c, nil
}

// HTTP sends the requests of an SDK: it follows no redirect and bounds what it reads of
// errors.
func (c *Client) HTTP() *http.Client {
	var under http.RoundTripper = queried{c.transport, c.Endpoint.query.Encode()}
	if c.Endpoint.Transport != nil {
		under = c.Endpoint.Transport(under)
	}
	return &http.Client{
		Transport: wholeBody{boundedErrors{decompressed{under}}},
		// A redirected POST would arrive as a GET, or send the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// API is the endpoint's API.
func (c *Client) API() string { return c.Endpoint.API }

// Close closes the idle connections. It does not affect running streams.
func (c *Client) Close() { c.transport.CloseIdleConnections() }
