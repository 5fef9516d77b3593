package fold_test

import (
	"slices"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// crowded is a session whose results are all worth keeping while there is room: new reads
// of 10,000 tokens each. It returns their sequences, too.
func crowded(window, reads int) (*session, []item.Seq) {
	s := newSession(window)
	s.user()
	var seqs []item.Seq
	for range reads {
		s.step(read("", 10_000))
		seqs = append(seqs, s.seq)
	}
	s.steps(2)
	return s, seqs
}

func TestPressure(t *testing.T) {
	// 5000 fixed, 50 user, 10 x 10,070, two answers of 40: 105,830 tokens.
	const size = 105_830
	tests := map[string]struct {
		window int
		c      fold.PressureConfig
		pruned int
	}{
		"no window known":  {0, fold.PressureConfig{}, 0},
		"room":             {size*10/7 + 1, fold.PressureConfig{}, 0},
		"over 70 %":        {150_000, fold.PressureConfig{}, 4}, // to 75,000
		"over the window":  {60_000, fold.PressureConfig{}, 8},  // to 30,000
		"far too small":    {1000, fold.PressureConfig{}, 10},
		"a lower limit":    {400_000, fold.PressureConfig{Above: .25, To: .25}, 1},
		"a lower target":   {150_000, fold.PressureConfig{To: .10}, 10},
		"as much as fills": {150_000, fold.PressureConfig{Above: 1}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, seqs := crowded(tt.window, 10)
			d := decide(t, s, fold.Config{Pressure: tt.c})
			// They differ only in age: the oldest are missed least.
			wantPruned(t, d, seqs[:tt.pruned]...)
			if tt.pruned > 0 && d.Policy != fold.PolicyPressure {
				t.Errorf("the policy is %q", d.Policy)
			}
		})
	}
}

func TestPressureSaysWhy(t *testing.T) {
	s, _ := crowded(150_000, 10)
	d := decide(t, s, fold.Config{})
	if want := "4 results, 39856 tokens: the request would fill 71 % of the window and fills 44 %"; d.Reason != want {
		t.Errorf("reason %q, want %q", d.Reason, want)
	}
}

// Results whose miss costs least for the room that they free go first, and the
// protections apply.
func TestPressureOrder(t *testing.T) {
	s := newSession(40_000)
	s.user()
	add := func(e fold.Element) item.Seq {
		s.step(e)
		return s.seq
	}
	sticky := result(item.OutputTask, 9000)
	sticky.Sticky = true
	failed := result(item.OutputTask, 9000)
	failed.IsError = true
	add(sticky)
	add(failed)
	a := add(result(item.OutputTask, 3000))
	b := add(result(item.OutputSearch, 3000))
	c := add(read("x", 3000))
	late := add(result(item.OutputOther, 9000))
	s.steps(1)
	// The request should shrink to half of the window, and the prunable results are not
	// enough.
	wantPruned(t, decide(t, s, fold.Config{}), a, b, c)
	s.steps(1)

	// 41,550 tokens; without the others in this order 32,586, 29,622, 26,658, 23,694.
	order := []item.Seq{late, b, a, c}
	for share, n := range map[float64]int{.33: 1, .30: 2, .27: 3, .24: 4, .20: 4} {
		l := newLedger(t, fold.Config{
			Economic: fold.EconomicConfig{MinGain: 1e6},
			Pressure: fold.PressureConfig{Above: share, To: share},
		}, s.ops...)
		l.Setup(fold.Terms{Window: 100_000, Fixed: 5000})
		l.Answered(fold.Answer{Time: s.now, StepGoesOn: true})
		wantPruned(t, l.Decide(s.now), slices.Sorted(slices.Values(order[:n]))...)
	}
}

// The economic rule chooses first, pressure adds to it, and there is one decision.
func TestPressureAddsToTheRule(t *testing.T) {
	s := newSession(71_500)
	s.user()
	s.step(read("a", 15_000))
	a := s.seq
	s.step(read("b", 15_000))
	s.step(read("c", 15_000))
	s.step(result("shell", 20_000))
	shell := s.seq
	s.steps(2)
	d := decide(t, s, fold.Config{})
	wantPruned(t, d, a, shell)
	if d.Policy != fold.PolicyPressure || d.Gain == 0 || d.Saved != 35_000-72 {
		t.Errorf("the decision is %+v", d)
	}
	roomy := fold.Config{Pressure: fold.PressureConfig{Above: .9}}
	if d := decide(t, s, roomy); d.Policy != "economic" {
		t.Errorf("with room for the reads the decision is %+v", d)
	}
}

func TestNoPressureInTurnsMode(t *testing.T) {
	s, _ := crowded(60_000, 10)
	wantPruned(t, decide(t, s, fold.Config{Mode: fold.ModeTurns}))
}
