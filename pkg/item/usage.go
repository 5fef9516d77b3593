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
