package item

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

// Add is the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		CacheWrite:  u.CacheWrite + v.CacheWrite,
		Output:      u.Output + v.Output,
		Reasoning:   u.Reasoning + v.Reasoning,
		Requests:    u.Requests + v.Requests,
	}
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
