package exchange

import (
	"net/http"
	"sync"
)

// Wire is what an adapter knows of its API.
type Wire struct {
	// Path follows the base URL in the address of requests.
	Path string
	// DefaultModel is the endpoint's default; empty for the first that it lists.
	DefaultModel string
	// Header is what each request says beside Config.Headers, such as the key.
	Header http.Header
	// Decoder begins an answer of the endpoint.
	Decoder func(*Endpoint) Decoder
}

// Client sends requests to one endpoint. It is safe for use from many goroutines.
type Client struct {
	// Endpoint does not change.
	Endpoint  *Endpoint
	wire      Wire
	http      *http.Client
	transport *http.Transport
	waits     *waits

	mu     sync.Mutex
	models modelCache
}

// New makes a client of an adapter that speaks these APIs; it does not connect. The error
// says what to change in cfg.
func New(cfg Config, wire func(*Endpoint) Wire, apis ...string) (*Client, error) {
	e, err := cfg.validate(apis)
	if err != nil {
		return nil, err
	}
	c := &Client{Endpoint: e, transport: newTransport(e), waits: &waits{now: e.Now, held: make(map[string]*held)}}
	c.http = newHTTP(e, c.transport)
	c.wire = wire(e)
	e.path = c.wire.Path
	return c, nil
}

// API is the endpoint's API.
func (c *Client) API() string { return c.Endpoint.API }

// Close closes the idle connections. It does not affect running streams.
func (c *Client) Close() { c.transport.CloseIdleConnections() }
