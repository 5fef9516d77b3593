package endpoints

import (
	"net/url"
	"slices"
	"strings"

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

// published are the models of the vendor whose host this is.
func (e Endpoint) published(models fold.Models) (offers []llm.Offer) {
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		return nil
	}
	if vendor := catalog.VendorAt(base.Hostname()); vendor != "" {
		for _, m := range models.Published().Of(vendor) {
			offers = append(offers, llm.Offer{Model: m.ID})
		}
	}
	return offers
}
