package fold

import (
	"slices"

	"podd/pkg/item"
)

// Limiter cuts the output of a tool to a limit. ok is false for an output that is within it.
type Limiter func(tool string, out item.Output) (cut item.Output, ok bool)

// limiter is the one for a setup's limits.
func (c *ContextConfig) limiter(limits []item.OutputLimit) Limiter {
	if c.Limiter == nil || len(limits) == 0 {
		return func(_ string, out item.Output) (item.Output, bool) { return out, false }
	}
	return c.Limiter(limits)
}

// held cuts results to the limits of the setup, whatever limits they were stored under.
type held struct {
	stored []item.OutputLimit
	cut    Limiter
	// whole are the results that are sent cut, as stored.
	whole map[item.Seq]item.ToolResult
}

// hold is an item as it is sent under the limits of the setup.
func (h *held) hold(seq item.Seq, it item.Item) item.Item {
	r, ok := it.(item.ToolResult)
	if !ok {
		return it
	}
	out, cut := h.cut(r.Tool, r.Output)
	if !cut {
		delete(h.whole, seq)
		return it
	}
	if h.whole == nil {
		h.whole = make(map[item.Seq]item.ToolResult)
	}
	h.whole[seq] = r
	r.Output = out
	return r
}

// asStored is a sent result as it was before it was cut.
func (h *held) asStored(seq item.Seq, it item.Item) item.Item {
	if r, ok := h.whole[seq]; ok {
		return r
	}
	return it
}

// limit cuts the results to other limits from now on.
func (s *Context) limit(limits []item.OutputLimit) {
	if slices.Equal(limits, s.held.stored) {
		return
	}
	s.held.stored, s.held.cut = limits, s.cfg.limiter(limits)
	s.items = slices.Clone(s.items)
	sizes := make(map[int]int)
	for i, it := range s.items {
		if s.ledger.kept.Records[i].pruned() {
			continue
		}
		next := s.held.hold(s.seqs[i], s.held.asStored(s.seqs[i], it))
		if size(next) != size(it) {
			sizes[i] = s.tokensOf(next)
		}
		s.items[i] = next
	}
	s.ledger.Resize(sizes)
}

// Excess is what other limits would remove from the next request.
type Excess struct {
	// Results counts the results, Bytes what they lose; Tools are their tools, by name.
	Results, Bytes int
	Tools          []string
}

// Excess says what the next request would lose under other limits.
func (s *Context) Excess(limits []item.OutputLimit) Excess {
	var e Excess
	hold := s.cfg.limiter(limits)
	for i, it := range s.items {
		r, ok := it.(item.ToolResult)
		if !ok || s.ledger.kept.Records[i].pruned() {
			continue
		}
		whole, _ := s.held.asStored(s.seqs[i], it).(item.ToolResult)
		out, cut := hold(r.Tool, whole.Output)
		if loss := len(r.Content) - len(out.Content); cut && loss > 0 {
			e.Results++
			e.Bytes += loss
			e.Tools = append(e.Tools, r.Tool)
		}
	}
	slices.Sort(e.Tools)
	e.Tools = slices.Compact(e.Tools)
	return e
}
