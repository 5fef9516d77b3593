package main

import (
	"fmt"
	"math"

	"podd/pkg/fold"
)

// line is the output for a mode. Percentages have two decimals.
type line struct {
	Policy string `json:"policy"`
	// CostPct and TokensPct are relative to ModeOff, MissPct is relative to the calls.
	CostPct   float64 `json:"cost_pct"`
	TokensPct float64 `json:"tokens_pct"`
	MissPct   float64 `json:"miss_pct"`
	// Events counts the prunes, Calls the recorded model calls.
	Events int `json:"events"`
	Calls  int `json:"calls"`
}

// compare replays all windows under each mode.
func compare(windows []window, t terms) ([]line, error) {
	var lines []line
	var off outcome
	for _, mode := range []fold.Mode{fold.ModeOff, fold.ModeTurns, fold.ModeEconomic} {
		var sum outcome
		for i := range windows {
			o, err := replayWindow(&windows[i], mode, t)
			if err != nil {
				return nil, fmt.Errorf("replay window %q: %w", windows[i].ID, err)
			}
			sum.cost += o.cost
			sum.tokens += o.tokens
			sum.misses += o.misses
			sum.events += o.events
			sum.calls += o.calls
		}
		if mode == fold.ModeOff {
			off = sum
		}
		lines = append(lines, line{
			Policy:    string(mode),
			CostPct:   percent(sum.cost, off.cost),
			TokensPct: percent(float64(sum.tokens), float64(off.tokens)),
			MissPct:   percent(float64(sum.misses), float64(sum.calls)),
			Events:    sum.events,
			Calls:     sum.calls,
		})
	}
	return lines, nil
}

func percent(part, whole float64) float64 { return math.Round(1e4*part/whole) / 100 }
