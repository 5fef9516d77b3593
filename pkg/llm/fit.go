package llm

import "podd/pkg/item"

// LeftOut is an option that requests leave out.
type LeftOut struct {
	// Option is one of item's names.
	Option string
	// Why is one clause, such as "the API has none".
	Why string
}

// Fitter is optional for a Model: it knows what its API and its models take.
type Fitter interface {
	// Fit is a setup without the options that its requests leave out, and with the limit of an
	// answer that they send. Its body is that of the setup. Package llmtest checks that.
	Fit(item.Setup) (item.Setup, []LeftOut)
}

// Fit is a setup as the requests to its endpoint are; see Fitter.
func (r *Router) Fit(s item.Setup) (item.Setup, []LeftOut) {
	if f := r.Endpoints[s.ModelRef().Endpoint].Fits; f != nil {
		return f.Fit(s)
	}
	s.AnswerLimit = 0
	return s, nil
}

// Source is the key of the configuration that sets an option of a model, which names its
// endpoint; empty if none does.
func (r *Router) Source(ref item.ModelRef, option string) string {
	switch {
	case r.Models[ref].Value(option) != "":
		return r.ModelKey(ref) + "." + option
	case r.Endpoints[ref.Endpoint].Options.Value(option) != "":
		return EndpointKey(ref.Endpoint, option)
	case r.Wide.Value(option) != "":
		return "options." + option
	}
	return ""
}

// ModelKey is the table of the configuration about a model, which names its endpoint.
func (r *Router) ModelKey(ref item.ModelRef) string {
	if ref.Endpoint == r.Default {
		ref.Endpoint = ""
	}
	return `models."` + ref.String() + `"`
}

// EndpointKey is a key of the configuration about an endpoint.
func EndpointKey(endpoint, key string) string {
	if endpoint == item.DefaultEndpoint {
		return key
	}
	return "endpoints." + endpoint + "." + key
}
