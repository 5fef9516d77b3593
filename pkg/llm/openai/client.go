package openai

import (
	"net/http"

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

// wire is what requests and answers have by the API.
func wire(e *exchange.Endpoint) exchange.Wire {
	h := http.Header{}
	if e.APIKey != "" {
		h.Set("Authorization", "Bearer "+e.APIKey)
	}
	w := exchange.Wire{
		Path:    "chat/completions",
		Header:  h,
		Decoder: func(e *exchange.Endpoint) exchange.Decoder { return &chatDecoder{endpoint: e} },
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
