package fold

import (
	"math"
	"strings"
	"time"

	"podd/pkg/item"
)

// Price is the cost of a model's input, as ratios to uncached input.
type Price struct {
	// Cached is the price of input read from the prompt cache, Write of input newly written
	// to it.
	Cached, Write float64
	// TTL is how long an idle cache lasts.
	TTL time.Duration
}

// DefaultPrice is the price of an unknown model: that of most models. An endpoint that
// does not cache shows that in its bills.
func DefaultPrice() Price { return Price{Cached: 0.10, Write: 1, TTL: 10 * time.Minute} }

// ModelPrice is a configured price: for the model with that name, and for all whose name
// begins with it.
type ModelPrice struct {
	Model string
	Price Price
	// Money is the money that requests cost; without it the cost is unknown.
	Money Money
}

// Money is a price list of a model, in USD per million tokens: [prices.MODEL] of the
// configuration. The zero value means no price.
type Money struct {
	Input float64
	// CachedInput and CacheWrite equal Input when nothing is cached, and when writing to the
	// cache costs no more.
	CachedInput, CacheWrite float64
	Output                  float64
	// TTL is how long an idle cache lasts; by default 10 minutes.
	TTL time.Duration
}

// Ratios converts money into ratios. Prices with which no rule can work are an error of
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

// Cost is the cost of a usage, in USD. Input that the endpoint reports neither as read
// from the cache nor as written to it costs Input.
func (m Money) Cost(u item.Usage) float64 {
	plain := max(0, u.Input-u.CachedInput-u.CacheWrite)
	const million = 1_000_000
	return (float64(plain)*m.Input + float64(u.CachedInput)*m.CachedInput + float64(u.CacheWrite)*m.CacheWrite +
		float64(u.Output)*m.Output) / million
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

// lookup returns the entry with the longest name that begins a model's.
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
