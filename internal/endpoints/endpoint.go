package endpoints

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"podd/internal/guard/keys"
	"podd/pkg/item"
	"podd/pkg/llm/exchange"
)

// Endpoint is one endpoint of the configuration.
type Endpoint struct {
	Name string
	// BaseURL includes the version, and a query whose values are secrets.
	BaseURL string
	// API is one of APIs; empty means that the host decides.
	API string
	Key keys.Source
	// KeyHeader is one of keys' headers; empty means that the API decides.
	KeyHeader string
	// Headers are sent with each request; their values are secrets.
	Headers map[string]string
	// Body has the members that the configuration adds to each request: a JSON object, keys
	// sorted, or empty.
	Body string
	// Quirks replace what podd knows of the host and its models.
	Quirks exchange.Override
	// Options are those of its models.
	Options item.Options
	// FirstByte and Idle bound the time until an answer begins, and a pause within it; 0
	// means the client's default.
	FirstByte, Idle time.Duration
	// Proxy is a URL, "none", or empty to follow the environment.
	Proxy string
	// MaxParallel bounds the requests at once; 0 means no bound.
	MaxParallel int
}

// NoProxy is the Proxy that uses none.
const NoProxy = "none"

// Address is the base URL without its query.
func (e Endpoint) Address() string {
	address, _, _ := strings.Cut(e.BaseURL, "?")
	return address
}

// KeySource says where the key is from; empty without one.
func (e Endpoint) KeySource() string {
	if e.Key.Value == "" && len(e.Key.Command) == 0 {
		return ""
	}
	return e.Key.Setting
}

// NoVendors says that its models have no slash in their names.
func (e Endpoint) NoVendors() bool { return exchange.IsOpenAI(e.BaseURL) }

// Secrets are the values that must not show anywhere.
func (e Endpoint) Secrets() []string {
	values := append(slices.Collect(maps.Values(e.Headers)), e.Key.Value)
	if base, err := url.Parse(e.BaseURL); err == nil {
		for _, list := range base.Query() {
			values = append(values, list...)
		}
	}
	if proxy, err := url.Parse(e.Proxy); err == nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		values = append(values, password)
	}
	return values
}

// APIs are the known APIs, in the order in which people read them.
func APIs() []string { return []string{exchange.APIResponses, exchange.APIChat, exchange.APIMessages} }
