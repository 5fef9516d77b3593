package fold

import (
	"slices"

	"podd/pkg/item"
)

// Totals are the counts of the log, including what rewinds undid. They must not be
// changed.
func (s *Context) Totals() item.Totals { return s.kept.Totals }

// count adds an entry to the totals. saved is the number of tokens that the next request
// lost because of it.
func (s *Context) count(e item.Entry, saved int) {
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
		countRequest(t, k)
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			countResult(t, r)
		}
	}
}

func countRequest(t *item.Totals, k item.RequestUsage) {
	r := item.RequestTotal{Model: k.Model, Purpose: k.Purpose, Measured: k.Measured, Asked: k.Asked, Endpoint: k.Endpoint, Above: k.InputAbove()}
	i := slices.IndexFunc(t.Requests, func(b item.RequestTotal) bool {
		b.Usage = item.Usage{}
		return b == r
	})
	if i < 0 {
		i, t.Requests = len(t.Requests), append(t.Requests, r)
	}
	t.Requests[i].Usage = t.Requests[i].Usage.Add(k.Usage)
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
	if r.Cut != nil {
		u.Cuts++
		u.CutTotal += r.Cut.TotalBytes
		u.CutKept += r.Cut.KeptBytes
	}
}
