package anthropic_test

import (
	"context"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/exchange"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/scripted"
)

// An effort takes the form that the model knows, and a strict server accepts all of them.
func TestEffort(t *testing.T) {
	const adaptive, output = `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":`, `"output_config":{"effort":`
	srv, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	c := local(t, anthropic.Config{BaseURL: srv.URL()})
	defer c.Close()
	for _, tc := range []struct {
		model   string
		options item.Options
		body    string
		has     string
		lacks   []string
	}{
		{model: "claude-opus-4-6", options: item.Options{Effort: "high"}, has: adaptive + `"high"}`},
		{model: "claude-sonnet-5", options: item.Options{Effort: "max", Temperature: "0.5"}, has: adaptive + `"max"}`, lacks: []string{"temperature"}},
		{model: "claude-opus-4-8", options: item.Options{Temperature: "0.5"}, lacks: []string{"temperature", "thinking"}},
		{model: "claude-opus-4-6", options: item.Options{Temperature: "0.5"}, has: `"temperature":0.5`, lacks: []string{"thinking"}},
		{model: "claude-opus-4-6", options: item.Options{Effort: "none"}, lacks: []string{"thinking", "effort"}},
		{model: "claude-sonnet-4-5-20250929", options: item.Options{Effort: "high", Temperature: "0.2"}, has: `"thinking":{"type":"enabled","budget_tokens":16000}`, lacks: []string{"effort", "temperature"}},
		{model: "claude-opus-4-20250514", options: item.Options{Effort: "low"}, has: `"budget_tokens":2048`, lacks: []string{"effort"}},
		{model: "us.anthropic.claude-sonnet-4-20250514-v1:0", options: item.Options{Effort: "odd"}, has: `"budget_tokens":8192`},
		{model: "anthropic/claude-opus-4", options: item.Options{Effort: "low"}, has: `"budget_tokens":2048`},
		{model: "claude-3-7-sonnet-20250219", options: item.Options{Effort: "max", MaxOutput: 10_000}, has: `"budget_tokens":7500`},
		{model: "claude-haiku-4-5", options: item.Options{Effort: "high", MaxOutput: 1200}, lacks: []string{"thinking"}},
		{model: "claude-haiku-4-5", options: item.Options{Effort: "high"}, body: `{"max_tokens":4000}`, has: `"budget_tokens":3000`},
		{model: "claude-3-5-haiku-20241022", options: item.Options{Effort: "high", Temperature: "1"}, has: `"temperature":1`, lacks: []string{"thinking", "effort"}},
		{model: "deepseek-v4", options: item.Options{Effort: "high", Temperature: "0.5"}, has: output + `"high"},"temperature":0.5`, lacks: []string{"thinking"}},
	} {
		setup := item.Setup{Model: tc.model, Options: tc.options, Body: tc.body}
		body, err := c.Body(llm.Request{Setup: setup, Items: []item.Item{item.UserMessage{Text: "hi"}}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), tc.has) {
			t.Errorf("%s with %+v: no %s in %s", tc.model, tc.options, tc.has, body)
		}
		for _, lacks := range tc.lacks {
			if strings.Contains(string(body), lacks) {
				t.Errorf("%s with %+v: %s in %s", tc.model, tc.options, lacks, body)
			}
		}
		if _, err := llmtest.Collect(c.Stream(t.Context(), body)); err != nil {
			t.Errorf("%s with %+v: %v", tc.model, tc.options, err)
		}
	}
}

// The marks have the time that an option names, where the endpoint takes marks.
func TestCacheTTL(t *testing.T) {
	r := llm.Request{Setup: item.Setup{Model: "m", Instructions: "Be brief.", Options: item.Options{CacheTTL: "1h"}}, Items: []item.Item{item.UserMessage{Text: "hi"}}}
	const mark = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	if body := bodyOf(t, anthropic.Config{}, r); strings.Count(body, mark) != 2 {
		t.Errorf("%s", body)
	}
	off := exchange.Override{Names: []string{"cache_marks"}}
	if body := bodyOf(t, anthropic.Config{Override: off}, r); strings.Contains(body, "1h") {
		t.Errorf("without marks: %s", body)
	}
}

// The configuration replaces what podd knows of a host, in both directions.
func TestOverriddenQuirks(t *testing.T) {
	r := llm.Request{
		Setup: item.Setup{Model: "claude-sonnet-4-5", Instructions: "Be brief.", Options: item.Options{Effort: "high"}},
		Items: []item.Item{item.UserMessage{Text: "hi"}},
	}
	off := exchange.Override{Names: []string{"cache_marks"}}
	if body := bodyOf(t, anthropic.Config{BaseURL: anthropic.DefaultBaseURL, Override: off}, r); strings.Contains(body, "cache_control") || !strings.Contains(body, "budget_tokens") {
		t.Errorf("%s", body)
	}
	on := exchange.Override{Names: []string{"cache_marks", "thinking"}, Quirks: exchange.Quirks{CacheMarks: true, Thinking: exchange.ThinkingAdaptive}}
	if body := bodyOf(t, anthropic.Config{Override: on}, r); !strings.Contains(body, "cache_control") || !strings.Contains(body, `"type":"adaptive"`) {
		t.Errorf("%s", body)
	}
}

// A model with a budget does not think while it goes on with calls that it did not reason
// about; one that thinks adaptively may.
func TestUnsignedCalls(t *testing.T) {
	for model, thinks := range map[string]bool{"claude-sonnet-4-5": false, "claude-opus-4-6": true} {
		setup := item.Setup{Model: model, Options: item.Options{Effort: "low"}, UnsignedCalls: true}
		body := bodyOf(t, anthropic.Config{}, llm.Request{Setup: setup, Items: []item.Item{item.UserMessage{Text: "hi"}}})
		if strings.Contains(body, `"thinking"`) != thinks {
			t.Errorf("%s: %s", model, body)
		}
	}
}
