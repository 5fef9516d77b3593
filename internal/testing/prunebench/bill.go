package main

import (
	"time"

	"podd/pkg/fold"
)

// A provider caches a prefix of at least cacheMin tokens, in steps of cacheStep.
const (
	cacheMin  = 1024
	cacheStep = 128
)

// bill is what a provider charges for a series of requests, each an extension of the
// previous one up to the point where pruning changed it.
type bill struct {
	price  fold.Price
	cost   float64
	tokens int

	// cached is the part of the next request that equals the last one.
	cached int
	// last is when the last request was sent; sent says that one was.
	last time.Time
	sent bool
}

func newBill(p fold.Price) bill { return bill{price: p} }

// broken says that the next request differs from the last one after the given number of
// tokens.
func (b *bill) broken(prefix int) { b.cached = min(b.cached, prefix) }

// request charges for a request of a size.
func (b *bill) request(tokens int, now time.Time) {
	cached := b.cached - b.cached%cacheStep
	if b.cached < cacheMin || !b.sent || now.Sub(b.last) > b.price.TTL {
		cached = 0
	}
	b.cost += b.price.Cached*float64(cached) + b.price.Write*float64(tokens-cached)
	b.tokens += tokens
	b.cached, b.last, b.sent = tokens, now, true
}
