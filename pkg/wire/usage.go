package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// UsageToProto converts a usage; the result is never nil.
func UsageToProto(u item.Usage) *poddv1.Usage {
	return &poddv1.Usage{
		InputTokens:       u.Input,
		CachedInputTokens: u.CachedInput,
		CacheWriteTokens:  u.CacheWrite,
		OutputTokens:      u.Output,
		ReasoningTokens:   u.Reasoning,
		Requests:          u.Requests,
	}
}

// UsageFromProto converts a usage; nil is the zero usage.
func UsageFromProto(p *poddv1.Usage) item.Usage {
	return item.Usage{
		Input:       p.GetInputTokens(),
		CachedInput: p.GetCachedInputTokens(),
		CacheWrite:  p.GetCacheWriteTokens(),
		Output:      p.GetOutputTokens(),
		Reasoning:   p.GetReasoningTokens(),
		Requests:    p.GetRequests(),
	}
}

func requestUsageToProto(k item.RequestUsage) *poddv1.RequestUsage {
	return &poddv1.RequestUsage{
		Usage:           UsageToProto(k.Usage),
		Measured:        k.Measured,
		Model:           clean(k.Model),
		Asked:           clean(k.Asked),
		Endpoint:        clean(k.Endpoint),
		Above:           k.Above,
		ResponseId:      clean(k.ResponseID),
		Step:            toInt32(k.Step),
		RequestBytes:    k.RequestBytes,
		PrefixBytes:     k.PrefixBytes,
		Purpose:         clean(k.Purpose),
		PredictedTokens: k.Predicted,
		DurationMs:      k.DurationMS,
		Listed:          listedToProto(k.Terms),
		CacheTtl:        clean(k.CacheTTL),
	}
}

func requestUsageFromProto(p *poddv1.RequestUsage) item.RequestUsage {
	return item.RequestUsage{
		Usage:        UsageFromProto(p.GetUsage()),
		Measured:     p.GetMeasured(),
		Model:        p.GetModel(),
		Asked:        p.GetAsked(),
		Endpoint:     p.GetEndpoint(),
		Above:        p.GetAbove(),
		ResponseID:   p.GetResponseId(),
		Step:         int(p.GetStep()),
		RequestBytes: p.GetRequestBytes(),
		PrefixBytes:  p.GetPrefixBytes(),
		Purpose:      p.GetPurpose(),
		Predicted:    p.GetPredictedTokens(),
		DurationMS:   p.GetDurationMs(),
		Terms:        termsFromProto(p.GetListed(), p.GetCacheTtl()),
	}
}

func listedToProto(t item.Terms) *poddv1.Rates {
	if !t.IsListed {
		return nil
	}
	r := t.Listed
	return &poddv1.Rates{Input: r.Input, CachedInput: r.CachedInput, CacheWrite: r.CacheWrite, Output: r.Output}
}

func termsFromProto(p *poddv1.Rates, ttl string) item.Terms {
	return item.Terms{
		IsListed: p != nil, CacheTTL: ttl,
		Listed: item.Rates{Input: p.GetInput(), CachedInput: p.GetCachedInput(), CacheWrite: p.GetCacheWrite(), Output: p.GetOutput()},
	}
}
