package fold

import (
	"fmt"
	"math"
	"time"
)

// stakes are what the economic rule weighs with, the same for all results of one
// decision. Amounts are in tokens of uncached input.
type stakes struct {
	EconomicConfig
	// read and write are the prices of a token from the cache and of a new one.
	read, write float64
	cold        bool
	// horizon is for how many further requests a result would be carried.
	horizon float64
	// request is the size of the next request, miss the cost of a miss beside the
	// tokens.
	request, miss float64
	// step and turn are the current ones.
	step, turn int
}

func (l *Ledger) stakes(now time.Time) stakes {
	c := l.cfg.Economic
	s := stakes{
		EconomicConfig: c,
		read:           l.terms.Price.Cached,
		write:          l.terms.Price.Write,
		cold:           l.cold(now),
		horizon:        max(c.HorizonMin, min(c.HorizonMax, c.HorizonShare*float64(l.steps-l.compacted))),
		request:        float64(l.Tokens()),
		step:           l.steps,
		turn:           l.turns,
	}
	if l.uncached >= uncachedRequests {
		s.read = min(1, s.write)
	}
	if s.cold || l.starts {
		s.horizon = max(s.horizon, c.HorizonStart)
	}
	s.miss = min(c.Miss*s.read, c.MissMax)
	return s
}

// uncachedRequests is how many warm requests without cached tokens show that the
// endpoint caches nothing.
const uncachedRequests = 2

// need is the chance that a pruned result is needed again.
func (s *stakes) need(r *record) float64 {
	weight, age := s.Weights.of(r.Kind), s.step-r.born
	if t := r.touched; t != nil && t.last > r.Seq {
		since := s.step - t.step
		switch {
		case t.edit > r.Seq && since >= 1:
			// What was read just before an edit is still looked at right after it.
			weight, age = s.Weights.Edited, since
		case t.edit <= r.Seq:
			weight, age = s.Weights.Reread, since
		}
	}
	p := weight * math.Exp2(-float64(age)/s.HalfLife) * r.size
	if r.turn < s.turn {
		p *= s.PastTurn
	}
	return p
}

// loss is what a miss of the result costs, fetched by one further request.
func (s *stakes) loss(r *record) float64 {
	return s.write*float64(r.Tokens) + s.read*s.request + s.miss
}

// gain is what pruning the result is worth, the price of the cache aside.
func (s *stakes) gain(r *record) float64 {
	saving := float64(r.saving())
	g := s.horizon*s.read*saving - s.need(r)*s.loss(r)
	if s.cold {
		g += (s.write - s.read) * saving
	}
	return g
}

// decideEconomic is the rule of ModeEconomic. It goes from the newest result to the
// oldest: each one further back breaks the cache earlier, and gains more.
func (l *Ledger) decideEconomic(now time.Time) Decision {
	s := l.stakes(now)
	var candidates []int
	var gain, gainAt, priceAt float64
	best, cut, saved := s.MinGain, 0, 0
	if s.cold {
		best = 0
	}
	end := len(l.ends)
	for at := len(l.open) - 1; at >= 0; at-- {
		i := l.open[at]
		r := &l.records[i]
		if !l.may(r) {
			continue
		}
		g := s.gain(r)
		if g <= 0 {
			continue
		}
		for end > 0 && l.ends[end-1] > i {
			end--
		}
		gain += g
		saved += r.saving()
		candidates = append(candidates, i)
		price := s.breaking(l.Tokens() - saved - l.kept(i, end))
		if gain-price > best {
			best, cut = gain-price, len(candidates)
			gainAt, priceAt = gain, price
		}
	}
	d := l.decision(candidates[:cut], string(ModeEconomic))
	if cut > 0 {
		d.Gain, d.Price = gainAt, priceAt
		d.Reason = fmt.Sprintf("%s: to leave out is worth %.0f tokens, to break the cache costs %.0f", d.extent(), d.Gain, d.Price)
	}
	return l.relieve(d, &s)
}

// breaking is the price of sending tokens anew that a warm cache holds.
func (s *stakes) breaking(tokens int) float64 {
	if s.cold {
		return 0
	}
	return (s.write - s.read) * float64(tokens)
}

// kept is what the cache is taken to hold of a request that differs from record i
// on; end counts the ends at or before i.
func (l *Ledger) kept(i, end int) int {
	switch l.cfg.Cache {
	case CacheLCP:
		return l.terms.Fixed + l.records[i].start
	case CachePrefix:
		return l.terms.Fixed
	}
	if end == 0 {
		return 0
	}
	return l.terms.Fixed + l.start(l.ends[end-1])
}
