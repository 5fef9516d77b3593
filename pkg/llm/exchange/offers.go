package exchange

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"podd/pkg/catalog"
	"podd/pkg/llm"
)

// The bounds of a list of models: how many, and the bytes of a name.
const (
	mostOffers   = 2000
	maxModelName = 200
	// maxWindow is above any window, in tokens; mostUSD above any price of a million.
	maxWindow = 1 << 30
	mostUSD   = 1_000_000
)

// readOffers reads a list of models. Endpoints say more than OpenAI does, each in its own
// words.
func readOffers(body []byte) (offers []llm.Offer) {
	list := gjson.ParseBytes(body)
	if !list.IsArray() { // As Together's is.
		list = list.Get("data")
	}
	list.ForEach(func(_, m gjson.Result) bool {
		name := m.Get("id").String()
		if isModelName(name) && writesText(m) {
			offers = append(offers, llm.Offer{Model: name, Facts: factsOf(m)})
		}
		return len(offers) < mostOffers
	})
	return offers
}

func isModelName(name string) bool {
	return name != "" && len(name) <= maxModelName && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// writesText is false for a model that a list says answers with something else.
func writesText(m gjson.Result) bool {
	if out := m.Get("architecture.output_modalities"); out.IsArray() {
		return contains(out, "text")
	}
	return m.Get("type").String() != "embedding"
}

// factsOf reads what OpenRouter, Anthropic, vLLM, llama.cpp, Groq, Mistral, Moonshot,
// DeepInfra and Vercel say about a model.
func factsOf(m gjson.Result) catalog.Facts {
	f := catalog.Facts{
		Window: tokens(First(m, "top_provider.context_length", "max_model_len", "max_input_tokens", "meta.n_ctx", "context_length", "context_window",
			"max_context_length", "metadata.context_length")),
		Output: tokens(First(m, "top_provider.max_completion_tokens", "max_completion_tokens", "max_output_length", "max_tokens", "metadata.max_tokens")),
		Effort: efforts(m),
		Price:  perToken(m.Get("pricing")),
	}
	if in := m.Get("architecture.input_modalities"); in.IsArray() {
		f.Images = catalog.AnswerOf(contains(in, "image"))
	} else if said := First(m, "capabilities.image_input.supported", "capabilities.vision", "supports_image_in"); said.IsBool() {
		f.Images = catalog.AnswerOf(said.Bool())
	}
	return f
}

// efforts are the values of the effort; OpenRouter and Anthropic list them.
func efforts(m gjson.Result) (values []string) {
	m.Get("reasoning.supported_efforts").ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			values = append(values, v.String())
		}
		return true
	})
	m.Get("capabilities.effort").ForEach(func(name, v gjson.Result) bool {
		if v.Get("supported").Bool() {
			values = append(values, name.String())
		}
		return true
	})
	for _, v := range values {
		if len(v) > 32 || !isModelName(v) {
			return nil
		}
	}
	return values
}

// perToken reads prices of one token, as OpenRouter states them; nil without one.
func perToken(p gjson.Result) *catalog.Price {
	price := func(name string) float64 { return p.Get(name).Float() * 1_000_000 }
	r := catalog.Rates{Input: price("prompt"), Output: price("completion"), CachedInput: price("input_cache_read"), CacheWrite: price("input_cache_write")}
	if !p.Get("prompt").Exists() || !p.Get("completion").Exists() || min(r.Input, r.Output, r.CachedInput, r.CacheWrite) < 0 ||
		max(r.Input, r.Output, r.CachedInput, r.CacheWrite) > mostUSD {
		return nil
	}
	return &catalog.Price{Rates: r}
}

// tokens is a number of tokens; 0 if it can be none.
func tokens(v gjson.Result) int {
	if n := v.Int(); 0 < n && n < maxWindow {
		return int(n)
	}
	return 0
}

func contains(list gjson.Result, word string) (found bool) {
	list.ForEach(func(_, v gjson.Result) bool {
		found = v.String() == word
		return !found
	})
	return found
}
