package fold

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// Totals are the counts of the log, including what rewinds undid. They must not be
// changed.
func (s *Context) Totals() item.Totals { return s.kept.Totals }

// count adds an entry to the totals. saved is the number of tokens that the next request
// lost because of it, cache what a request's cache gave.
func (s *Context) count(e item.Entry, saved int, cache item.CacheTotal) {
	t := &s.kept.Totals
	switch k := e.Kind.(type) {
	case item.Purged:
		*t = k.Totals
		t.Requests, t.Tools = slices.Clone(t.Requests), slices.Clone(t.Tools)
	case item.TurnStarted:
		t.Turns++
	case item.Compaction:
		t.Compactions++
	case item.Prune:
		t.Prunes++
		t.PrunedResults += int64(len(k.Seqs))
		t.PrunedTokens += int64(saved)
	case item.RequestUsage:
		countRequest(t, k, cache, s.spared(k))
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			countResult(t, r)
		}
	}
}

// cached is what the cache gave for an entry that is about to be added.
func (s *Context) cached(e item.Entry) (c item.CacheTotal) {
	k, ok := e.Kind.(item.RequestUsage)
	if !ok || !k.Measured || k.Purpose != "" || k.PrefixBytes <= 0 || k.Usage.Input <= 0 {
		return c
	}
	share := min(1, float64(k.PrefixBytes)/float64(max(k.RequestBytes, k.PrefixBytes)))
	c.Promised = int64(share * float64(k.Usage.Input))
	c.Read = max(0, min(c.Promised, k.Usage.CachedInput))
	if c.Promised < item.MinPromise || c.Read > 0 {
		return c
	}
	switch {
	case e.Time.Sub(s.ledger.kept.Answered)-time.Duration(k.DurationMS)*time.Millisecond > s.ledger.kept.Terms.Price.TTL:
		c.Idle++
	case s.kept.NewSetup:
		c.Setup++
	case s.kept.Shrunk:
		c.Prune++
	default:
		c.Other++
	}
	return c
}

// spared is what a request of the turn did not carry.
func (s *Context) spared(k item.RequestUsage) item.Spared {
	if k.Purpose != "" {
		return item.Spared{}
	}
	return item.Spared{Pruned: int64(s.ledger.left), Cut: int64(s.ledger.cut)}
}

func countRequest(t *item.Totals, k item.RequestUsage, cache item.CacheTotal, spared item.Spared) {
	r := item.RequestTotal{Model: k.Model, Purpose: k.Purpose, Measured: k.Measured, Asked: k.Asked, Endpoint: k.Endpoint, Above: k.InputAbove(), Terms: k.Terms}
	sum := requestsLike(t, r)
	sum.Usage, sum.Cache, sum.Spared = sum.Usage.Add(k.Usage), sum.Cache.Add(cache), sum.Spared.Add(spared)
}

// requestsLike returns the counts of the requests like one; it adds them if there are none.
func requestsLike(t *item.Totals, r item.RequestTotal) *item.RequestTotal {
	kind := func(r item.RequestTotal) item.RequestTotal {
		r.Usage, r.Cache, r.Spared = item.Usage{}, item.CacheTotal{}, item.Spared{}
		return r
	}
	i := slices.IndexFunc(t.Requests, func(b item.RequestTotal) bool { return kind(b) == kind(r) })
	if i < 0 {
		i, t.Requests = len(t.Requests), append(t.Requests, kind(r))
	}
	return &t.Requests[i]
}

func countResult(t *item.Totals, r item.ToolResult) {
	i := slices.IndexFunc(t.Tools, func(b item.ToolTotal) bool { return b.Tool == r.Tool })
	if i < 0 {
		i, t.Tools = len(t.Tools), append(t.Tools, item.ToolTotal{Tool: r.Tool})
	}
	u := &t.Tools[i]
	u.Calls++
	if r.IsError {
		u.Errors++
	}
	if r.Recovery != "" {
		u.Interrupted++
	}
	if r.Recovery == item.RecoveryUnknown {
		u.Unknown++
	}
	if r.Cut != nil {
		u.Cuts++
		u.CutTotal += r.Cut.TotalBytes
		u.CutKept += r.Cut.KeptBytes
	}
}
