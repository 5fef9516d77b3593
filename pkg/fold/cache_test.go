package fold_test

import (
	"testing"
	"time"

	"podd/pkg/item"
)

// A request that promised much and read nothing is a miss of what came before it. Yield
// counts what requests have in common with the one before, and no more.
func TestCacheTotals(t *testing.T) {
	l := newPodLog(t)
	total := func() item.CacheTotal {
		var sum item.CacheTotal
		for _, r := range l.state.Totals().Requests {
			sum = sum.Add(r.Cache)
		}
		return sum
	}
	ask := func(input, cached, bytes, prefix int64) {
		l.append(item.RequestUsage{Measured: true, Usage: item.Usage{Input: input, CachedInput: cached, Requests: 1}, RequestBytes: bytes, PrefixBytes: prefix})
	}
	setup := item.Setup{Model: "m"}
	l.append(setup, item.ItemAdded{Item: item.UserMessage{Text: "go"}})
	ask(5000, 0, 20_000, 0)
	if got := total(); got != (item.CacheTotal{}) {
		t.Errorf("the first request: %+v", got)
	}
	for _, step := range []struct {
		name  string
		first func()
		ask   [4]int64
		want  item.CacheTotal
	}{
		{"read", nil, [4]int64{10_000, 4000, 40_000, 20_000}, item.CacheTotal{Promised: 5000, Read: 4000}},
		{"more than promised", nil, [4]int64{10_000, 9000, 40_000, 20_000}, item.CacheTotal{Promised: 5000, Read: 5000}},
		{"a small promise", nil, [4]int64{10_000, 0, 40_000, 8000}, item.CacheTotal{Promised: 2000}},
		{"without a reason", nil, [4]int64{10_000, 0, 40_000, 39_000}, item.CacheTotal{Promised: 9750, Other: 1}},
		{"after a pause", func() { l.now = l.now.Add(11 * time.Minute) }, [4]int64{10_000, 0, 40_000, 40_000}, item.CacheTotal{Promised: 10_000, Idle: 1}},
		{"after a setup", func() { l.append(setup) }, [4]int64{10_000, 0, 40_000, 40_000}, item.CacheTotal{Promised: 10_000, Setup: 1}},
		{"and then", nil, [4]int64{10_000, 0, 40_000, 40_000}, item.CacheTotal{Promised: 10_000, Other: 1}},
		{"after a prune", func() { l.append(item.Prune{}) }, [4]int64{10_000, 0, 40_000, 40_000}, item.CacheTotal{Promised: 10_000, Prune: 1}},
		{"after a pause of an hour's cache", func() {
			l.append(item.Setup{Model: "m", Options: item.Options{CacheTTL: "1h"}})
			ask(1, 0, 1, 0)
			l.now = l.now.Add(11 * time.Minute)
		}, [4]int64{10_000, 0, 40_000, 40_000}, item.CacheTotal{Promised: 10_000, Other: 1}},
		{"out of order", nil, [4]int64{10_000, 0, 0, 40_000}, item.CacheTotal{Promised: 10_000, Other: 1}},
	} {
		if step.first != nil {
			step.first()
		}
		before := total()
		ask(step.ask[0], step.ask[1], step.ask[2], step.ask[3])
		if got := total(); got != before.Add(step.want) {
			t.Errorf("%s: %+v after %+v, want %+v more", step.name, got, before, step.want)
		}
	}
}
