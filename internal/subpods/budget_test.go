package subpods

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

// Whatever calls ask for, begin, use and end in any order: what is promised and what is used
// never exceed the limit, and a call that gets nothing either waits for another or is refused.
func TestSharesNeverExceedTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1000).Draw(t, "limit")
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		b := newBudget()
		var used int64
		running := map[string]int64{}
		sum := func() (n int64) {
			for _, tokens := range running {
				n += tokens
			}
			return n
		}
		calls := 0
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				if len(running) == slots || used >= limit {
					return
				}
				calls++
				call := fmt.Sprint("call-", calls)
				asked := rapid.Int64Range(0, 1200).Draw(t, "asked")
				got, wait, err := b.grant(call, item.PodLimits{MaxTokens: limit - used}, share{tokens: asked}, slots)
				switch {
				case err != nil || wait != nil:
					if wait != nil && len(running) == 0 {
						t.Fatal("waits for no call")
					}
				case got.tokens <= 0:
					t.Fatalf("granted %d tokens: 0 is no limit", got.tokens)
				case asked > 0 && got.tokens > asked:
					t.Fatalf("granted %d of %d asked", got.tokens, asked)
				default:
					running[call] = got.tokens
				}
			},
			"end": func(t *rapid.T) {
				if len(running) == 0 {
					return
				}
				call := rapid.SampledFrom(slices.Sorted(maps.Keys(running))).Draw(t, "call")
				spent := rapid.Int64Range(0, running[call]).Draw(t, "spent")
				b.promise(call, share{tokens: spent, spent: true})
				used += spent
				b.settled(call)
				delete(running, call)
			},
			"": func(t *rapid.T) {
				if used+sum() > limit {
					t.Fatalf("%d used and %d promised of %d", used, sum(), limit)
				}
			},
		})
	})
}

// A call that waits continues when another one returns what it did not use.
func TestAShareReturns(t *testing.T) {
	b := newBudget()
	left := item.PodLimits{MaxTokens: 100}
	if got, _, err := b.grant("first", left, share{tokens: 100}, 2); err != nil || got.tokens != 100 {
		t.Fatalf("granted %+v, %v", got, err)
	}
	_, wait, err := b.grant("second", left, share{}, 2)
	if err != nil || wait == nil {
		t.Fatalf("does not wait: %v", err)
	}
	b.promise("first", share{tokens: 30, spent: true})
	<-wait
	if got, wait, err := b.grant("second", left, share{}, 2); err != nil || wait != nil || got.tokens != 35 {
		t.Fatalf("granted %+v, %v; want half of the rest", got, err)
	}
}
