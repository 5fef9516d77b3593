package openai

import (
	"context"
	"net/http"
	"sync"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"podd/pkg/llm"
)

// Client is an llm.Model that talks to one endpoint. It is safe for use from many
// goroutines.
type Client struct {
	endpoint  endpoint
	sdk       sdk.Client
	transport *http.Transport

	mu     sync.Mutex
	models modelCache
}

var _ llm.Model = (*Client)(nil)

// New makes a client; it connects to nothing. The error says what of cfg to
// change.
func New(cfg Config) (*Client, error) {
	e, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	c := &Client{endpoint: e, transport: newTransport()}
	// The client is put together by hand because openai-go's constructor reads
	// keys, organisation, base URL and headers from the environment.
	c.sdk = sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(e.base.String()),
		option.WithHTTPClient(&http.Client{
			Transport: wholeBody{boundedErrors{c.transport}},
			// A redirected POST would arrive as a GET, or take the key elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", e.UserAgent),
	}}
	if e.APIKey != "" {
		c.sdk.Options = append(c.sdk.Options, option.WithAPIKey(e.APIKey))
	}
	for name, value := range e.Headers {
		c.sdk.Options = append(c.sdk.Options, option.WithHeader(name, value))
	}
	return c, nil
}

// API is "responses" or "chat".
func (c *Client) API() string { return c.endpoint.API }

// Close closes the idle connections. Streams that run are not touched.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// post sends a body. The caller closes the response's body; an error is for
// endpoint.requestFailed.
func (c *Client) post(ctx context.Context, body []byte) (*http.Response, error) {
	path := "chat/completions"
	if c.endpoint.API == APIResponses {
		path = "responses"
	}
	var resp *http.Response
	err := c.sdk.Post(ctx, path, body, &resp, option.WithHeader("Accept", "text/event-stream"))
	return resp, err
}
