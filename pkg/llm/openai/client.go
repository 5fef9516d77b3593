package openai

import (
	"context"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// The APIs of a Client.
const (
	APIResponses = exchange.APIResponses
	APIChat      = exchange.APIChat
)

// DefaultModel is the model for api.openai.com when none is configured. It calls tools only
// through the Responses API.
const DefaultModel = "gpt-6.1-sol"

// Config is the whole configuration of a Client: it reads no environment variable.
type Config = exchange.Config

// Client is an llm.Model that talks to one endpoint. It is safe for use from many
// goroutines.
type Client struct {
	*exchange.Client
}

var _ llm.Model = (*Client)(nil)

// New makes a client; it does not connect. The error says what to change in cfg.
func New(cfg Config) (*Client, error) {
	x, err := exchange.New(cfg, wire, APIChat, APIResponses)
	if err != nil {
		return nil, err
	}
	return &Client{x}, nil
}

// wire assembles the SDK's client itself, because openai-go's constructor reads keys,
// organisation, base URL and headers from the environment.
func wire(x *exchange.Client) exchange.Wire {
	e := x.Endpoint
	client := sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(e.Base.String()),
		option.WithHTTPClient(x.HTTP()),
		option.WithMaxRetries(0),
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
	w := exchange.Wire{
		Path:    "chat/completions",
		Decoder: func(e *exchange.Endpoint) exchange.Decoder { return &chatDecoder{endpoint: e} },
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
	if e.OpenAI {
		w.DefaultModel = DefaultModel
	}
	if e.API == APIResponses {
		w.Path, w.Decoder = "responses", func(e *exchange.Endpoint) exchange.Decoder { return &responsesDecoder{endpoint: e} }
	}
	return w
}

// Body encodes a request. The package documentation says how; an error is an *llm.Error
// of class ClassInvalid or ClassNoModel.
func (c *Client) Body(r llm.Request) ([]byte, error) { return encode.Body(c.begin, r) }

// Encoder makes the bodies of a conversation; see llm.Encoder.
func (c *Client) Encoder() llm.Encoder { return encode.Encoder(c.begin) }

// Fit leaves out what neither API has; see llm.Fitter.
func (c *Client) Fit(s item.Setup) (item.Setup, []llm.LeftOut) {
	s.AnswerLimit = 0
	if s.Options.CacheTTL == "" {
		return s, nil
	}
	s.Options.CacheTTL = ""
	return s, []llm.LeftOut{{Option: item.OptionCacheTTL, Why: "the API " + c.API() + " has no cache marks"}}
}

// begin begins a body.
func (c *Client) begin(w encode.Written, r llm.Request) encode.Units {
	if c.API() == APIResponses {
		return newInputEncoder(w, r.Setup, c.Endpoint.Quirks(r.Setup.Model))
	}
	return newChatEncoder(w, r.Setup, r.Items, c.Endpoint.Quirks(r.Setup.Model))
}
