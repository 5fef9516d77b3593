package dial

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"podd/internal/endpoints"
	"podd/internal/guard/keys"
	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// Config is what all endpoints share.
type Config struct {
	// Default is the endpoint of models that name none.
	Default   string
	Endpoints []endpoints.Endpoint
	UserAgent string
	// Environ is the environment of commands that print keys.
	Environ []string
	// Learn is called with each secret of an endpoint before it is used.
	Learn func(endpoint string, values ...string)
	// Redact removes secrets from text.
	Redact func(string) string
	Logger *slog.Logger
}

// Set is open endpoints.
type Set struct {
	// Default is the endpoint of models that name none.
	Default string
	open    map[string]opened
}

// opened is one open endpoint.
type opened struct {
	endpoints.Endpoint
	client Client
	ring   *keys.Ring
}

// Open opens endpoints. It connects to none, and keeps the clients of before whose
// configuration is the same; before may be nil. Its errors name the endpoint.
func Open(c Config, before *Set) (*Set, error) {
	s := &Set{Default: c.Default, open: make(map[string]opened)}
	for _, e := range c.Endpoints {
		e.API = cmp.Or(e.API, exchange.DefaultAPI(e.BaseURL))
		if e.API == exchange.APIMessages {
			e.KeyHeader = cmp.Or(e.KeyHeader, keys.XAPIKey)
		}
		c.Learn(e.Name, e.Secrets()...)
		if old, ok := before.find(e.Name); ok && reflect.DeepEqual(old.Endpoint, e) {
			old.ring.Expire()
			s.open[e.Name] = old
			continue
		}
		o, err := c.dial(e)
		if err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", e.Name, err)
		}
		s.open[e.Name] = o
	}
	return s, nil
}

// dial opens an endpoint.
func (c Config) dial(e endpoints.Endpoint) (opened, error) {
	source := e.Key
	source.Environ = c.Environ
	ring := keys.New(keys.Config{
		Source: source, Header: e.KeyHeader, Headers: e.Headers,
		Learn: func(key string) { c.Learn(e.Name, key) },
	})
	wire := wires[e.API]
	if wire == nil {
		return opened{}, fmt.Errorf("api is %q; it must be one of %s", e.API, strings.Join(endpoints.APIs(), ", "))
	}
	client, err := wire(exchange.Config{
		Name: e.Name, BaseURL: e.BaseURL, API: e.API, KeySource: e.Key.Setting, Transport: ring.Over, Proxy: proxyOf(e), Redact: c.Redact,
		FirstByteTimeout: e.FirstByte, IdleTimeout: e.Idle, UserAgent: c.UserAgent, Logger: c.Logger,
		Override: e.Quirks,
	})
	if e.MaxParallel > 0 && err == nil {
		client = limit(client, e.MaxParallel)
	}
	return opened{e, client, ring}, err
}

func (s *Set) find(name string) (opened, bool) {
	if s == nil {
		return opened{}, false
	}
	o, ok := s.open[name]
	return o, ok
}

// List are the endpoints in the order of their names, each with its API.
func (s *Set) List() []endpoints.Endpoint {
	var list []endpoints.Endpoint
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		list = append(list, s.open[name].Endpoint)
	}
	return list
}

// Vendor names the provider of an endpoint as OpenTelemetry does; empty for no endpoint.
func (s *Set) Vendor(name string) string {
	o, ok := s.find(name)
	if !ok {
		return ""
	}
	return exchange.Vendor(o.BaseURL, o.API)
}

// Router is a router of the endpoints; each client goes through wrap.
func (s *Set) Router(wrap func(llm.Model) llm.Model) *llm.Router {
	r := &llm.Router{Default: s.Default, Endpoints: make(map[string]llm.Endpoint)}
	for name, o := range s.open {
		r.Endpoints[name] = llm.Endpoint{
			Model: wrap(o.client), Adds: o.Body, Options: o.Options, NoVendors: o.NoVendors(), Lists: o.client, Fits: o.client,
			Address: o.Address(), HostsAPI: o.API == exchange.DefaultAPI(o.BaseURL),
		}
	}
	return r
}

// Offers are the models that an endpoint of the set lists.
func (s *Set) Offers(ctx context.Context, name string) ([]llm.Offer, error) {
	return s.open[name].client.Offers(ctx)
}

// Close closes the idle connections of the clients that another Set has not taken over;
// nil takes over none.
func (s *Set) Close(next *Set) {
	for name, o := range s.open {
		if taken, ok := next.find(name); !ok || taken.client != o.client {
			o.client.Close()
		}
	}
}
