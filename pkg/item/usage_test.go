package item_test

import (
	"math"
	"testing"

	"podd/pkg/item"
)

func TestSumsOfTokens(t *testing.T) {
	huge := item.Usage{Input: math.MaxInt64 - 7, CachedInput: 5, Output: math.MaxInt64, Requests: 1}
	got := huge.Add(huge).Add(item.Usage{Input: 3, CachedInput: 2})
	if want := (item.Usage{Input: math.MaxInt64, CachedInput: 12, Output: math.MaxInt64, Requests: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (item.CacheTotal{Read: math.MaxInt64}).Add(item.CacheTotal{Read: 1}).Read; got != math.MaxInt64 {
		t.Errorf("cache %d", got)
	}
	for u, want := range map[item.Usage]bool{
		{}:                             true,
		{Input: 10_000_000, Output: 9}: true,
		{Input: item.MaxTokens + 1}:    false,
		{CachedInput: math.MaxInt64}:   false,
		{CacheWrite: math.MaxInt64}:    false,
		{Output: math.MaxInt64}:        false,
		{Reasoning: math.MaxInt64}:     false,
	} {
		if u.Plausible() != want {
			t.Errorf("%+v is plausible: %v", u, !want)
		}
	}
}
