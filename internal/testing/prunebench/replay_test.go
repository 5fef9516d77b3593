package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(b)) }

func TestBill(t *testing.T) {
	price := fold.Price{Cached: 0.1, Write: 2, TTL: 10 * time.Minute}
	tests := map[string]struct {
		// cached is how much of the second request, of 5,000 tokens, is billed as cached; the
		// first has size tokens, and after prefix of them the two differ.
		size, prefix int
		idle         time.Duration
		cached       int
	}{
		"an extension":         {4096, 5000, 0, 4096},
		"in steps of 128":      {4100, 5000, 0, 4096},
		"changed early":        {4096, 2000, 0, 1920},
		"too little is common": {4096, 1023, 0, 0},
		"just enough":          {1024, 5000, 0, 1024},
		"at the last moment":   {4096, 5000, 10 * time.Minute, 4096},
		"too late":             {4096, 5000, 10*time.Minute + 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBill(price)
			now := time.Unix(0, 0)
			b.request(tt.size, now)
			if want := 2 * float64(tt.size); !near(b.cost, want) {
				t.Errorf("the first request costs %v, want %v", b.cost, want)
			}
			first := b.cost
			b.broken(tt.prefix)
			b.request(5000, now.Add(tt.idle))
			if want := 0.1*float64(tt.cached) + 2*float64(5000-tt.cached); !near(b.cost-first, want) {
				t.Errorf("the second request costs %v, want %v", b.cost-first, want)
			}
			if b.tokens != tt.size+5000 {
				t.Errorf("%d tokens", b.tokens)
			}
		})
	}
}

// A shell result of 30,000 tokens is pruned before the third request, and the model
// quotes it in the fourth. The bill includes the call that finds it gone, the call that
// fetches it, and 10,000 of its tokens.
func TestMissIsCharged(t *testing.T) {
	w := window{
		Items: []traceItem{
			{Role: "u", Tokens: 94, StartsTurn: true},
			{Role: "c", Tokens: 94},
			{Role: "o", Tokens: 30_000, Class: "shell"},
			{Role: "a", Tokens: 94},
			{Role: "a", Tokens: 94},
			{Role: "a", Tokens: 94},
		},
		At:    []int{1, 3, 4, 5, 6},
		Gap:   []float64{-1, 1, 1, 1, 1},
		Needs: [][][]int{nil, nil, nil, nil, {{2}, {2}}},
	}
	economic, err := replayWindow(&w, policy{mode: fold.ModeEconomic}, terms{price: fold.DefaultPrice(), cache: fold.CacheEnds})
	if err != nil {
		t.Fatal(err)
	}
	requests := []int{
		8100, 8200 + 30_006, 8300 + 30_006, // two requests include the result
		8400 + 36, 8500 + 36, // pruned
		8500 + 36 + 46 + 10_006, // fetched again
	}
	tokens := 0
	for _, r := range requests {
		tokens += r
	}
	if economic.tokens != tokens || economic.misses != 1 || economic.events != 1 || economic.calls != 5 {
		t.Errorf("%+v, want %d tokens", economic, tokens)
	}
	// Cached: each request up to the end of the previous one, the fourth up to the result;
	// in steps of 128.
	cached := 8064 + 38_144 + 8192 + 8320 + 8448
	if want := float64(tokens-cached) + 0.1*float64(cached); !near(economic.cost, want) {
		t.Errorf("it costs %v, want %v", economic.cost, want)
	}

	off, err := replayWindow(&w, policy{mode: fold.ModeOff}, terms{price: fold.DefaultPrice(), cache: fold.CacheEnds})
	if err != nil {
		t.Fatal(err)
	}
	if off.misses != 0 || off.events != 0 || off.tokens != 8100+8200+8300+8400+8500+4*30_006 {
		t.Errorf("off: %+v", off)
	}
}

// One visible result is enough for a need, and so is a fetched copy.
func TestNeedsAreAlternatives(t *testing.T) {
	w := window{
		Items: []traceItem{
			{Role: "u", Tokens: 94},
			{Role: "o", Tokens: 30_000, Class: "shell"},
			{Role: "o", Tokens: 70},
			{Role: "a", Tokens: 10},
		},
		At:    []int{1, 3, 3, 3, 4, 4},
		Gap:   []float64{-1, 1, 1, 1, 1, 1},
		Needs: [][][]int{nil, nil, nil, {{1, 2}}, {{1}}, {{1}}},
	}
	o, err := replayWindow(&w, policy{mode: fold.ModeEconomic}, terms{price: fold.DefaultPrice(), cache: fold.CacheEnds})
	if err != nil {
		t.Fatal(err)
	}
	if o.misses != 1 {
		t.Errorf("%d misses, want 1", o.misses)
	}
}

// The rules of peers keep what their settings say, by hand-made results of a request.
func TestPeers(t *testing.T) {
	at := func(turn, event, tokens int) result {
		return result{turn: turn, event: event, tokens: tokens, sent: true}
	}
	many := func(n, tokens int) (all []result) {
		for i := range n {
			r := at(1, i+1, tokens)
			r.seq = item.Seq(i + 1)
			all = append(all, r)
		}
		return all
	}
	tests := []struct {
		name string
		seen seen
		want int
	}{
		{"opencode", seen{results: many(7, 10_000), turn: 4, begins: true}, 3},
		{"opencode", seen{results: many(6, 10_000), turn: 4, begins: true}, 0}, // 20,000 are not more than 20,000
		{"opencode", seen{results: many(7, 10_000), turn: 4}, 0},
		{"opencode", seen{results: many(7, 10_000), turn: 3, begins: true}, 0},
		{"gemini-cli", seen{results: many(9, 10_000)}, 4},
		{"gemini-cli", seen{results: many(8, 10_000)}, 0},
		{"claude-code", seen{results: many(7, 10), idle: 61 * time.Minute}, 2},
		{"claude-code", seen{results: many(7, 10), idle: 59 * time.Minute}, 0},
		{"anthropic-clear", seen{results: many(7, 10), tokens: 100_001}, 4},
		{"anthropic-clear", seen{results: many(7, 10), tokens: 100_000}, 0},
		{"swe-agent", seen{results: many(7, 10)}, 2},
		{"swe-agent", seen{results: many(4, 10)}, 0},
		{"openhands", seen{results: many(3, 10), events: 102}, 2},
		{"openhands", seen{results: many(3, 10), events: 100}, 0},
	}
	for _, tt := range tests {
		i := slices.IndexFunc(policies, func(p policy) bool { return p.name == tt.name })
		got := policies[i].choose(&tt.seen)
		want := []item.Seq{}
		for seq := range tt.want {
			want = append(want, item.Seq(seq+1))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of %d results leaves out %v, want %v", tt.name, len(tt.seen.results), got, want)
		}
	}
}
