package fold

import (
	"math"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
)

// Price is what a model's input costs, as ratios to uncached input.
type Price struct {
	// Cached is the price of input read from the prompt cache, Write of input that
	// is newly written to it.
	Cached, Write float64
	// TTL is for how long an idle cache lasts.
	TTL time.Duration
}

// DefaultPrice is the price of a model of which nothing is known: that of most. An
// endpoint that caches nothing shows it by its bills.
func DefaultPrice() Price { return Price{Cached: 0.10, Write: 1, TTL: 10 * time.Minute} }

// ModelPrice is a configured price: of the model of that name, and of all whose
// name begins with it.
type ModelPrice struct {
	Model string
	Price Price
	// Money counts what requests cost; without it they are not counted.
	Money Money
}

// Money is a price list of a model, in USD for a million tokens: [prices.MODEL] of
// the configuration. The zero value is no price.
type Money struct {
	Input float64
	// CachedInput and CacheWrite are Input when nothing is cached, and when writing
	// to the cache costs no more.
	CachedInput, CacheWrite float64
	Output                  float64
	// TTL is for how long an idle cache lasts; by default 10 minutes.
	TTL time.Duration
}

// Ratios turns money into ratios. Prices that no rule can work with are an error of
// kind KindInvalid, reason BAD_PRICE.
func (m Money) Ratios() (Price, error) {
	if !(m.Input > 0) || math.IsInf(m.Input, 0) {
		return Price{}, item.Errorf(item.KindInvalid, "BAD_PRICE", "the price of input is %v; it must be a number above 0", m.Input)
	}
	p := Price{Cached: m.CachedInput / m.Input, Write: m.CacheWrite / m.Input, TTL: m.TTL}
	if p.TTL == 0 {
		p.TTL = DefaultPrice().TTL
	}
	return p, p.Check()
}

// Cost is what a usage costs, in USD. Input that the endpoint does not report as read
// from the cache or written to it costs Input.
func (m Money) Cost(u item.Usage) float64 {
	plain := max(0, u.Input-u.CachedInput-u.CacheWrite)
	const million = 1_000_000
	return (float64(plain)*m.Input + float64(u.CachedInput)*m.CachedInput + float64(u.CacheWrite)*m.CacheWrite +
		float64(u.Output)*m.Output) / million
}

// MoneyOf is what a model costs, by the rule of PriceOf. Only a configured price
// counts: ok is false where there is none.
func MoneyOf(model string, configured []ModelPrice) (m Money, ok bool) {
	p, ok := configuredPrice(model, configured)
	return p.Money, ok && p.Money != Money{}
}

// CostOf is what a request cost, in USD, by the configured prices; known is false where
// there is none, or the endpoint reported no usage. Endpoints may name the model that
// answered otherwise than it is asked for, or not at all; then the price of the model
// that was asked counts.
func CostOf(u item.RequestUsage, configured []ModelPrice) (usd float64, known bool) {
	m, ok := MoneyOf(u.Model, configured)
	if !ok {
		m, ok = MoneyOf(u.Asked, configured)
	}
	if !ok || !u.Measured {
		return 0, false
	}
	return m.Cost(u.Usage), true
}

// Check says what is wrong with a price; an error of kind KindInvalid, reason
// BAD_PRICE.
func (p Price) Check() error {
	bad := func(text string) error { return item.Errorf(item.KindInvalid, "BAD_PRICE", "%s", text) }
	switch {
	case !(p.Cached >= 0):
		return bad("the price of cached input must be a number, at least 0")
	case !(p.Write > 0) || math.IsInf(p.Write, 0):
		return bad("the price of newly written input must be a number above 0")
	case p.Cached > p.Write:
		return bad("the price of cached input must not be above that of newly written input")
	case p.TTL <= 0:
		return bad("the lifetime of an idle cache must be above 0")
	}
	return nil
}

// PriceOf is the price of a model. Of the configured prices the longest name that
// begins the model's counts, whatever the built-in table says; an unknown model has
// DefaultPrice. A vendor in front of the model's name, as in "openai/gpt-5", may be
// left out in the configuration.
func PriceOf(model string, configured []ModelPrice) Price {
	if p, ok := configuredPrice(model, configured); ok {
		return p.Price
	}
	bare := withoutVendor(model)
	if p, ok := byGeneration(bare); ok {
		return p
	}
	if p, ok := lookup(bare, olderModels()); ok {
		return p.Price
	}
	return DefaultPrice()
}

// configuredPrice is the configured price that counts for a model.
func configuredPrice(model string, configured []ModelPrice) (ModelPrice, bool) {
	if p, ok := lookup(model, configured); ok {
		return p, true
	}
	return lookup(withoutVendor(model), configured)
}

func withoutVendor(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

// byGeneration is the price of a model that is called gpt-MAJOR.MINOR, from
// generation 5 on. From 5.6 on, writing to the cache is billed.
func byGeneration(model string) (Price, bool) {
	rest, ok := strings.CutPrefix(model, "gpt-")
	if !ok {
		return Price{}, false
	}
	major, rest := leadingNumber(rest)
	minor := 0
	if after, ok := strings.CutPrefix(rest, "."); ok {
		minor, _ = leadingNumber(after)
	}
	switch {
	case major > 5, major == 5 && minor >= 6:
		return Price{Cached: 0.10, Write: 1.25, TTL: 30 * time.Minute}, true
	case major == 5:
		return Price{Cached: 0.10, Write: 1, TTL: 10 * time.Minute}, true
	}
	return Price{}, false
}

// leadingNumber is the number that s begins with, 0 when there is none, and what
// follows it.
func leadingNumber(s string) (n int, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	n, err := strconv.Atoi(s[:len(s)-len(rest)])
	if err != nil {
		return 0, rest
	}
	return n, rest
}

// olderModels is the table of the models that differ from DefaultPrice and have no
// generation in their name.
func olderModels() []ModelPrice {
	const ttl = 10 * time.Minute
	quarter := Price{Cached: 0.25, Write: 1, TTL: ttl}
	half := Price{Cached: 0.50, Write: 1, TTL: ttl}
	none := Price{Cached: 1, Write: 1, TTL: ttl}
	return []ModelPrice{
		{Model: "gpt-4.1", Price: quarter}, {Model: "o3", Price: quarter}, {Model: "o4-mini", Price: quarter},
		{Model: "gpt-4o", Price: half}, {Model: "gpt-4.5", Price: half}, {Model: "o1", Price: half}, {Model: "o3-mini", Price: half},
		{Model: "gpt-4", Price: none}, {Model: "gpt-3.5", Price: none},
	}
}

// lookup takes the entry with the longest name that begins a model's.
func lookup(model string, table []ModelPrice) (ModelPrice, bool) {
	var found ModelPrice
	length := 0
	for _, e := range table {
		if len(e.Model) > length && begins(model, e.Model) {
			found, length = e, len(e.Model)
		}
	}
	return found, length > 0
}

// begins says whether a name begins with another one that does not end within a
// number: gpt-5.1 does not begin gpt-5.10.
func begins(model, name string) bool {
	rest, ok := strings.CutPrefix(model, name)
	if !ok || rest == "" || name == "" {
		return ok
	}
	return !digit(name[len(name)-1]) || !digit(rest[0])
}

func digit(b byte) bool { return '0' <= b && b <= '9' }
