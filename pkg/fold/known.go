package fold

import (
	"slices"

	"podd/pkg/catalog"
	"podd/pkg/item"
)

// Where a fact about a model is from, in the order in which they count.
const (
	FromConfig   = "config"
	FromEndpoint = "endpoint"
	FromRefresh  = "refreshed"
	FromBuiltin  = "built-in"
)

// The facts about a model.
const (
	FactWindow = "window"
	FactOutput = "output"
	FactEffort = "effort"
	FactImages = "images"
	FactPrice  = "price"
)

// Known is what podd knows about a model.
type Known struct {
	catalog.Facts
	// From says where each known fact is from.
	From map[string]string
	// PriceKey and ImagesKey are the keys of the configuration behind a price and an answer
	// that are not in the model's own table; empty if it says neither.
	PriceKey, ImagesKey string
}

// Known is what is known about a model at its endpoint. listed is what the endpoint's own
// list says of it.
func (m Models) Known(ref item.ModelRef, listed catalog.Facts) Known {
	k := Known{From: make(map[string]string)}
	own := m.Own[ref]
	if own.Images == "" && m.Images != "" {
		own.Images, k.ImagesKey = m.Images, "images"
	}
	if p, ok := m.configured(ref.Model); ok && p.Money != (Money{}) {
		k.PriceKey = `prices."` + p.Model + `"`
		own.Price = &catalog.Price{Rates: catalog.Rates{Input: p.Money.Input, Output: p.Money.Output, CachedInput: p.Money.CachedInput, CacheWrite: p.Money.CacheWrite}}
	}
	k.add(FromConfig, own)
	k.add(FromEndpoint, listed)
	if known, ok := m.Published().Find(ref.Model); ok {
		facts := known.Facts()
		if m.isLocal(ref) {
			facts.Price = nil
		}
		k.add(m.catalogName(), facts)
	}
	k.add(FromBuiltin, catalog.Facts{Window: m.Window(ref.Model)})
	return k
}

// catalogName says which catalogue this is.
func (m Models) catalogName() string {
	if m.Catalog == nil {
		return FromBuiltin
	}
	return FromRefresh
}

// add takes what a source says and none before said.
func (k *Known) add(from string, f catalog.Facts) {
	learn := func(fact string, says bool, take func()) {
		if _, known := k.From[fact]; says && !known {
			k.From[fact] = from
			take()
		}
	}
	learn(FactWindow, f.Window > 0, func() { k.Window = f.Window })
	learn(FactOutput, f.Output > 0, func() { k.Output = f.Output })
	learn(FactEffort, len(f.Effort) > 0, func() { k.Effort = f.Effort })
	learn(FactImages, f.Images != "", func() { k.Images = f.Images })
	learn(FactPrice, f.Price != nil, func() { k.Price = f.Price })
}

// Takes says whether the model may take an effort: none, one of its values, or any if they
// are unknown.
func (k Known) Takes(effort string) bool {
	return effort == "" || len(k.Effort) == 0 || slices.Contains(k.Effort, effort)
}
