package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Address is where the whole data is published.
const Address = "https://models.dev/catalog.json"

// Notice is the licence of the data.
const Notice = "Copyright (c) 2025 models.dev. MIT License, https://github.com/anomalyco/models.dev/blob/dev/LICENSE"

// vendors are the providers of the data that sell models of their own. What resellers
// charge is not in the catalogue.
var vendors = []string{
	"anthropic", "openai", "google", "xai", "deepseek", "alibaba", "mistral", "moonshotai", "zai", "minimax", "llama", "cohere", "xiaomi", "stepfun",
}

// published is a model as the data describes it.
type published struct {
	ID      string `json:"id"`
	Tools   bool   `json:"tool_call"`
	Options []struct {
		Type   string    `json:"type"`
		Values []*string `json:"values"`
	} `json:"reasoning_options"`
	Cost struct {
		rates
		Tiers []struct {
			Tier struct {
				Size int64 `json:"size"`
			} `json:"tier"`
			rates
		} `json:"tiers"`
	} `json:"cost"`
	Limit struct {
		Context int `json:"context"`
		Input   int `json:"input"`
		Output  int `json:"output"`
	} `json:"limit"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
}

type rates struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Reduce reads the data as models.dev publishes it and keeps the vendors' own models that
// call tools. date is when the data was current.
func Reduce(text []byte, source, date string) (*Catalog, error) {
	var data struct {
		Models    map[string]published `json:"models"`
		Providers map[string]struct {
			Models map[string]published `json:"models"`
		} `json:"providers"`
	}
	if err := json.Unmarshal(text, &data); err != nil {
		return nil, fmt.Errorf("this is not the catalogue of models.dev: %w", err)
	}
	if len(data.Providers) == 0 {
		return nil, errors.New("this is not the catalogue of models.dev: it has no providers; get " + Address)
	}
	c := &Catalog{Source: source, Date: date, Notice: Notice}
	known := make(map[string]bool)
	for _, vendor := range vendors {
		for _, id := range slices.Sorted(maps.Keys(data.Providers[vendor].Models)) {
			if p := data.Providers[vendor].Models[id]; p.usable() {
				known[plain(id)] = true
				c.Models = append(c.Models, p.model(id, vendor))
			}
		}
	}
	// Open weights that their maker does not sell have a window and no price.
	for _, id := range slices.Sorted(maps.Keys(data.Models)) {
		vendor, name, ok := strings.Cut(id, "/")
		if p := data.Models[id]; ok && p.usable() && !known[plain(name)] {
			c.Models = append(c.Models, p.model(name, vendor))
		}
	}
	return Read(c.Encode())
}

// usable says whether podd can work with a model.
func (p published) usable() bool {
	return p.Tools && p.Limit.Context > 0 && slices.Contains(p.Modalities.Output, "text")
}

func (p published) model(id, vendor string) Model {
	m := Model{
		ID: id, Vendor: vendor, Window: p.Limit.Context, Input: p.Limit.Input, Output: p.Limit.Output,
		Images: slices.Contains(p.Modalities.Input, "image"),
	}
	for _, o := range p.Options {
		if o.Type != "effort" {
			continue
		}
		for _, v := range o.Values {
			if v != nil {
				m.Effort = append(m.Effort, *v)
			}
		}
	}
	if p.Cost.Input > 0 {
		m.Price = &Price{Rates: p.Cost.published()}
		// Of several steps the first one counts: few requests get as far as the next.
		if tiers := p.Cost.Tiers; len(tiers) > 0 && tiers[0].Input > 0 {
			m.Price.Long = &Long{Above: tiers[0].Tier.Size, Rates: tiers[0].published()}
		}
	}
	return m
}

func (r rates) published() Rates {
	return Rates{Input: r.Input, Output: r.Output, CachedInput: r.CacheRead, CacheWrite: r.CacheWrite}
}
