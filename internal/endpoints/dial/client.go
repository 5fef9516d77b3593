package dial

import (
	"net/http"
	"net/url"

	"podd/internal/endpoints"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/exchange"
	"podd/pkg/llm/openai"
)

// Client is an endpoint's Model.
type Client interface {
	llm.Model
	llm.Lister
	llm.Fitter
	// Close closes the idle connections.
	Close()
}

// wires make the clients, by API.
var wires = map[string]func(exchange.Config) (Client, error){
	exchange.APIResponses: func(c exchange.Config) (Client, error) { return openai.New(c) },
	exchange.APIChat:      func(c exchange.Config) (Client, error) { return openai.New(c) },
	exchange.APIMessages:  func(c exchange.Config) (Client, error) { return anthropic.New(c) },
}

// proxyOf chooses the proxy of an endpoint; nil follows the environment.
func proxyOf(e endpoints.Endpoint) func(*http.Request) (*url.URL, error) {
	switch e.Proxy {
	case "":
		return nil
	case endpoints.NoProxy:
		return func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	proxy, err := url.Parse(e.Proxy)
	return func(*http.Request) (*url.URL, error) { return proxy, err }
}
