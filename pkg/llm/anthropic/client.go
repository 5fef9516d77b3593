package anthropic

import (
	"context"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

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

// wire assembles the SDK's client itself, because the SDK's constructor reads keys,
// profiles, base URL and headers from the environment.
func wire(x *exchange.Client) exchange.Wire {
	e := x.Endpoint
	client := sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(e.Base.String()),
		option.WithHTTPClient(x.HTTP()),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		option.WithHeader("User-Agent", e.UserAgent),
		// A compressed stream would arrive in lumps.
		option.WithHeader("Accept-Encoding", "identity"),
	}}
	if e.APIKey != "" {
		client.Options = append(client.Options, option.WithAPIKey(e.APIKey))
	}
	for name, value := range e.Headers {
		client.Options = append(client.Options, option.WithHeader(name, value))
	}
	return exchange.Wire{
		Path:    "messages",
		Decoder: func(e *exchange.Endpoint) exchange.Decoder { return &decoder{endpoint: e} },
		Send: func(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
			var resp *http.Response
			if method == http.MethodGet {
				err := client.Get(ctx, path, nil, &resp)
				return resp, err
			}
			err := client.Post(ctx, path, body, &resp, option.WithHeader("Accept", "text/event-stream"))
			return resp, err
		},
	}
}

// Body encodes a request. The package documentation says how; an error is an *llm.Error
// of class ClassInvalid or ClassNoModel.
func (c *Client) Body(r llm.Request) ([]byte, error) { return encode.Body(c.begin, r) }

// Encoder makes the bodies of a conversation; see llm.Encoder.
func (c *Client) Encoder() llm.Encoder { return encode.Encoder(c.begin) }
