package fold_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/catalog"
	"podd/pkg/fold"
	"podd/pkg/item"
)

func TestPriceOfAModel(t *testing.T) {
	const short, long = 10 * time.Minute, 30 * time.Minute
	tests := map[string]fold.Price{
		"gpt-5":                     {Cached: .10, Write: 1, TTL: short},
		"gpt-5-mini":                {Cached: .10, Write: 1, TTL: short},
		"gpt-5.1-codex":             {Cached: .10, Write: 1, TTL: short},
		"gpt-5.5":                   {Cached: .10, Write: 1, TTL: short},
		"gpt-5.6":                   {Cached: .10, Write: 1.25, TTL: long},
		"gpt-5.6-luna":              {Cached: .10, Write: 1.25, TTL: long},
		"gpt-5.10":                  {Cached: .10, Write: 1.25, TTL: long},
		"gpt-6-astra":               {Cached: .10, Write: 1.25, TTL: long},
		"gpt-10":                    {Cached: .10, Write: 1.25, TTL: long},
		"openai/gpt-5.6":            {Cached: .10, Write: 1.25, TTL: long},
		"gpt-4.1":                   {Cached: .25, Write: 1, TTL: short},
		"gpt-4.1-nano":              {Cached: .25, Write: 1, TTL: short},
		"o3":                        {Cached: .25, Write: 1, TTL: short},
		"o3-2025-04-16":             {Cached: .25, Write: 1, TTL: short},
		"o3-mini":                   {Cached: .50, Write: 1, TTL: short},
		"o4-mini":                   {Cached: .25, Write: 1, TTL: short},
		"gpt-4o":                    {Cached: .50, Write: 1, TTL: short},
		"gpt-4o-mini-2024-07-18":    {Cached: .50, Write: 1, TTL: short},
		"gpt-4":                     fold.DefaultPrice(),
		"claude-sonnet-4-5":         {Cached: .10, Write: 1.25, TTL: 5 * time.Minute},
		"anthropic/claude-opus-4.5": {Cached: .10, Write: 1.25, TTL: 5 * time.Minute},
		"gemini-2.5-pro":            {Cached: .10, Write: 1, TTL: short},
		"":                          fold.DefaultPrice(),
		"gpt-oss-120b":              fold.DefaultPrice(),
		"gpt-99999999999999999999":  fold.DefaultPrice(),
		"qwen3-coder":               fold.DefaultPrice(),
		"o30":                       fold.DefaultPrice(),
	}
	for model, want := range tests {
		if got := (fold.Models{}).Price(item.ModelRef{Model: model}); math.Abs(got.Cached-want.Cached) > 1e-12 || got.Write != want.Write || got.TTL != want.TTL {
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
		if got := (fold.Models{Prices: configured}).Price(item.ModelRef{Model: model}); got.Cached != want {
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
		// An endpoint that reports cached tokens in addition to the input.
		{usage(0, 1_000_000, 0, 0), .5},
	} {
		if got := money.Cost(tt.usage); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v costs %v, want %v", tt.usage, got, tt.want)
		}
	}
}

func TestConfiguredMoney(t *testing.T) {
	configured := []fold.ModelPrice{
		{Model: "gpt-5", Money: fold.Money{Input: 1}},
		{Model: "gpt-5.1", Money: fold.Money{Input: 2}},
		{Model: "ratios-alone", Price: fold.DefaultPrice()},
	}
	for model, want := range map[string]float64{"gpt-5-mini": 1, "openai/gpt-5.1-codex": 2, "gpt-4o": 0, "ratios-alone": 0, "": 0} {
		if got, ok := (fold.Models{Prices: configured, Local: []string{item.DefaultEndpoint}}).Cost(item.RequestUsage{Model: model, Measured: true, Usage: item.Usage{Input: 1_000_000}}); got != want || ok != (want > 0) {
			t.Errorf("%q: %v, %v", model, got, ok)
		}
	}
}

// The model with a price decides: the one that answered, otherwise the requested one.
// Without a measured usage the cost is unknown.
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
		if usd, known := (fold.Models{Prices: prices}).Cost(u); usd != tt.usd || known != tt.known {
			t.Errorf("%+v costs %v, %v", tt, usd, known)
		}
	}
}

// Vendors charge more for long requests. A sum of requests costs what they cost alone.
func TestLongRequestsCostMore(t *testing.T) {
	known, err := catalog.Read([]byte(`{"source":"s","date":"2026-01-02","models":[{"id":"m","vendor":"v",
		"price":{"input":1,"output":10,"long":{"above":200000,"input":2,"output":20}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	models := fold.Models{Catalog: known}
	rapid.Check(t, func(t *rapid.T) {
		var alone float64
		task := fold.Task{RequestID: "r"}
		var totals fold.Spent
		task.Add(item.Entry{Seq: 1, Kind: item.Submitted{RequestID: "r"}})
		task.Add(item.Entry{Seq: 2, Turn: 1, Kind: item.TurnStarted{RequestIDs: []string{"r"}}})
		for i, input := range rapid.SliceOfN(rapid.SampledFrom([]int64{1, 128_001, 200_000, 200_001, 300_000, 900_000}), 0, 9).Draw(t, "inputs") {
			u := item.RequestUsage{Step: i + 1, Model: "m", Measured: true, Usage: item.Usage{Input: input, Output: 10, Requests: 1}}
			usd, ok := models.Cost(u)
			want := (float64(input) + 100) / 1e6
			if input > 200_000 {
				want *= 2
			}
			if !ok || math.Abs(usd-want) > 1e-9 {
				t.Fatalf("input %d costs %v, %v, want %v", input, usd, ok, want)
			}
			alone += usd
			task.Add(item.Entry{Seq: item.Seq(i + 3), Turn: 1, Kind: u})
		}
		for _, b := range task.Bills {
			totals.Add(b, models)
		}
		if math.Abs(task.Spent(models).Cost-alone) > 1e-9 || math.Abs(totals.Cost-alone) > 1e-9 {
			t.Fatalf("the sum costs %v and %v, the requests %v", task.Spent(models).Cost, totals.Cost, alone)
		}
	})
}

// Each size above which a vendor charges more is one that sums tell apart.
func TestSumsTellLongRequestsApart(t *testing.T) {
	for _, m := range catalog.Builtin().Models {
		if m.Price == nil || m.Price.Long == nil {
			continue
		}
		u := item.RequestUsage{Usage: item.Usage{Input: m.Price.Long.Above + 1, Requests: 1}}
		if u.InputAbove() != m.Price.Long.Above {
			t.Errorf("%s charges more above %d tokens, which sums do not tell apart from %d", m.ID, m.Price.Long.Above, u.InputAbove())
		}
	}
}

// A request costs what its endpoint listed then, unless a price is configured, and a write
// for an hour twice the input. A listed price of zero is a price.
func TestTermsOfARequest(t *testing.T) {
	listed := item.Terms{IsListed: true, Listed: item.Rates{Input: 1, Output: 2, CachedInput: .5, CacheWrite: 1.25}}
	long := listed
	long.CacheTTL = "1h"
	used := item.Usage{Input: 3_000_000, CachedInput: 1_000_000, CacheWrite: 1_000_000, Output: 1_000_000, Requests: 1}
	configured := fold.Models{Prices: []fold.ModelPrice{{Model: "m", Money: fold.Money{Input: 7, CachedInput: 7, CacheWrite: 7, Output: 7}}}}
	for name, tc := range map[string]struct {
		models fold.Models
		model  string
		terms  item.Terms
		want   float64
		known  bool
	}{
		"listed":                    {model: "m", terms: listed, want: 1 + .5 + 1.25 + 2, known: true},
		"listed at a local address": {models: fold.Models{Local: []string{"default"}}, model: "m", terms: listed, want: 4.75, known: true},
		"before the catalogue":      {model: "claude-sonnet-4-5", terms: listed, want: 4.75, known: true},
		"free":                      {model: "claude-sonnet-4-5", terms: item.Terms{IsListed: true}, known: true},
		"configured":                {models: configured, model: "m", terms: long, want: 28, known: true},
		"for an hour":               {model: "m", terms: long, want: 5.5, known: true},
		"catalogue":                 {model: "claude-sonnet-4-5", want: 3 + .3 + 3.75 + 15, known: true},
		"catalogue, for an hour":    {model: "claude-sonnet-4-5", terms: item.Terms{CacheTTL: "1h"}, want: 3 + .3 + 6 + 15, known: true},
		"nothing":                   {model: "m"},
	} {
		usd, known := tc.models.Cost(item.RequestUsage{Usage: used, Measured: true, Asked: tc.model, Terms: tc.terms})
		if math.Abs(usd-tc.want) > 1e-9 || known != tc.known {
			t.Errorf("%s: $%g, %v; want $%g, %v", name, usd, known, tc.want, tc.known)
		}
	}
}
