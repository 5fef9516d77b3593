package fold

import (
	"fmt"
	"math"
	"time"
)

// stakes are the inputs of the economic rule, the same for all results of one decision.
// Amounts are in tokens of uncached input.
type stakes struct {
	EconomicConfig
	// read and write are the prices of a token from the cache and of a new one.
	read, write float64
	cold        bool
	// horizon is the number of further requests that would carry a result.
	horizon float64
	// request is the size of the next request, miss the cost of a miss in addition to the
	// tokens.
	request, miss float64
	// step and turn are the current ones.
	step, turn int
}

func (l *Ledger) stakes(now time.Time) stakes {
	c := l.cfg.Economic
	s := stakes{
		EconomicConfig: c,
		read:           l.kept.Terms.Price.Cached,
		write:          l.kept.Terms.Price.Write,
		cold:           l.cold(now),
		horizon:        max(c.HorizonMin, min(c.HorizonMax, c.HorizonShare*float64(l.kept.Steps-l.kept.Compacted))),
		request:        float64(l.Tokens()),
		step:           l.kept.Steps,
		turn:           l.kept.Turns,
	}
	if l.kept.Uncached >= uncachedRequests {
		s.read = min(1, s.write)
	}
	if s.cold || l.kept.Starts {
		s.horizon = max(s.horizon, c.HorizonStart)
	}
	s.miss = min(c.Miss*s.read, c.MissMax)
	return s
}

// uncachedRequests is how many warm requests without cached tokens prove that the
// endpoint does not cache.
const uncachedRequests = 2

// need is the probability that a pruned result is needed again.
func (s *stakes) need(r *record) float64 {
	weight, age := s.Weights.of(r.Kind), s.step-r.Born
	switch since := s.step - r.Touched; {
	case r.Edited > 0 && since >= 1:
		// A file read just before its edit is still looked at right after it.
		weight, age = s.Weights.Edited, since
	case r.Edited == 0 && r.Reread > 0:
		weight, age = s.Weights.Reread, since
	}
	p := weight * math.Exp2(-float64(age)/s.HalfLife) * r.size
	if r.Turn < s.turn {
		p *= s.PastTurn
	}
	return p
}

// loss is the cost of a miss of the result, which one further request fetches.
func (s *stakes) loss(r *record) float64 {
	return s.write*float64(r.Tokens) + s.read*s.request + s.miss
}

// gain is the value of pruning the result, without the price of the cache.
func (s *stakes) gain(r *record) float64 {
	saving := float64(r.saving())
	g := s.horizon*s.read*saving - s.need(r)*s.loss(r)
	if s.cold {
		g += (s.write - s.read) * saving
	}
	return g
}

// decideEconomic is the rule of ModeEconomic. It goes from the newest result to the
// oldest: each earlier one breaks the cache earlier, and gains more.
func (l *Ledger) decideEconomic(now time.Time) Decision {
	s := l.stakes(now)
	var candidates []int
	var gain, gainAt, priceAt float64
	best, cut, saved := s.MinGain, 0, 0
	if s.cold {
		best = 0
	}
	end := len(l.kept.Ends)
	for at := len(l.open) - 1; at >= 0; at-- {
		i := l.open[at]
		r := &l.kept.Records[i]
		if !l.may(r) {
			continue
		}
		g := s.gain(r)
		if g <= 0 {
			continue
		}
		for end > 0 && l.kept.Ends[end-1] > i {
			end--
		}
		gain += g
		saved += r.saving()
		candidates = append(candidates, i)
		price := s.breaking(l.Tokens() - saved - l.cached(i, end))
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

// breaking is the price of sending again the tokens that a warm cache has.
func (s *stakes) breaking(tokens int) float64 {
	if s.cold {
		return 0
	}
	return (s.write - s.read) * float64(tokens)
}

// cached is the part of a request that the cache is assumed to have if the request
// differs from record i on; end counts the ends at or before i.
func (l *Ledger) cached(i, end int) int {
	switch l.cfg.Cache {
	case CacheLCP:
		return l.kept.Terms.Fixed + l.kept.Records[i].start
	case CachePrefix:
		return l.kept.Terms.Fixed
	}
	if end == 0 {
		return 0
	}
	return l.kept.Terms.Fixed + l.start(l.kept.Ends[end-1])
}
