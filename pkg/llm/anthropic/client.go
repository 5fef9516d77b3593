package anthropic

import (
	"net/http"

	"podd/pkg/llm"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// API is the name of the Messages API.
const API = exchange.APIMessages

// DefaultBaseURL is Anthropic itself.
const DefaultBaseURL = "https://api.anthropic.com/v1"

// Config is the whole configuration of a Client: it reads no environment variable and no
// profile.
type Config = exchange.Config

// Client is an llm.Model that talks to one endpoint. It is safe for use from many
// goroutines.
type Client struct {
	*exchange.Client
}

var _ llm.Model = (*Client)(nil)

// New makes a client; it does not connect. BaseURL is DefaultBaseURL if it is empty. The
// error says what to change in cfg.
func New(cfg Config) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	x, err := exchange.New(cfg, wire, API)
	if err != nil {
		return nil, err
	}
	return &Client{x}, nil
}

// wire is what requests and answers have by the API.
func wire(e *exchange.Endpoint) exchange.Wire {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if e.APIKey != "" {
		h.Set("X-Api-Key", e.APIKey)
	}
	return exchange.Wire{
		Path:    "messages",
		Header:  h,
		Decoder: func(e *exchange.Endpoint) exchange.Decoder { return &decoder{endpoint: e} },
	}
}

// Body encodes a request. The package documentation says how; an error is an *llm.Error
// of class ClassInvalid or ClassNoModel.
func (c *Client) Body(r llm.Request) ([]byte, error) { return encode.Body(c.begin, r) }

// Encoder makes the bodies of a conversation; see llm.Encoder.
func (c *Client) Encoder() llm.Encoder { return encode.Encoder(c.begin) }
