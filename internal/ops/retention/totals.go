package retention

import (
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// summary is the fold of removed entries into the one that takes their place.
type summary struct {
	mark    item.Purged
	last    item.Entry
	setups  []storedSetup
	rewinds []rewind
}

type storedSetup struct {
	seq   item.Seq
	setup *item.Setup
}

// rewind took back what stands between its entry and to.
type rewind struct{ at, to item.Seq }

// counts says whether an entry is part of history: no rewind took it back, save one
// that was itself taken back.
func (s *summary) counts(seq item.Seq) bool {
	end := s.last.Seq
	for _, r := range slices.Backward(s.rewinds) {
		if r.at > end {
			continue
		}
		if r.to < seq && seq < r.at {
			return false
		}
		end = r.to
	}
	return true
}

// setup is the last one that counts.
func (s *summary) setup() *item.Setup {
	for _, stored := range slices.Backward(s.setups) {
		if s.counts(stored.seq) {
			return stored.setup
		}
	}
	return nil
}

func newSummary(at time.Time, from item.Seq, reason string) *summary {
	return &summary{mark: item.Purged{At: at, From: from, Reason: reason}}
}

// entry is the mark, with the time and the turn of the last removed entry.
func (s *summary) entry() item.Entry {
	s.mark.Setup = s.setup()
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
		s.mark.Entries, *t = k.Entries, k.Totals
		t.PrunedTokens = 0
		if k.Setup != nil {
			s.setUp(e.Seq, *k.Setup)
		}
	case item.Setup:
		s.setUp(e.Seq, k)
	case item.Rewind:
		s.rewinds = append(s.rewinds, rewind{e.Seq, k.To})
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

func (s *summary) setUp(seq item.Seq, setup item.Setup) {
	s.setups = append(s.setups, storedSetup{seq, &setup})
}

func (s *summary) request(k item.RequestUsage) {
	r := item.RequestTotal{Model: k.Model, Purpose: k.Purpose, Measured: k.Measured, Asked: k.Asked}
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
	state  *fold.Context
	tokens int64
}

func newPruned() (*pruned, error) {
	state, err := fold.NewContext(fold.ContextConfig{})
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
