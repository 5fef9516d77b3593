package fold

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// base is a Context without its items, which the log has: what folding the entries up to
// one of them gave, in a form that can be kept. Its fields are those of Context and Ledger.
type base struct {
	Setup   *item.Setup
	Summary item.Seq
	Records []baseRecord
	Ends    []int
	Paths   []baseTouches // In the order of their paths.
	Calls   []uint64

	Fixed, Steps, Compacted, Turns, Uncached int
	Starts, Warm                             bool
	Answered                                 time.Time

	PerToken float64
	Grown    int
	Torn     bool
	Billed   int64
}

type baseRecord struct {
	Element
	Born, Turn int
	Pruned     bool
}

type baseTouches struct {
	Path       string
	Edit, Last item.Seq
	Step       int
}

// Base is all that the Context knows, save its items, under its configuration. It needs each
// call to have its result.
func (s *Context) Base() ([]byte, error) {
	if len(s.open) > 0 {
		return nil, errors.New("a call has no result")
	}
	l := s.ledger
	b := base{
		Setup: s.setup, Summary: s.summary, Ends: l.ends, Calls: s.calls.all(),
		Fixed: l.terms.Fixed, Steps: l.steps, Compacted: l.compacted, Turns: l.turns, Uncached: l.uncached,
		Starts: l.starts, Warm: l.warm, Answered: l.answered,
		PerToken: s.meter.perToken, Grown: s.meter.grown, Torn: s.meter.torn, Billed: s.meter.billed,
	}
	for _, r := range l.records {
		b.Records = append(b.Records, baseRecord{r.Element, r.born, r.turn, r.pruned})
	}
	for _, path := range slices.Sorted(maps.Keys(l.paths)) {
		t := l.paths[path]
		b.Paths = append(b.Paths, baseTouches{path, t.edit, t.last, t.step})
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(b)
	return out.Bytes(), err
}

// Restored is a Context that is made of a base and still lacks its items.
type Restored struct{ context *Context }

// Restore makes the Context that gave a base. c must be the configuration of that.
func Restore(c ContextConfig, encoded []byte) (*Restored, error) {
	var b base
	if err := gob.NewDecoder(bytes.NewReader(encoded)).Decode(&b); err != nil {
		return nil, err
	}
	s, err := NewContext(c)
	if err != nil {
		return nil, err
	}
	s.summary, s.calls.old = b.Summary, b.Calls
	s.meter = meter{perToken: b.PerToken, grown: b.Grown, torn: b.Torn, billed: b.Billed}
	if b.Setup != nil {
		s.setup = b.Setup
		s.ledger.terms = s.terms(*b.Setup)
		s.held.stored, s.held.limits = b.Setup.OutputLimits, tool.LimitsOf(b.Setup.OutputLimits)
	}
	l := s.ledger
	l.terms.Fixed, l.ends = b.Fixed, b.Ends
	l.steps, l.compacted, l.turns, l.uncached = b.Steps, b.Compacted, b.Turns, b.Uncached
	l.starts, l.warm, l.answered = b.Starts, b.Warm, b.Answered
	for _, t := range b.Paths {
		l.paths[t.Path] = &touches{t.Edit, t.Last, t.Step}
	}
	for i, r := range b.Records {
		kept := record{Element: r.Element, born: r.Born, turn: r.Turn, pruned: r.Pruned}
		if reads(&r.Element) {
			kept.touched = l.paths[r.Path]
		}
		if l.prunable(&r.Element) {
			kept.size = sizeFactor(r.Tokens, l.cfg.Economic)
			if !r.Pruned {
				l.open = append(l.open, i)
			}
		}
		l.records = append(l.records, kept)
		s.items, s.seqs = append(s.items, nil), append(s.seqs, r.Seq)
	}
	l.lay(0)
	return &Restored{s}, nil
}

// First is the first entry that has something of what the Context lacks.
func (r *Restored) First() item.Seq { return r.context.First() }

// Add is given the entries from First to the last that the base is made of.
func (r *Restored) Add(e item.Entry) {
	s := r.context
	switch k := e.Kind.(type) {
	case item.Compaction:
		if e.Seq == s.summary {
			s.items[0] = k.Summary
		}
	case item.ItemAdded:
		i, ok := s.ledger.find(e.Seq)
		if !ok || i == 0 && s.summary > 0 {
			return
		}
		s.items[i] = k.Item
		if s.ledger.records[i].pruned {
			s.stub(i)
		} else {
			s.items[i] = s.held.hold(e.Seq, k.Item)
		}
	}
}

// Context is the restored Context, once it lacks nothing.
func (r *Restored) Context() (*Context, error) {
	for i, it := range r.context.items {
		if it == nil {
			return nil, fmt.Errorf("the log has no item at seq %d", r.context.seqs[i])
		}
	}
	return r.context, nil
}
