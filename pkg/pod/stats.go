package pod

import (
	"context"
	"maps"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Stats counts what pods used. All of it is read from their logs.
type Stats struct {
	Usage item.Usage
	Turns int64
	// ToolCalls counts results, so a call that runs is not in it yet.
	ToolCalls int64
	// Prunes counts decisions, PrunedResults the results that they named,
	// PrunedTokens what the next request lost by them, as estimated then.
	Prunes, PrunedResults, PrunedTokens int64
	Compactions                         int64
	// Cost is in USD, of the requests that have a configured price and that the
	// endpoint reported a usage of; Unpriced counts the others.
	Cost     float64
	Unpriced int64
	// Tools are in the order of their names.
	Tools []ToolStats
	// Damaged are the names of the pods that are counted up to the damage in their log
	// alone.
	Damaged []string
}

// ToolStats counts the calls of one tool.
type ToolStats struct {
	Tool          string
	Calls, Errors int64
	// Cuts counts outputs that were cut; CutTotal and CutKept are their bytes, whole
	// and as kept.
	Cuts, CutTotal, CutKept int64
}

// Stats counts what a pod used, with what the pods that it spawned used for it; all pods
// together, each request once, when idOrName is empty: then a damaged log keeps nobody from
// counting the others.
func (h *Host) Stats(ctx context.Context, idOrName string) (Stats, error) {
	var pods []item.Pod
	var err error
	if idOrName == "" {
		pods, err = h.Store.Pods(ctx)
	} else {
		var p item.Pod
		p, err = h.Store.Pod(ctx, idOrName)
		pods = []item.Pod{p}
	}
	if err != nil {
		return Stats{}, err
	}
	c := counter{settings: h.settings(), all: idOrName == "", tools: make(map[string]*ToolStats)}
	for _, p := range pods {
		if c.state, err = c.settings.newContext(); err != nil {
			return Stats{}, err
		}
		switch err := h.readAll(ctx, p.ID, 0, c.add); {
		case err == nil:
		case c.all && item.KindOf(err) == item.KindDataLoss:
			c.Damaged = append(c.Damaged, p.Name)
		case c.all && item.KindOf(err) == item.KindNotFound:
			// It was deleted meanwhile.
		default:
			return Stats{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		c.Tools = append(c.Tools, *c.tools[name])
	}
	return c.Stats, nil
}

// Prices are the configured prices of models.
func (h *Host) Prices() []fold.ModelPrice { return h.settings().Prices }

// counter folds logs into Stats.
type counter struct {
	Stats
	settings *settings
	// all says that the logs of spawned pods are counted themselves.
	all   bool
	tools map[string]*ToolStats
	// state is the fold of the log that is read.
	state *fold.Context
}

func (c *counter) add(e item.Entry) {
	before := c.state.Tokens()
	c.state.Add(e)
	switch k := e.Kind.(type) {
	case item.Purged:
		c.removed(k.Totals)
	case item.TurnStarted:
		c.Turns++
	case item.RequestUsage:
		c.request(k)
	case item.Compaction:
		c.Compactions++
	case item.Prune:
		c.Prunes++
		c.PrunedResults += int64(len(k.Seqs))
		c.PrunedTokens += int64(before - c.state.Tokens())
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			c.result(r)
		}
	}
}

// removed adds what purged entries recorded.
func (c *counter) removed(t item.Totals) {
	c.Turns += t.Turns
	c.Compactions += t.Compactions
	c.Prunes += t.Prunes
	c.PrunedResults += t.PrunedResults
	c.PrunedTokens += t.PrunedTokens
	for _, r := range t.Requests {
		c.request(r.Request())
	}
	for _, u := range t.Tools {
		sum := c.tool(u.Tool)
		c.ToolCalls += u.Calls
		sum.Calls += u.Calls
		sum.Errors += u.Errors
		sum.Cuts += u.Cuts
		sum.CutTotal += u.CutTotal
		sum.CutKept += u.CutKept
	}
}

// request counts a request, or the sum of several alike.
func (c *counter) request(u item.RequestUsage) {
	if c.all && u.Purpose == item.PurposeSubPod {
		return // It is counted where it stands in a log of its own.
	}
	c.Usage = c.Usage.Add(u.Usage)
	if usd, known := fold.CostOf(u, c.settings.Prices); known {
		c.Cost += usd
	} else {
		c.Unpriced += u.Usage.Requests
	}
}

// tool is where the calls of a tool are counted.
func (c *counter) tool(name string) *ToolStats {
	t := c.tools[name]
	if t == nil {
		t = &ToolStats{Tool: name}
		c.tools[name] = t
	}
	return t
}

func (c *counter) result(r item.ToolResult) {
	t := c.tool(r.Tool)
	c.ToolCalls++
	t.Calls++
	if r.IsError {
		t.Errors++
	}
	if r.Cut != nil {
		t.Cuts++
		t.CutTotal += r.Cut.TotalBytes
		t.CutKept += r.Cut.KeptBytes
	}
}
