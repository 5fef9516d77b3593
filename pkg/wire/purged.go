package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func purgedToProto(k item.Purged) *poddv1.Purged {
	p := &poddv1.Purged{
		At: timeToProto(k.At), Entries: k.Entries, FromSeq: int64(k.From),
		Totals: totalsToProto(k.Totals), Reason: clean(k.Reason),
	}
	if k.Setup != nil {
		p.Setup = setupToProto(*k.Setup)
	}
	for _, j := range k.Jobs {
		p.Jobs = append(p.Jobs, jobToProto(j))
	}
	return p
}

func purgedFromProto(p *poddv1.Purged) item.Purged {
	k := item.Purged{
		At: timeFromProto(p.GetAt()), Entries: p.GetEntries(), From: item.Seq(p.GetFromSeq()),
		Totals: totalsFromProto(p.GetTotals()), Reason: p.GetReason(),
	}
	if p.GetSetup() != nil {
		setup := setupFromProto(p.GetSetup())
		k.Setup = &setup
	}
	for _, j := range p.GetJobs() {
		k.Jobs = append(k.Jobs, jobFromProto(j))
	}
	return k
}

func totalsToProto(t item.Totals) *poddv1.Totals {
	p := &poddv1.Totals{
		Turns: t.Turns, Compactions: t.Compactions,
		Prunes: t.Prunes, PrunedResults: t.PrunedResults, PrunedTokens: t.PrunedTokens,
	}
	for _, r := range t.Requests {
		p.Requests = append(p.Requests, &poddv1.RequestTotal{
			Model: clean(r.Model), Asked: clean(r.Asked), Endpoint: clean(r.Endpoint), Purpose: clean(r.Purpose),
			Measured: r.Measured, Above: r.Above, Usage: UsageToProto(r.Usage),
			PrunedTokens: r.Spared.Pruned, CutTokens: r.Spared.Cut,
			Cache: CacheToProto(r.Cache), Listed: listedToProto(r.Terms), CacheTtl: clean(r.Terms.CacheTTL),
		})
	}
	for _, u := range t.Tools {
		p.Tools = append(p.Tools, &poddv1.ToolTotal{
			Tool: clean(u.Tool), Calls: u.Calls, Errors: u.Errors, Cuts: u.Cuts, CutTotal: u.CutTotal, CutKept: u.CutKept,
			Interrupted: u.Interrupted, Unknown: u.Unknown,
		})
	}
	return p
}

func totalsFromProto(p *poddv1.Totals) item.Totals {
	t := item.Totals{
		Turns: p.GetTurns(), Compactions: p.GetCompactions(),
		Prunes: p.GetPrunes(), PrunedResults: p.GetPrunedResults(), PrunedTokens: p.GetPrunedTokens(),
	}
	for _, r := range p.GetRequests() {
		t.Requests = append(t.Requests, item.RequestTotal{
			Model: r.GetModel(), Asked: r.GetAsked(), Endpoint: r.GetEndpoint(), Purpose: r.GetPurpose(),
			Measured: r.GetMeasured(), Above: r.GetAbove(), Usage: UsageFromProto(r.GetUsage()),
			Spared: item.Spared{Pruned: r.GetPrunedTokens(), Cut: r.GetCutTokens()},
			Cache:  CacheFromProto(r.GetCache()), Terms: termsFromProto(r.GetListed(), r.GetCacheTtl()),
		})
	}
	for _, u := range p.GetTools() {
		t.Tools = append(t.Tools, item.ToolTotal{
			Tool: u.GetTool(), Calls: u.GetCalls(), Errors: u.GetErrors(),
			Cuts: u.GetCuts(), CutTotal: u.GetCutTotal(), CutKept: u.GetCutKept(),
			Interrupted: u.GetInterrupted(), Unknown: u.GetUnknown(),
		})
	}
	return t
}

// CacheToProto omits a total of nothing.
func CacheToProto(c item.CacheTotal) *poddv1.CacheTotal {
	if c == (item.CacheTotal{}) {
		return nil
	}
	return &poddv1.CacheTotal{
		PromisedTokens: c.Promised, ReadTokens: c.Read,
		IdleMisses: c.Idle, SetupMisses: c.Setup, PruneMisses: c.Prune, OtherMisses: c.Other,
	}
}

// CacheFromProto reads a total.
func CacheFromProto(p *poddv1.CacheTotal) item.CacheTotal {
	return item.CacheTotal{
		Promised: p.GetPromisedTokens(), Read: p.GetReadTokens(),
		Idle: p.GetIdleMisses(), Setup: p.GetSetupMisses(), Prune: p.GetPruneMisses(), Other: p.GetOtherMisses(),
	}
}
