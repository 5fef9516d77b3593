package fold_test

import (
	"slices"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// turnsSession has a result in the first of the given number of turns, which each later
// request sends.
func turnsSession(turns int, first fold.Element) (*session, item.Seq) {
	s := newSession(0)
	s.user()
	s.step(first)
	seq := s.seq
	s.step()
	for range turns - 1 {
		s.user()
		s.step()
	}
	return s, seq
}

func TestTurnsMode(t *testing.T) {
	big := result("shell", 5000)
	sticky, failed := big, big
	sticky.Sticky, failed.IsError = true, true
	tests := map[string]struct {
		turns  int
		first  fold.Element
		config fold.TurnsConfig
		pruned bool
	}{
		"as old as three turns":         {3, big, fold.TurnsConfig{}, false},
		"older":                         {4, big, fold.TurnsConfig{}, true},
		"too little to save":            {4, result("shell", 4096+36-1), fold.TurnsConfig{}, false},
		"just enough":                   {4, result("shell", 4096+36), fold.TurnsConfig{}, true},
		"fewer protected":               {2, big, fold.TurnsConfig{Protected: 1}, true},
		"more to save":                  {4, big, fold.TurnsConfig{MinSavings: 5000}, false},
		"under the floor":               {4, result("shell", 79), fold.TurnsConfig{MinSavings: 1}, false},
		"at the floor":                  {4, result("shell", 80), fold.TurnsConfig{MinSavings: 1}, true},
		"sticky":                        {4, sticky, fold.TurnsConfig{}, false},
		"an error of an earlier turn":   {4, failed, fold.TurnsConfig{}, true},
		"no result":                     {4, fold.Element{Tokens: 5000}, fold.TurnsConfig{}, false},
		"a result of its summary alone": {4, fold.Element{Result: true, Tokens: 5000, Stub: 5000}, fold.TurnsConfig{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, seq := turnsSession(tt.turns, tt.first)
			l := newLedger(t, fold.Config{Mode: fold.ModeTurns, Turns: tt.config}, s.ops...)
			var want []item.Seq
			if tt.pruned {
				want = []item.Seq{seq}
			}
			if d := l.Decide(s.now); !slices.Equal(d.Seqs, want) {
				t.Errorf("prunes %v, want %v", d.Seqs, want)
			}
		})
	}
}

// Queued messages may begin several turns before one request; results that they make old
// still have to be sent twice.
func TestTurnsModeWaitsForTwoRequests(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("read", 5000))
	seq := s.seq
	for range 4 {
		s.user()
	}
	l := newLedger(t, fold.Config{Mode: fold.ModeTurns}, s.ops...)
	for sent, want := range [][]item.Seq{nil, nil, {seq}} {
		if d := l.Decide(s.now); !slices.Equal(d.Seqs, want) {
			t.Errorf("sent %d times: prunes %v, want %v", sent, d.Seqs, want)
		}
		feed(l, op{Answered: &fold.Answer{Time: s.now}})
	}
}

func TestTurnsDecision(t *testing.T) {
	s, seq := turnsSession(4, result("read", 5000))
	l := newLedger(t, fold.Config{Mode: fold.ModeTurns}, s.ops...)
	p, ok := l.Decide(s.now).Entry()
	if !ok || !slices.Equal(p.Seqs, []item.Seq{seq}) || p.Policy != "turns" || p.Reason != "1 result, 4964 tokens: from before the last 3 turns" {
		t.Errorf("the entry is %+v, %t", p, ok)
	}
}
