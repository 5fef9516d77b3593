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
func (l *Logs) Stats(ctx context.Context, idOrName string) (Stats, error) {
	var pods []item.Pod
	var err error
	if idOrName == "" {
		pods, err = l.store.Pods(ctx)
	} else {
		var p item.Pod
		p, err = l.store.Pod(ctx, idOrName)
		pods = []item.Pod{p}
	}
	if err != nil {
		return Stats{}, err
	}
	set := l.settings()
	c := counter{prices: set.Prices, all: idOrName == "", tools: make(map[string]*ToolStats)}
	for _, p := range pods {
		f, _, err := l.folded(ctx, p.ID, set)
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
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		c.Tools = append(c.Tools, *c.tools[name])
	}
	return c.Stats, nil
}

// counter sums totals up.
type counter struct {
	Stats
	prices []fold.ModelPrice
	// all says that the logs of spawned pods are counted themselves.
	all   bool
	tools map[string]*ToolStats
}

func (c *counter) add(t item.Totals) {
	c.Turns += t.Turns
	c.Compactions += t.Compactions
	c.Prunes += t.Prunes
	c.PrunedResults += t.PrunedResults
	c.PrunedTokens += t.PrunedTokens
	for _, r := range t.Requests {
		c.request(r.Request())
	}
	for _, u := range t.Tools {
		sum := c.tools[u.Tool]
		if sum == nil {
			sum = &ToolStats{Tool: u.Tool}
			c.tools[u.Tool] = sum
		}
		c.ToolCalls += u.Calls
		sum.Calls += u.Calls
		sum.Errors += u.Errors
		sum.Cuts += u.Cuts
		sum.CutTotal += u.CutTotal
		sum.CutKept += u.CutKept
	}
}

// request counts a sum of requests alike.
func (c *counter) request(u item.RequestUsage) {
	if c.all && u.Purpose == item.PurposeSubPod {
		return // It is counted where it stands in a log of its own.
	}
	c.Usage = c.Usage.Add(u.Usage)
	if usd, known := fold.CostOf(u, c.prices); known {
		c.Cost += usd
	} else {
		c.Unpriced += u.Usage.Requests
	}
}
