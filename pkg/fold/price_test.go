package fold_test

import (
	"math"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func TestPriceOf(t *testing.T) {
	const short, long = 10 * time.Minute, 30 * time.Minute
	tests := map[string]fold.Price{
		"gpt-5":                    {Cached: .10, Write: 1, TTL: short},
		"gpt-5-mini":               {Cached: .10, Write: 1, TTL: short},
		"gpt-5.1-codex":            {Cached: .10, Write: 1, TTL: short},
		"gpt-5.5":                  {Cached: .10, Write: 1, TTL: short},
		"gpt-5.6":                  {Cached: .10, Write: 1.25, TTL: long},
		"gpt-5.6-luna":             {Cached: .10, Write: 1.25, TTL: long},
		"gpt-5.10":                 {Cached: .10, Write: 1.25, TTL: long},
		"gpt-6-astra":              {Cached: .10, Write: 1.25, TTL: long},
		"gpt-10":                   {Cached: .10, Write: 1.25, TTL: long},
		"openai/gpt-5.6":           {Cached: .10, Write: 1.25, TTL: long},
		"gpt-4.1":                  {Cached: .25, Write: 1, TTL: short},
		"gpt-4.1-nano":             {Cached: .25, Write: 1, TTL: short},
		"o3":                       {Cached: .25, Write: 1, TTL: short},
		"o3-2025-04-16":            {Cached: .25, Write: 1, TTL: short},
		"o3-mini":                  {Cached: .50, Write: 1, TTL: short},
		"o4-mini":                  {Cached: .25, Write: 1, TTL: short},
		"gpt-4o":                   {Cached: .50, Write: 1, TTL: short},
		"gpt-4o-mini-2024-07-18":   {Cached: .50, Write: 1, TTL: short},
		"gpt-4":                    {Cached: 1, Write: 1, TTL: short},
		"gpt-4-turbo":              {Cached: 1, Write: 1, TTL: short},
		"gpt-3.5-turbo":            {Cached: 1, Write: 1, TTL: short},
		"":                         fold.DefaultPrice(),
		"gpt-oss-120b":             fold.DefaultPrice(),
		"gpt-99999999999999999999": fold.DefaultPrice(),
		"qwen3-coder":              fold.DefaultPrice(),
		"o30":                      fold.DefaultPrice(),
	}
	for model, want := range tests {
		if got := fold.PriceOf(model, nil); got != want {
			t.Errorf("%q: %+v, want %+v", model, got, want)
		}
	}
}

func TestConfiguredPrices(t *testing.T) {
	price := func(r float64) fold.Price { return fold.Price{Cached: r, Write: 1, TTL: time.Minute} }
	configured := []fold.ModelPrice{
		{Model: "gpt-5", Price: price(.2)},
		{Model: "gpt-5.1", Price: price(.3)},
		{Model: "vendor/qwen3", Price: price(.4)},
		{Model: "qwen3", Price: price(.5)},
		{Model: "", Price: price(.6)},
	}
	tests := map[string]float64{
		"gpt-5-mini":         .2,
		"gpt-5.6":            .2,
		"gpt-5.1-codex":      .3,
		"gpt-5.10":           .2,
		"vendor/qwen3-coder": .4,
		"other/qwen3-coder":  .5,
		"qwen3":              .5,
		"openai/gpt-5.1":     .3,
		"gpt-4o":             .5,
		"mistral":            fold.DefaultPrice().Cached,
	}
	for model, want := range tests {
		if got := fold.PriceOf(model, configured); got.Cached != want {
			t.Errorf("%q: %v, want %v", model, got.Cached, want)
		}
	}
}

func TestRatios(t *testing.T) {
	got, err := fold.Money{Input: 2.5, CachedInput: .25, CacheWrite: 3.125, TTL: time.Hour}.Ratios()
	if want := (fold.Price{Cached: .1, Write: 1.25, TTL: time.Hour}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	got, err = fold.Money{Input: 4, CacheWrite: 4}.Ratios()
	if want := (fold.Price{Write: 1, TTL: 10 * time.Minute}); err != nil || got != want {
		t.Errorf("free cached input: %+v, %v, want %+v", got, err, want)
	}
	bad := map[string]fold.Money{
		"nothing":             {},
		"free input":          {CachedInput: 1, CacheWrite: 1},
		"negative":            {Input: -1, CachedInput: -1, CacheWrite: -1},
		"not a number":        {Input: math.NaN(), CacheWrite: 1},
		"infinite":            {Input: math.Inf(1), CacheWrite: 1},
		"no price of writing": {Input: 1, CachedInput: .5},
		"cached costs more":   {Input: 1, CachedInput: 2, CacheWrite: 1},
		"negative cached":     {Input: 1, CachedInput: -.1, CacheWrite: 1},
		"cached not a number": {Input: 1, CachedInput: math.NaN(), CacheWrite: 1},
		"infinite writing":    {Input: 1, CacheWrite: math.Inf(1)},
		"negative lifetime":   {Input: 1, CacheWrite: 1, TTL: -1},
	}
	for name, money := range bad {
		if _, err := money.Ratios(); item.ReasonOf(err) != "BAD_PRICE" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMoney(t *testing.T) {
	usage := func(input, cached, written, output int64) item.Usage {
		return item.Usage{Input: input, CachedInput: cached, CacheWrite: written, Output: output, Reasoning: output}
	}
	money := fold.Money{Input: 2, CachedInput: .5, CacheWrite: 3, Output: 8}
	for _, tt := range []struct {
		usage item.Usage
		want  float64
	}{
		{usage(0, 0, 0, 0), 0},
		{usage(1_000_000, 0, 0, 0), 2},
		{usage(1_000_000, 500_000, 250_000, 0), .5 + .25 + .75},
		{usage(0, 0, 0, 1000), .008},
		// An endpoint that counts what is cached beside the input.
		{usage(0, 1_000_000, 0, 0), .5},
	} {
		if got := money.Cost(tt.usage); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v costs %v, want %v", tt.usage, got, tt.want)
		}
	}
}

func TestMoneyOf(t *testing.T) {
	configured := []fold.ModelPrice{
		{Model: "gpt-5", Money: fold.Money{Input: 1}},
		{Model: "gpt-5.1", Money: fold.Money{Input: 2}},
		{Model: "ratios-alone", Price: fold.DefaultPrice()},
	}
	for model, want := range map[string]float64{"gpt-5-mini": 1, "openai/gpt-5.1-codex": 2, "gpt-4o": 0, "ratios-alone": 0, "": 0} {
		if got, ok := fold.MoneyOf(model, configured); got.Input != want || ok != (want > 0) {
			t.Errorf("%q: %+v, %v", model, got, ok)
		}
	}
}

// The name that has a price counts: of the model that answered, else of the one that was
// asked. What was not measured has no known cost.
func TestCostOf(t *testing.T) {
	prices := []fold.ModelPrice{
		{Model: "m", Price: fold.DefaultPrice(), Money: fold.Money{Input: 1}},
		{Model: "small", Price: fold.DefaultPrice(), Money: fold.Money{Input: 2}},
	}
	for _, tt := range []struct {
		answered, asked string
		measured        bool
		usd             float64
		known           bool
	}{
		{"m", "small", true, 1, true},
		{"elsewhere", "small", true, 2, true},
		{"", "m", true, 1, true},
		{"elsewhere", "unknown", true, 0, false},
		{"m", "m", false, 0, false},
	} {
		u := item.RequestUsage{Model: tt.answered, Asked: tt.asked, Measured: tt.measured, Usage: item.Usage{Input: 1_000_000}}
		if usd, known := fold.CostOf(u, prices); usd != tt.usd || known != tt.known {
			t.Errorf("%+v costs %v, %v", tt, usd, known)
		}
	}
}
