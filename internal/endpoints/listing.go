package endpoints

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"podd/internal/typo"
	"podd/pkg/catalog"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Listing is what an endpoint offers.
type Listing struct {
	Endpoint
	// Failed is why the endpoint's own list is missing; nil with one.
	Failed error
	// Models are in the order of their names.
	Models []Listed
}

// Listed is a model of a listing.
type Listed struct {
	Ref item.ModelRef
	fold.Known
	// Default says that it is the model of pods without their own, Fallback its place among
	// the fallbacks, from 1.
	Default  bool
	Fallback int
}

// Chosen are the models that a configuration names; each names its endpoint.
type Chosen struct {
	Default   item.ModelRef
	Fallbacks []item.ModelRef
	Others    []item.ModelRef
}

// NewListing lists the models of an endpoint: those that it offers, or else those of the
// vendor whose host it is, and those that the configuration names.
func NewListing(e Endpoint, offers []llm.Offer, failed error, chosen Chosen, models fold.Models) Listing {
	l := Listing{Endpoint: e, Failed: failed}
	if failed != nil {
		offers = e.published(models)
	}
	said := make(map[string]catalog.Facts, len(offers))
	names := make([]string, 0, len(offers))
	for _, o := range offers {
		names = append(names, o.Model)
		if failed == nil {
			said[o.Model] = o.Facts
		}
	}
	for _, ref := range slices.Concat([]item.ModelRef{chosen.Default}, chosen.Fallbacks, chosen.Others) {
		if ref.Endpoint == e.Name && ref.Model != "" {
			names = append(names, ref.Model)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range slices.Compact(names) {
		ref := item.ModelRef{Endpoint: e.Name, Model: name}
		l.Models = append(l.Models, Listed{
			Ref: ref, Known: models.Known(ref, said[name]), Default: ref == chosen.Default, Fallback: slices.Index(chosen.Fallbacks, ref) + 1,
		})
	}
	return l
}

// Publishes says whether the catalogue knows a model that the endpoint may have: at a
// vendor's own host, one of that vendor.
func (e Endpoint) Publishes(model string, models fold.Models) bool {
	known, ok := models.Published().Find(model)
	vendor := e.vendor()
	return ok && (vendor == "" || vendor == known.Vendor)
}

// Doubt says that a model which the catalogue does not know is not among the offers
// either, and which names are similar; empty if it is, or if there is no list.
func (e Endpoint) Doubt(model string, offers []llm.Offer, models fold.Models) string {
	if len(offers) == 0 {
		offers = e.published(models)
	}
	var names []string
	for _, o := range offers {
		if o.Model == model || o.Model == model+":latest" { // Ollama adds it.
			return ""
		}
		names = append(names, o.Model)
	}
	if len(names) == 0 {
		return ""
	}
	says := fmt.Sprintf("the endpoint %s lists no model %q; ", e.Name, model)
	near := typo.Near(model, names, max(2, len(model)/3))
	if len(near) == 0 {
		return says + "podctl models " + e.Name + " shows those that it has"
	}
	near = near[:min(3, len(near))]
	for i, name := range near {
		near[i] = e.Name + "/" + name
	}
	return says + "did you mean " + strings.Join(near, " or ") + "?"
}

// vendor is the vendor whose own host this is; empty for another one.
func (e Endpoint) vendor() string {
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		return ""
	}
	return catalog.VendorAt(base.Hostname())
}

// published are the models of the vendor whose host this is.
func (e Endpoint) published(models fold.Models) (offers []llm.Offer) {
	if vendor := e.vendor(); vendor != "" {
		for _, m := range models.Published().Of(vendor) {
			offers = append(offers, llm.Offer{Model: m.ID})
		}
	}
	return offers
}

// prefixes are words before the slash in names of models, besides those of the catalogue.
var prefixes = []string{"x-ai", "qwen", "mistralai", "meta-llama", "z-ai"}

// Hidden says which endpoints have the name of a vendor whose models the default endpoint
// resells as VENDOR/MODEL.
func Hidden(all []Endpoint, byDefault string, models fold.Models) (says []string) {
	resells := func(e Endpoint) bool {
		return e.Name == byDefault && e.vendor() == "" && !slices.Contains(models.Local, e.Name)
	}
	if !slices.ContainsFunc(all, resells) {
		return nil
	}
	for _, e := range all {
		isVendor := slices.Contains(prefixes, e.Name) || len(models.Published().Of(e.Name)) > 0
		if e.Name != byDefault && isVendor {
			says = append(says, fmt.Sprintf("the endpoint %s hides the models %[1]s/NAME of the endpoint %s: name them %[2]s/%[1]s/NAME, or rename the endpoint", e.Name, byDefault))
		}
	}
	return says
}
