package item

import (
	"cmp"
	"strings"
)

// DefaultEndpoint is the name of the endpoint that the top-level keys of the
// configuration describe. Entries of older versions of podd, which name no endpoint, are
// from it.
const DefaultEndpoint = "default"

// ModelRef names a model at an endpoint.
type ModelRef struct {
	// Endpoint is empty for the one that the configuration chooses.
	Endpoint string
	// Model is empty for the endpoint's default.
	Model string
}

// String is the model as a person names it: ENDPOINT/MODEL, or only the model.
func (r ModelRef) String() string {
	if r.Endpoint == "" {
		return r.Model
	}
	return r.Endpoint + "/" + r.Model
}

// ModelRef is the model that the setup's requests name, and its endpoint.
func (s Setup) ModelRef() ModelRef {
	return ModelRef{Endpoint: cmp.Or(s.Endpoint, DefaultEndpoint), Model: s.Model}
}

// ModelRef is the spec's model, which may be empty.
func (s PodSpec) ModelRef() ModelRef {
	if s.Endpoint == "" {
		return ModelRef{Model: s.Model}
	}
	return ModelRef{Endpoint: s.Endpoint, Model: strings.TrimPrefix(s.Model, s.Endpoint+"/")}
}

// Fits says whether requests of a setup through an API may send it: only the endpoint and
// the model that made it can read it.
func (o Opaque) Fits(api string, s Setup) bool {
	return o.API == api && (o.Model == "" || o.Model == s.Model) &&
		cmp.Or(o.Endpoint, DefaultEndpoint) == cmp.Or(s.Endpoint, DefaultEndpoint)
}
