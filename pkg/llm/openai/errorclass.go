package openai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

// errorRule says what class an endpoint's error has. All that it names must hold.
type errorRule struct {
	class llm.Class
	// status are the HTTP statuses that it is for; 0 is an error within a stream that
	// names none, 500 any of 5xx. Without any it is for all.
	status []int
	// says are words, in lower case, one of which the error's code, type or message has;
	// about is a word that it has beside.
	says  []string
	about string
	// delayed: the error says how long to wait. tooMuch: it asks for more than the limit
	// that it names.
	delayed, tooMuch bool
	// from is where such errors were seen.
	from string
}

// errorRules are asked in this order, and the first that fits counts. What the status
// says for sure comes before what the text may mean.
var errorRules = []errorRule{
	{class: llm.ClassMalformedCall, says: []string{"tool_use_failed", "malformed_function_call"}, from: "Groq, Gemini"},
	{class: llm.ClassContentFilter, status: []int{0, 400, 403, 422}, from: "Azure, xAI, OpenRouter, OpenAI", says: []string{
		"content_filter", "content management policy", "content_policy_violation", "content violates usage guidelines", "your input was flagged"}},

	{class: llm.ClassQuota, status: []int{402}, from: "OpenRouter, DeepSeek"},
	{class: llm.ClassQuota, from: "OpenAI, DeepSeek, Z.ai, Anthropic, xAI", says: []string{
		"insufficient_quota", "insufficient credit", "insufficient balance", "billing_hard_limit", "credit balance is too low", "used all available credits"}},
	{class: llm.ClassQuota, status: []int{429}, says: []string{"perday"}, from: "Gemini's daily quotas"},
	{class: llm.ClassRateLimit, status: []int{429}, says: []string{"exceeded your current quota"}, delayed: true, from: "Gemini's quotas of a minute"},
	{class: llm.ClassQuota, says: []string{"exceeded your current quota"}, from: "OpenAI"},

	{class: llm.ClassUnknownModel, status: []int{403}, says: []string{"model_not_found"}, from: "OpenAI, of a project without the model"},
	{class: llm.ClassAuth, status: []int{401, 403}, from: "all"},
	{class: llm.ClassAuth, from: "xAI, Gemini, Anthropic", says: []string{
		"invalid_api_key", "authentication_error", "incorrect api key", "invalid api key", "api key not valid", "api_key_invalid", "unauthenticated"}},

	{class: llm.ClassContext, status: []int{413}, from: "Groq, proxies"},
	{class: llm.ClassContext, status: []int{0, 400, 429}, says: []string{"request too large"}, from: "OpenAI, of tokens a minute"},
	{class: llm.ClassContext, status: []int{429}, tooMuch: true, from: "Groq, of tokens a minute"},
	{class: llm.ClassRateLimit, status: []int{429}, from: "all"},

	{class: llm.ClassContext, from: "OpenAI, llama.cpp, vLLM, Gemini, xAI, Anthropic, Cerebras, Perplexity, Z.ai", says: []string{
		"context_length_exceeded", "exceed_context_size", "context length", "context size", "context window", "context limit",
		"maximum prompt length", "maximum model length", "prompt is too long", "input is too long", "prompt too long",
		"prompt_tokens_exceeded", "too_many_prompt_tokens", "exceeds the maximum number of tokens", "reduce the length of the messages",
		"total length of all messages is too long", "prompt exceeds max length"}},
	{class: llm.ClassRateLimit, from: "gateways that answer 200 or 400", says: []string{
		"rate_limit", "rate limit", "request rate", "too many requests", "requests per minute", "tokens per min", "exceed the quota", "resource_exhausted"}},
	{class: llm.ClassContext, status: []int{0, 400, 422}, says: []string{"exceeds the limit of", "too many tokens in", "tokens exceed"}, from: "gateways"},

	{class: llm.ClassUnknownModel, status: []int{0, 400, 404, 422}, from: "Azure, OpenRouter", says: []string{
		"deploymentnotfound", "deployment for this resource does not exist", "no endpoints found", "no allowed providers"}},
	{class: llm.ClassUnknownModel, status: []int{0, 400, 404, 422}, about: "model", from: "OpenAI, Ollama, vLLM, OpenRouter", says: []string{
		"model_not_found", "not found", "does not exist", "not a valid model", "unknown model", "invalid model", "no such model"}},

	{class: llm.ClassProtocol, status: []int{404, 405, 501}, from: "web servers"},
	{class: llm.ClassOverloaded, status: []int{408, 409, 500}, from: "all"},
	{class: llm.ClassInvalid, status: []int{0}, says: []string{"invalid_"}, from: "OpenAI"},
	{class: llm.ClassOverloaded, status: []int{0}, from: "all"},
	{class: llm.ClassInvalid, from: "all"},
}

// classOf is the class of an error.
func classOf(s said) llm.Class {
	text := strings.ToLower(s.code + " " + s.kind + " " + s.message + " " + s.quota)
	for _, r := range errorRules {
		if r.fits(s, text) {
			return r.class
		}
	}
	return llm.ClassInvalid
}

func (r *errorRule) fits(s said, text string) bool {
	status := s.status
	if status > 500 && !slices.Contains(r.status, status) {
		status = 500
	}
	switch {
	case len(r.status) > 0 && !slices.Contains(r.status, status):
		return false
	case len(r.says) > 0 && !containsAny(text, r.says...):
		return false
	case r.delayed && s.wait == 0:
		return false
	}
	return strings.Contains(text, r.about) && (!r.tooMuch || asksTooMuch(text))
}

// limited finds what a limit allows and what a request asks of it.
var limited = regexp.MustCompile(`\blimit:? (\d+).*\brequested:? (\d+)`)

// asksTooMuch says whether an error is of a request that its limit can never take.
func asksTooMuch(text string) bool {
	m := limited.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	limit, _ := strconv.Atoi(m[1])
	requested, _ := strconv.Atoi(m[2])
	return requested > limit
}

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// said is what an endpoint says in the body of an error.
type said struct {
	message, code, kind string
	// quota names the quotas that Google says are exceeded.
	quota string
	// status is the HTTP status, or what the body has for one; 0 for neither.
	status int
	// waits are the waits that the body names, headers those of a provider behind a router.
	waits   []string
	headers gjson.Result
	// wait is how long the endpoint asks to wait; see hint. final says that it asks not to
	// try again.
	wait  time.Duration
	final bool
}

// readSaid reads the bodies that endpoints really send: OpenAI's error object, the
// same in a list (Google), the fields at the top (vLLM, Mistral), one string
// (Ollama), detail (FastAPI), or no JSON at all.
func readSaid(body []byte) said {
	if !isJSON(body) {
		return said{message: string(body)}
	}
	root := gjson.ParseBytes(body)
	if root.IsArray() {
		root = root.Get("0")
	}
	at := root
	for _, path := range []string{"error", "response.error"} {
		if e := root.Get(path); e.IsObject() {
			at = e
		}
	}
	s := said{code: at.Get("code").String(), kind: first(at, "type", "status").String(), headers: at.Get("metadata.headers")}
	for _, path := range []string{"code", "status_code", "status"} {
		if n := at.Get(path).Int(); s.status == 0 && n >= 400 && n < 600 {
			s.status = int(n)
		}
	}
	s.message = first(at, "message", "detail", "error").String()
	// OpenRouter keeps the provider's own words aside, Groq what the model wrote.
	for _, path := range []string{"metadata.raw", "failed_generation"} {
		if more := at.Get(path).String(); more != "" {
			s.message += ": " + more
		}
	}
	for _, detail := range at.Get("details").Array() {
		if wait := detail.Get("retryDelay").String(); wait != "" {
			s.waits = append(s.waits, wait)
		}
		for _, v := range detail.Get("violations").Array() {
			s.quota += v.Get("quotaId").String() + " "
		}
	}
	return s
}
