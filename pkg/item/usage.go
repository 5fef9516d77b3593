package item

import "math"

// Usage counts tokens as an endpoint billed them.
type Usage struct {
	// Input is all input tokens, cached ones included.
	Input int64
	// CachedInput is the part of Input read from the prompt cache.
	CachedInput int64
	// CacheWrite is the part of Input written to the prompt cache, if the endpoint says so.
	CacheWrite int64
	// Output is all output tokens, reasoning included.
	Output int64
	// Reasoning is the part of Output spent on reasoning.
	Reasoning int64
	// Requests is the number of model requests.
	Requests int64
}

// MaxTokens is more than any model reads or writes for one request. A bill above it is no
// bill.
const MaxTokens = 100_000_000

// Plausible says whether the usage can be that of one request.
func (u Usage) Plausible() bool {
	return max(u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning) <= MaxTokens
}

// Add is the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       Sum(u.Input, v.Input),
		CachedInput: Sum(u.CachedInput, v.CachedInput),
		CacheWrite:  Sum(u.CacheWrite, v.CacheWrite),
		Output:      Sum(u.Output, v.Output),
		Reasoning:   Sum(u.Reasoning, v.Reasoning),
		Requests:    Sum(u.Requests, v.Requests),
	}
}

// Sum is the sum of two counts, or the largest number if that is less: a log can have any
// number that an endpoint once billed, and a sum below 0 would end all budgets.
func Sum(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Rates are prices in USD per million tokens.
type Rates struct{ Input, Output, CachedInput, CacheWrite float64 }

// Terms are what a request costs besides the prices that its model has elsewhere.
type Terms struct {
	// IsListed says that the endpoint's own list had prices when it was asked: Listed, which
	// are zero for a free model.
	IsListed bool
	Listed   Rates
	// CacheTTL is how long the endpoint keeps what the request wrote to its prompt cache;
	// empty for its default.
	CacheTTL string
}
