package llm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"podd/pkg/catalog"
	"podd/pkg/item"
)

// Router is the endpoints that pods use. It does not change once it is in use.
type Router struct {
	// Default is the endpoint of models that name none.
	Default string
	// Endpoints are all of them, by name.
	Endpoints map[string]Endpoint
	// Wide are the options of all models; Models those of single ones, which precede those of
	// endpoints.
	Wide   item.Options
	Models map[item.ModelRef]item.Options
}

// Endpoint is a Model and what the configuration says about it.
type Endpoint struct {
	Model
	// Adds has the members that each request adds; see item.Setup.Body.
	Adds string
	// Options are those of its models.
	Options item.Options
	// NoVendors says that no model of the endpoint has a slash in its name, as in
	// VENDOR/MODEL.
	NoVendors bool
	// Lists says what the endpoint lists; nil if it lists nothing.
	Lists Lister
	// Fits says what requests leave out; nil if they leave out nothing.
	Fits Fitter
	// Address is where requests go, without secrets. HostsAPI says that the configuration
	// names no other API than the host's own.
	Address  string
	HostsAPI bool
}

// One is a Router of a single endpoint.
func One(m Model) *Router {
	return &Router{Default: item.DefaultEndpoint, Endpoints: map[string]Endpoint{item.DefaultEndpoint: {Model: m}}}
}

// Names are the endpoints in order.
func (r *Router) Names() []string { return slices.Sorted(maps.Keys(r.Endpoints)) }

// Find reads a model's name: ENDPOINT/MODEL where ENDPOINT is one of the router's, else a
// model of the default endpoint, which may have a slash in its name. A name that can be
// neither is an error of kind KindInvalid, reason NO_ENDPOINT.
func (r *Router) Find(name string) (item.ModelRef, error) {
	head, rest, ok := strings.Cut(name, "/")
	if !ok {
		return item.ModelRef{Model: name}, nil
	}
	if _, known := r.Endpoints[head]; known {
		return item.ModelRef{Endpoint: head, Model: rest}, nil
	}
	if r.Endpoints[r.Default].NoVendors {
		return item.ModelRef{}, item.Errorf(item.KindInvalid, "NO_ENDPOINT",
			"the model %q names no endpoint: the endpoints are %s; add [endpoints.%s] to the configuration, or leave out %q", name, strings.Join(r.Names(), ", "), head, head+"/")
	}
	return item.ModelRef{Model: name}, nil
}

// Full is a reference with the default endpoint in place of an empty one.
func (r *Router) Full(ref item.ModelRef) item.ModelRef {
	if ref.Endpoint == "" {
		ref.Endpoint = r.Default
	}
	return ref
}

// Options are what is configured for a model, which names its endpoint.
func (r *Router) Options(ref item.ModelRef) item.Options {
	return r.Models[ref].Over(r.Endpoints[ref.Endpoint].Options).Over(r.Wide)
}

// At is the endpoint of a name; empty means the default. An unknown one is an Error of
// class ClassNoModel.
func (r *Router) At(endpoint string) (Endpoint, error) {
	endpoint = r.Full(item.ModelRef{Endpoint: endpoint}).Endpoint
	e, ok := r.Endpoints[endpoint]
	if !ok {
		return Endpoint{}, &Error{Class: ClassNoModel, Message: fmt.Sprintf(
			"the configuration has no endpoint %q any more: add [endpoints.%[1]s], or choose a model of %s", endpoint, strings.Join(r.Names(), ", "))}
	}
	return e, nil
}

// Resolve returns a reference that names both the endpoint and the model. It may ask the
// endpoint for its default model.
func (r *Router) Resolve(ctx context.Context, ref item.ModelRef) (item.ModelRef, error) {
	ref = r.Full(ref)
	e, err := r.At(ref.Endpoint)
	if err == nil {
		ref.Model, err = e.Resolve(ctx, ref.Model)
	}
	return ref, err
}

// Body is the body of a request to the endpoint of its setup.
func (r *Router) Body(req Request) ([]byte, error) {
	e, err := r.At(req.Setup.ModelRef().Endpoint)
	if err != nil {
		return nil, err
	}
	return e.Body(req)
}

// learnTime bounds how long a turn waits for a list of models.
const learnTime = time.Second

// Learned says that there is nothing to Learn about an endpoint: asking its list would
// take time, and it was asked before or says no more than the catalogue.
func (r *Router) Learned(endpoint string) bool {
	l := r.Endpoints[endpoint].Lists
	if l == nil {
		return true
	}
	return l.Offered().Asked
}

// Learn asks an endpoint for its list, for a second at most. What it says shows in Listed.
func (r *Router) Learn(ctx context.Context, endpoint string) {
	if r.Learned(endpoint) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	// Without the list, the catalogue counts.
	_, _ = r.Endpoints[endpoint].Lists.Offers(ctx)
}

// Listed is what an endpoint's last list says of a model. answered is false if the endpoint
// has not said yet what it lists.
func (r *Router) Listed(ref item.ModelRef) (facts catalog.Facts, answered bool) {
	l := r.Endpoints[ref.Endpoint].Lists
	if l == nil {
		return facts, true
	}
	last := l.Offered()
	for _, o := range last.Offers {
		if o.Model == ref.Model {
			return o.Facts, true
		}
	}
	return facts, last.Answered
}
