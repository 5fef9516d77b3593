package retention

import (
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/projection"
)

// summary is the fold of removed entries into the one that takes their place.
type summary struct {
	mark item.Purged
	last item.Entry
}

func newSummary(at time.Time, from item.Seq, reason string) *summary {
	return &summary{mark: item.Purged{At: at, From: from, Reason: reason}}
}

// entry is the mark, with the time and the turn of the last removed entry.
func (s *summary) entry() item.Entry {
	return item.Entry{Time: s.last.Time, Turn: s.last.Turn, Kind: s.mark}
}

func (s *summary) add(e item.Entry) {
	turn := max(e.Turn, s.last.Turn)
	s.last = e
	s.last.Turn = turn
	s.mark.Entries++
	t := &s.mark.Totals
	switch k := e.Kind.(type) {
	case item.Purged:
		s.mark.Entries, s.mark.Setup, *t = k.Entries, k.Setup, k.Totals
		t.PrunedTokens = 0
	case item.Setup:
		s.mark.Setup = &k
	case item.TurnStarted:
		t.Turns++
	case item.Compaction:
		t.Compactions++
	case item.RequestUsage:
		s.request(k)
	case item.Prune:
		t.Prunes++
		t.PrunedResults += int64(len(k.Seqs))
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			s.result(r)
		}
	}
}

func (s *summary) request(k item.RequestUsage) {
	r := item.RequestTotal{Model: k.Model, Purpose: k.Purpose, Measured: k.Measured}
	if s.mark.Setup != nil {
		r.Asked = s.mark.Setup.Model
	}
	same := func(b item.RequestTotal) bool {
		b.Usage = item.Usage{}
		return b == r
	}
	t := &s.mark.Totals
	i := slices.IndexFunc(t.Requests, same)
	if i < 0 {
		i, t.Requests = len(t.Requests), append(t.Requests, r)
	}
	t.Requests[i].Usage = t.Requests[i].Usage.Add(k.Usage)
}

func (s *summary) result(r item.ToolResult) {
	t := &s.mark.Totals
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

// pruned counts what a log's requests lost by pruning, as who reads the log does.
type pruned struct {
	state  *projection.State
	tokens int64
}

func newPruned() (*pruned, error) {
	state, err := projection.NewState(projection.StateConfig{})
	return &pruned{state: state}, err
}

func (p *pruned) add(e item.Entry) {
	before := p.state.Tokens()
	p.state.Add(e)
	switch k := e.Kind.(type) {
	case item.Purged:
		p.tokens += k.Totals.PrunedTokens
	case item.Prune:
		p.tokens += int64(before - p.state.Tokens())
	}
}
