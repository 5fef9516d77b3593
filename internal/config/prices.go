package config

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The bounds of a price in USD for a million tokens.
const (
	leastPrice = 0.000_001
	mostPrice  = 1_000_000
)

// defaultCacheTTL is for how long the caches of most endpoints last unused.
const defaultCacheTTL = 10 * time.Minute

// priceSettings are the keys of a model's prices.
func priceSettings(table string, p *Price) []setting {
	return []setting{
		decimal(table+".input", &p.Input, leastPrice, mostPrice),
		decimal(table+".cached_input", &p.CachedInput, 0, mostPrice).hinting("input"),
		decimal(table+".cache_write", &p.CacheWrite, leastPrice, mostPrice).hinting("input"),
		decimal(table+".output", &p.Output, 0, mostPrice),
		duration(table+".cache_ttl", &p.CacheTTL, time.Second),
	}
}

// priceOf is the MODEL of a key in [prices.MODEL].
func priceOf(key []string) (string, bool) {
	if len(key) == 3 && key[0] == "prices" {
		return key[1], true
	}
	return "", false
}

// priceTable is the table of a model's prices.
func priceTable(model string) string { return keyText([]string{"prices", model}) }

// finishPrices fills in what a price leaves out, and refuses one that says too
// little to count with.
func (l *loader) finishPrices() error {
	l.config.Prices = make(map[string]Price, len(l.prices))
	for _, model := range slices.Sorted(maps.Keys(l.prices)) {
		p, table := l.prices[model], priceTable(model)
		if err := l.checkPrice(model, table, p); err != nil {
			return err
		}
		l.config.Prices[model] = *p
		l.show(priceSettings(table, p), true)
	}
	return nil
}

func (l *loader) checkPrice(model, table string, p *Price) error {
	line := l.firstOrigin(priceSettings(table, p))
	for _, key := range []string{"input", "output"} {
		if l.origins[table+"."+key] == "" {
			return bad("%s: [%s] has no %s: without it podd cannot count what the model costs", line, table, key)
		}
	}
	if model == "" {
		return bad("%s: [%s] names no model", line, table)
	}
	for key, target := range map[string]*float64{"cached_input": &p.CachedInput, "cache_write": &p.CacheWrite} {
		if l.origins[table+"."+key] == "" {
			*target = p.Input
		}
	}
	if p.CachedInput > p.CacheWrite {
		return bad("%s: [%s] has cached input at %v that costs more than writing it to the cache, %v: check cached_input, cache_write and input",
			line, table, p.CachedInput, p.CacheWrite)
	}
	if p.CacheTTL == 0 {
		p.CacheTTL = defaultCacheTTL
	}
	return nil
}

// firstOrigin is where the first of some settings was set.
func (l *loader) firstOrigin(all []setting) string {
	for _, s := range all {
		if origin := l.origins[s.key]; origin != "" {
			return origin
		}
	}
	return "default"
}

// dottedModel says what is wrong with [prices.gpt-5.1]; empty for any other key.
func dottedModel(key []string) string {
	if len(key) < 3 || key[0] != "prices" {
		return ""
	}
	return fmt.Sprintf("; a model's name with a dot or a slash stands in quotes, as in [prices.%s]", quote("vendor/model-1.5"))
}
