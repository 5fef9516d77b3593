package fold_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func newLedger(t interface {
	Helper()
	Fatal(...any)
}, c fold.Config, ops ...op) *fold.Ledger {
	t.Helper()
	l, err := fold.NewLedger(c)
	if err != nil {
		t.Fatal(err)
	}
	feed(l, ops...)
	return l
}

// Whatever happened before, the ledger decides as the documented rule does.
func TestEconomicIsTheRule(t *testing.T) {
	prunes := 0
	rapid.Check(t, func(t *rapid.T) {
		cache := drawCache(t)
		l := newLedger(t, fold.Config{Cache: cache})
		s := newSession(0)
		s.user()
		told := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.drawStep(t, 0)
			feed(l, s.ops[told:]...)
			told = len(s.ops)
			got, want := l.Decide(s.now).Seqs, readLog(s.ops).decide(cache, s.now)
			if !slices.Equal(got, want) {
				t.Fatalf("prunes %v, the rule says %v", got, want)
			}
			if len(got) > 0 && rapid.Bool().Draw(t, "prune") {
				prunes++
				s.prune(got)
			}
		}
	})
	if prunes == 0 {
		t.Error("no session pruned anything")
	}
}

// Whatever the mode:
//   - deciding changes nothing, and the same ledger repeats its decision;
//   - a ledger made from the whole log decides like the one that followed it;
//   - what is pruned stays pruned, is never named again, and was not protected;
//   - the decision's savings and the place of the first change are right;
//   - the economic mode prunes only for more than it costs.
func TestDecisions(t *testing.T) {
	events := map[string]int{}
	check := func(t *rapid.T) {
		c := fold.Config{
			Mode:  rapid.SampledFrom([]fold.Mode{fold.ModeEconomic, fold.ModeTurns, fold.ModeOff}).Draw(t, "mode"),
			Cache: drawCache(t),
		}
		window := rapid.SampledFrom([]int{0, 60_000, 200_000}).Draw(t, "window")
		l := newLedger(t, c)
		s := newSession(window)
		s.user()
		told := 0
		pruned := map[item.Seq]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			s.drawStep(t, window)
			feed(l, s.ops[told:]...)
			told = len(s.ops)

			d := l.Decide(s.now)
			if again := l.Decide(s.now); !reflect.DeepEqual(again, d) {
				t.Fatalf("decides %+v, then %+v", d, again)
			}
			if anew := newLedger(t, c, s.ops...).Decide(s.now); !reflect.DeepEqual(anew, d) {
				t.Fatalf("decides %+v, after a restart %+v", d, anew)
			}
			checkFree(t, s, d)
			checkNumbers(t, l, s, d)
			for seq := range pruned {
				if !l.Pruned(seq) || slices.Contains(d.Seqs, seq) {
					t.Fatalf("%d is pruned; Pruned says %t, the decision names %v", seq, l.Pruned(seq), d.Seqs)
				}
			}
			if len(d.Seqs) > 0 && rapid.IntRange(0, 3).Draw(t, "prune") > 0 {
				events[d.Policy]++
				s.prune(d.Seqs)
				for _, seq := range d.Seqs {
					pruned[seq] = true
				}
			}
		}
	}
	// Draws are random: another round may cover what one misses.
	missing := []string{"economic", "turns", "pressure"}
	for range 10 {
		rapid.Check(t, check)
		missing = slices.DeleteFunc(missing, func(policy string) bool { return events[policy] > 0 })
		if len(missing) == 0 {
			return
		}
	}
	t.Errorf("no session pruned by %v", missing)
}

// checkFree checks a decision against the protections.
func checkFree(t *rapid.T, s *session, d fold.Decision) {
	if !slices.IsSorted(d.Seqs) {
		t.Fatalf("not ascending: %v", d.Seqs)
	}
	log := readLog(s.ops)
	for _, seq := range d.Seqs {
		i := slices.IndexFunc(log.elements, func(e naiveElement) bool { return e.Seq == seq })
		if i < 0 {
			t.Fatalf("prunes %d, which is not there", seq)
		}
		if e := log.elements[i]; log.protected(e) || e.Tokens <= e.Stub {
			t.Fatalf("prunes a protected result: %+v", e)
		}
	}
}

// checkNumbers compares the numbers of a decision with its effect.
func checkNumbers(t *rapid.T, l *fold.Ledger, s *session, d fold.Decision) {
	p, ok := d.Entry()
	if ok != (len(d.Seqs) > 0) || ok == (d.Policy == "") || ok == (d.Reason == "") || !slices.Equal(p.Seqs, d.Seqs) {
		t.Fatalf("the entry of %+v is %+v, %t", d, p, ok)
	}
	if !ok {
		return
	}
	log := readLog(s.ops)
	if l.Tokens() != log.size() {
		t.Fatalf("the request has %d tokens, the log says %d", l.Tokens(), log.size())
	}
	first := slices.IndexFunc(log.elements, func(e naiveElement) bool { return e.Seq == d.Seqs[0] })
	if prefix := log.base(fold.CacheLCP, first); d.Prefix != prefix {
		t.Fatalf("a prefix of %d tokens stays, not %d", prefix, d.Prefix)
	}
	before := log.size()
	log.prune(d.Seqs)
	if saved := before - log.size(); d.Saved != saved || saved <= 0 {
		t.Fatalf("it saves %d tokens and says %d", saved, d.Saved)
	}
	if d.Policy != string(fold.ModeEconomic) {
		return
	}
	least := 6000.0
	if log.isCold(s.now) {
		least = 0
	}
	if d.Gain-d.Price <= least {
		t.Fatalf("prunes for a gain of %v at a price of %v", d.Gain, d.Price)
	}
}

// A prune entry that names a removed, unknown or already pruned sequence, or one that is
// not a result, changes nothing else.
func TestPruneOfOther(t *testing.T) {
	s := newSession(0)
	s.user()
	s.step(result("shell", 5000))
	call, shell := s.seq-2, s.seq
	l := newLedger(t, fold.Config{}, s.ops...)
	l.Prune(0, "", []item.Seq{1, call, shell, shell, 99})
	l.Prune(0, "", []item.Seq{shell})
	if want := readLog(s.ops).size() - 5000 + 36; l.Tokens() != want {
		t.Errorf("%d tokens, want %d", l.Tokens(), want)
	}
	if l.Pruned(call) || !l.Pruned(shell) || l.Pruned(99) {
		t.Error("the wrong elements are pruned")
	}
}
