package fold_test

import (
	"fmt"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// long is a session with the given number of items in turns of 100 steps, whose results
// are too valuable to prune.
func long(items int) *session {
	s := newSession(0)
	for i := 0; len(s.ops) < items; i++ {
		if i%100 == 0 {
			s.user()
		}
		e := read(fmt.Sprint("file", i%50), 200)
		if i%7 == 0 {
			e.Kind = item.OutputEdit
		}
		s.step(e)
	}
	return s
}

// BenchmarkDecide measures one decision about a conversation without pruned results.
func BenchmarkDecide(b *testing.B) {
	for _, items := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			s := long(items)
			l := newLedger(b, fold.Config{Economic: fold.EconomicConfig{MinGain: 1e12}}, s.ops...)
			for b.Loop() {
				l.Decide(s.now)
			}
		})
	}
}

// BenchmarkFold measures making a ledger from a log, as after a restart.
func BenchmarkFold(b *testing.B) {
	s := long(10_000)
	for b.Loop() {
		newLedger(b, fold.Config{}, s.ops...)
	}
}
