package anthropic

import (
	"encoding/json"
	"fmt"
	"strconv"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

const (
	// maxTokens is the limit of an answer that a request asks for, unless the model's own is
	// lower: the API requires a limit.
	maxTokens = 32_000
	// minBudget is the smallest budget that the API takes.
	minBudget = 1024
)

// budgets are the tokens of thinking by effort.
var budgets = map[string]int64{"minimal": minBudget, "low": 2048, "medium": 8192, "high": 16_000, "xhigh": 24_000, "max": 24_000}

// appendHead appends what follows from options and configuration, and the stream.
func appendHead(dst []byte, s item.Setup, q exchange.Quirks) []byte {
	h := new(encode.Head)
	if o := s.Options; o.MaxOutput > 0 {
		h.Raw("max_tokens", strconv.AppendInt(nil, o.MaxOutput, 10))
	} else if !encode.Adds(s.Body, "max_tokens") {
		dst = append(dst, `,"max_tokens":`...)
		dst = strconv.AppendInt(dst, limit(s, q), 10)
	}
	dst = append(dst, `,"stream":true`...)
	thinks := reason(h, s, q)
	// Beside thinking the API takes no temperature.
	if !thinks && !q.NoTemperature {
		h.Raw("temperature", []byte(s.Options.Temperature))
	}
	h.Text("service_tier", s.Options.ServiceTier)
	return h.Append(dst, s.Body)
}

// limit is how many tokens an answer may have.
func limit(s item.Setup, q exchange.Quirks) int64 {
	most := int64(maxTokens)
	if q.MaxTokens > 0 {
		most = min(most, q.MaxTokens)
	}
	if s.AnswerLimit > 0 {
		most = min(most, s.AnswerLimit)
	}
	if s.Options.MaxOutput > 0 {
		return s.Options.MaxOutput
	}
	var body struct {
		MaxTokens int64 `json:"max_tokens"`
	}
	if s.Body != "" && json.Unmarshal([]byte(s.Body), &body) == nil && body.MaxTokens > 0 {
		return body.MaxTokens
	}
	return most
}

// reason adds what an effort becomes, and says whether the model thinks.
func reason(h *encode.Head, s item.Setup, q exchange.Quirks) (thinks bool) {
	if !reasons(s, q) {
		return false
	}
	effort := s.Options.Effort
	switch q.Thinking {
	case exchange.ThinkingBudget:
		h.Raw("thinking", fmt.Appendf(nil, `{"type":"enabled","budget_tokens":%d}`, budget(effort, limit(s, q))))
		return true
	case exchange.ThinkingAdaptive:
		// Newer models do not send what they think unless asked.
		h.Raw("thinking", []byte(`{"type":"adaptive","display":"summarized"}`))
		thinks = true
	}
	h.Raw("output_config", append(encode.String([]byte(`{"effort":`), effort), '}'))
	return thinks
}

// reasons says whether requests have an effort. A model with a budget cannot go on with
// calls that it did not think about.
func reasons(s item.Setup, q exchange.Quirks) bool {
	effort := s.Options.Effort
	switch {
	case effort == "", effort == "none" && q.Thinking != "", q.Thinking == exchange.ThinkingNone:
		return false
	case q.Thinking == exchange.ThinkingBudget:
		return budget(effort, limit(s, q)) > 0 && !s.UnsignedCalls
	}
	return true
}

// Fit leaves out what the API, the host or the model does not take; see llm.Fitter.
func (c *Client) Fit(s item.Setup) (item.Setup, []llm.LeftOut) {
	var left []llm.LeftOut
	q, o := c.Endpoint.Quirks(s.Model), s.Options
	leave := func(option string, from *string, why string) {
		if *from != "" {
			*from = ""
			left = append(left, llm.LeftOut{Option: option, Why: why})
		}
	}
	reasons := reasons(s, q)
	switch {
	case reasons, s.UnsignedCalls, o.Effort == "none":
	case q.Thinking == exchange.ThinkingBudget:
		leave(item.OptionEffort, &o.Effort, fmt.Sprintf("an answer of %d tokens has no room for thinking", limit(s, q)))
	default:
		leave(item.OptionEffort, &o.Effort, "the model does not think")
	}
	switch {
	case q.NoTemperature:
		leave(item.OptionTemperature, &o.Temperature, "the model takes none")
	case reasons && q.Thinking != "":
		leave(item.OptionTemperature, &o.Temperature, "the API takes none beside thinking")
	}
	leave(item.OptionVerbosity, &o.Verbosity, "the API messages has none")
	if !q.CacheMarks {
		leave(item.OptionCacheTTL, &o.CacheTTL, "podd sends no cache marks to this host")
	}
	if s.AnswerLimit = limit(s, q); o.MaxOutput > 0 || encode.Adds(s.Body, "max_tokens") {
		s.AnswerLimit = 0
	}
	s.Options = o
	return s, left
}

// budget is the tokens of thinking for an effort, at most three quarters of an answer; 0 if that is
// below what the API takes. An unknown effort counts as medium.
func budget(effort string, limit int64) int64 {
	n, ok := budgets[effort]
	if !ok {
		n = budgets["medium"]
	}
	if n = min(n, limit*3/4); n < minBudget {
		return 0
	}
	return n
}

// mark is a further member of a block, which makes it a cache breakpoint. Bedrock, Vertex and
// gateways before them answer 400 to a mark at the top level, so podd uses none there.
func mark(ttl string) string {
	if ttl == "" {
		return `,"cache_control":{"type":"ephemeral"}`
	}
	return `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
}
