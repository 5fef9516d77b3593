package fold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/catalog"
	"podd/pkg/item"
)

// Models is what is known about models. The zero value knows the built-in catalogue.
type Models struct {
	// Prices are configured and precede those of the catalogue. The one with the longest
	// name that begins a model's applies. It may omit a vendor, as in "openai/gpt-5".
	Prices []ModelPrice
	// Catalog is what vendors publish; nil is the built-in catalogue.
	Catalog *catalog.Catalog
	// Local are the endpoints that are not a vendor's: only configured prices apply there.
	Local []string
	// Own is what the configuration says of single models, which name their endpoints; Images
	// what it says of all. A fold does not depend on them: they are in setups.
	Own    map[item.ModelRef]catalog.Facts
	Images catalog.Answer
}

// String identifies what the fold of a log depends on.
func (m Models) String() string {
	c := m.Published()
	return fmt.Sprintf("%#v %s %s %d %v", m.Prices, c.Source, c.Date, len(c.Models), m.Local)
}

// Published is the catalogue in use.
func (m Models) Published() *catalog.Catalog { return cmp.Or(m.Catalog, catalog.Builtin()) }

// isLocal says whether a model's endpoint is not a vendor's.
func (m Models) isLocal(ref item.ModelRef) bool {
	return slices.Contains(m.Local, cmp.Or(ref.Endpoint, item.DefaultEndpoint))
}

// Price is the ratio of a model's prices; an unknown model has DefaultPrice.
func (m Models) Price(ref item.ModelRef) Price {
	model := ref.Model
	if p, ok := m.configured(model); ok {
		return p.Price
	}
	p := DefaultPrice()
	if m.isLocal(ref) {
		return p
	}
	p.TTL = lifetime(model)
	if known, ok := m.Published().Find(model); ok && known.Price != nil && known.Price.CachedInput > 0 {
		p.Cached = known.Price.CachedInput / known.Price.Input
		p.Write = max(1, known.Price.CacheWrite/known.Price.Input)
	}
	if generation(model) >= 506 {
		// OpenAI bills writes to the cache, which the catalogue does not say.
		p.Write = max(p.Write, 1.25)
	}
	return p
}

// money is the price list of a request: the configured one of its model, else that of the
// endpoint when it was asked, else the catalogue's; ok is false without one. Endpoints may
// name the answering model otherwise than the requested one, or not at all.
func (m Models) money(u item.RequestUsage) (money Money, ok bool) {
	names := []string{u.Model, u.Asked}
	for _, name := range names {
		if p, ok := m.configured(name); ok {
			return p.Money, p.Money != Money{}
		}
	}
	rates, ok := catalog.Rates(u.Listed), u.IsListed
	for _, name := range names {
		known, found := m.Published().Find(name)
		if ok || !found || known.Price == nil || m.isLocal(item.ModelRef{Endpoint: u.Endpoint}) {
			continue
		}
		rates, ok = known.Price.Rates, true
		if long := known.Price.Long; long != nil && u.InputAbove() >= long.Above {
			rates = long.Rates
		}
	}
	if u.CacheTTL == longTTL && rates.CacheWrite > 0 {
		rates.CacheWrite = longWrite * rates.Input
	}
	return moneyOf(rates), ok
}

// A write that lasts an hour costs twice as much as input; that of five minutes is in the
// lists. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const (
	longTTL   = "1h"
	longWrite = 2
)

// Cost is the cost of a request, in USD; known is false without a price, or if the
// endpoint reported no usage.
func (m Models) Cost(u item.RequestUsage) (usd float64, known bool) {
	money, ok := m.money(u)
	if !ok || !u.Measured {
		return 0, false
	}
	return money.Cost(u.Usage), true
}

// Window is how many tokens a request to a model may have; 0 if unknown, and then only the
// endpoint says when it is full.
func (m Models) Window(model string) int {
	if known, ok := m.Published().Find(model); ok {
		return cmp.Or(known.Input, known.Window)
	}
	if generation(model) != 0 {
		return newestWindow
	}
	return 0
}

// newestWindow is the window of a model of OpenAI's that is newer than the catalogue.
const newestWindow = 272_000

func (m Models) configured(model string) (ModelPrice, bool) {
	if p, ok := lookup(model, m.Prices); ok {
		return p, true
	}
	return lookup(withoutVendor(model), m.Prices)
}

func moneyOf(p catalog.Rates) Money {
	return Money{Input: p.Input, CachedInput: cmp.Or(p.CachedInput, p.Input), CacheWrite: cmp.Or(p.CacheWrite, p.Input), Output: p.Output}
}

func withoutVendor(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

// lifetime is how long an idle prompt cache of a model lasts, as its vendor says.
// https://platform.openai.com/docs/guides/prompt-caching and
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
func lifetime(model string) time.Duration {
	switch model = withoutVendor(model); {
	case strings.HasPrefix(model, "claude"):
		return 5 * time.Minute
	case generation(model) >= 506:
		return 30 * time.Minute
	}
	return DefaultPrice().TTL
}

// generation is 100*MAJOR+MINOR of a model called gpt-MAJOR.MINOR, from 5 on; 0 for others.
func generation(model string) int {
	rest, ok := strings.CutPrefix(withoutVendor(model), "gpt-")
	if !ok {
		return 0
	}
	major, rest := leadingNumber(rest)
	minor := 0
	if after, ok := strings.CutPrefix(rest, "."); ok {
		minor, _ = leadingNumber(after)
	}
	if major < 5 {
		return 0
	}
	return 100*major + min(minor, 99)
}

// leadingNumber is the number at the start of s, 0 without one, and the text after it.
func leadingNumber(s string) (n int, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	n, err := strconv.Atoi(s[:len(s)-len(rest)])
	if err != nil {
		return 0, rest
	}
	return n, rest
}
