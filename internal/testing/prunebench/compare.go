package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// line is the output for a policy on a trace. Percentages have two decimals.
type line struct {
	Trace  string `json:"trace"`
	Policy string `json:"policy"`
	// CostPct and TokensPct are relative to policy off, MissPct is relative to the calls.
	CostPct   float64 `json:"cost_pct"`
	TokensPct float64 `json:"tokens_pct"`
	MissPct   float64 `json:"miss_pct"`
	// MissTokensPct is the part of the tokens of all results that calls needed which was left out.
	MissTokensPct float64 `json:"miss_tokens_pct"`
	// Cost95 and Miss95 are 95 % intervals of CostPct and MissPct, for other windows of the same kind.
	Cost95 interval `json:"cost_95"`
	Miss95 interval `json:"miss_95"`
	// Events counts the prunes, Calls the recorded model calls.
	Events int `json:"events"`
	Calls  int `json:"calls"`
}

// interval is the lower and the upper end.
type interval [2]float64

// compare replays all windows of a trace under each policy.
func compare(tr trace, t terms) ([]line, error) {
	var lines []line
	var off []outcome
	for _, p := range policies {
		var all []outcome
		for i := range tr.windows {
			o, err := replayWindow(&tr.windows[i], p, t)
			if err != nil {
				return nil, fmt.Errorf("replay window %q of %s: %w", tr.windows[i].ID, tr.name, err)
			}
			all = append(all, o)
		}
		if off == nil {
			off = all
		}
		lines = append(lines, summarize(tr.name, p.name, all, off))
	}
	return lines, nil
}

// summarize is the line of a policy whose outcomes are all, by window, beside those of policy off.
func summarize(trace, policy string, all, off []outcome) line {
	sum, base := total(all), total(off)
	l := line{
		Trace:     trace,
		Policy:    policy,
		CostPct:   percent(sum.cost, base.cost),
		TokensPct: percent(float64(sum.tokens), float64(base.tokens)),
		MissPct:   percent(float64(sum.misses), float64(sum.calls)),
		Events:    sum.events,
		Calls:     sum.calls,
	}
	if sum.needed > 0 {
		l.MissTokensPct = percent(float64(sum.missed), float64(sum.needed))
	}
	l.Cost95, l.Miss95 = bootstrap(all, off)
	return l
}

func total(all []outcome) (sum outcome) {
	for _, o := range all {
		sum.cost += o.cost
		sum.tokens += o.tokens
		sum.misses += o.misses
		sum.missed += o.missed
		sum.needed += o.needed
		sum.events += o.events
		sum.calls += o.calls
	}
	return sum
}

// samples is how often bootstrap draws as many windows as there are, with replacement.
const samples = 2000

// bootstrap are the percentiles 2.5 and 97.5 of the cost and of the misses over draws of windows, always the same
// draws, so that policies are compared on the same windows.
func bootstrap(all, off []outcome) (cost, miss interval) {
	random := rand.New(rand.NewPCG(1, 2))
	costs, misses := make([]float64, samples), make([]float64, samples)
	for i := range samples {
		var drawn, base outcome
		for range all {
			w := random.IntN(len(all))
			drawn.cost += all[w].cost
			drawn.misses += all[w].misses
			drawn.calls += all[w].calls
			base.cost += off[w].cost
		}
		costs[i] = percent(drawn.cost, base.cost)
		misses[i] = percent(float64(drawn.misses), float64(drawn.calls))
	}
	return middle(costs), middle(misses)
}

// middle is where 95 % of the values are.
func middle(values []float64) interval {
	slices.Sort(values)
	return interval{values[len(values)*25/1000], values[len(values)*975/1000]}
}

func percent(part, whole float64) float64 { return math.Round(1e4*part/whole) / 100 }
