package report

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Stats counts what pods used, from their logs.
type Stats struct {
	// Spent is what the requests were billed.
	fold.Spent
	Turns int64
	// ToolCalls counts results, so it does not include a running call.
	ToolCalls int64
	// Prunes counts decisions, PrunedResults the results that they named, PrunedTokens the
	// tokens that they saved the next request, as estimated then.
	Prunes, PrunedResults, PrunedTokens int64
	Compactions                         int64
	// Spared is what requests did not carry, SparedPruned and SparedCut what that would have cost as cached input, in USD.
	Spared                  item.Spared
	SparedPruned, SparedCut float64
	// Models are in the order of their endpoints and names.
	Models []ModelStats
	// Tools are in the order of their names.
	Tools []item.ToolTotal
	// Damaged are the names of the pods whose counts end at damage in their log.
	Damaged []string
}

// ModelStats counts the requests to one model.
type ModelStats struct {
	// Asked is the requested model.
	Asked item.ModelRef
	fold.Spent
	// Cache is what the endpoint's prompt cache gave.
	Cache item.CacheTotal
}

// Count counts what a pod used, including what its sub-pods used for it. If idOrName is
// empty, it counts all pods together, each request once; then a damaged log does not keep
// it from counting the others.
func Count(ctx context.Context, h *pod.Host, idOrName string) (Stats, error) {
	pods, err := h.SelectPods(ctx, idOrName)
	if err != nil {
		return Stats{}, err
	}
	c := counter{
		known: h.Settings().Models, all: idOrName == "", models: make(map[item.ModelRef]*ModelStats), tools: make(map[string]*item.ToolTotal),
	}
	for _, p := range pods {
		f, err := h.Logs.Fold(ctx, p.ID)
		if f != nil {
			c.add(f.Context.Totals())
		}
		switch {
		case err == nil:
		case c.all && item.KindOf(err) == item.KindDataLoss:
			c.Damaged = append(c.Damaged, p.Name)
		case c.all && item.KindOf(err) == item.KindNotFound:
			// It was deleted meanwhile.
		default:
			return Stats{}, err
		}
	}
	byName := func(a, b item.ModelRef) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Model, b.Model))
	}
	for _, ref := range slices.SortedFunc(maps.Keys(c.models), byName) {
		c.Models = append(c.Models, *c.models[ref])
	}
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		c.Tools = append(c.Tools, *c.tools[name])
	}
	return c.Stats, nil
}

// counter sums totals up.
type counter struct {
	Stats
	known fold.Models
	// all says that the logs of sub-pods are counted themselves.
	all    bool
	models map[item.ModelRef]*ModelStats
	tools  map[string]*item.ToolTotal
}

func (c *counter) add(t item.Totals) {
	c.Turns += t.Turns
	c.Compactions += t.Compactions
	c.Prunes += t.Prunes
	c.PrunedResults += t.PrunedResults
	c.PrunedTokens += t.PrunedTokens
	for _, r := range t.Requests {
		c.request(r)
	}
	for _, u := range t.Tools {
		sum := c.tools[u.Tool]
		if sum == nil {
			sum = &item.ToolTotal{Tool: u.Tool}
			c.tools[u.Tool] = sum
		}
		c.ToolCalls += u.Calls
		sum.Calls += u.Calls
		sum.Errors += u.Errors
		sum.Cuts += u.Cuts
		sum.CutTotal += u.CutTotal
		sum.CutKept += u.CutKept
		sum.Interrupted += u.Interrupted
		sum.Unknown += u.Unknown
	}
}

// request counts a sum of similar requests.
func (c *counter) request(r item.RequestTotal) {
	u := r.Request()
	if c.all && u.Purpose == item.PurposeSubPod {
		return // The sub-pod's own log counts it.
	}
	asked := item.ModelRef{Endpoint: cmp.Or(u.Endpoint, item.DefaultEndpoint), Model: cmp.Or(u.Asked, u.Model)}
	if c.models[asked] == nil {
		c.models[asked] = &ModelStats{Asked: asked}
	}
	m := c.models[asked]
	m.Add(u, c.known)
	m.Cache = m.Cache.Add(r.Cache)
	c.Spent.Add(u, c.known)
	c.Spared = c.Spared.Add(r.Spared)
	c.SparedPruned += c.asCached(u, r.Spared.Pruned)
	c.SparedCut += c.asCached(u, r.Spared.Cut)
}

// asCached is what tokens cost as cached input of a request.
func (c *counter) asCached(u item.RequestUsage, tokens int64) float64 {
	u.Measured, u.Usage = true, item.Usage{Requests: 1, Input: tokens, CachedInput: tokens}
	usd, _ := c.known.Cost(u)
	return usd
}
