package anthropic_test

import (
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/exchange"
	"podd/pkg/llm/llmtest"
)

func TestConformance(t *testing.T) {
	profile := llmtest.Profile{API: anthropic.API, Opaque: []item.Opaque{
		{API: anthropic.API, JSON: `{"type":"thinking","thinking":"hm","signature":"signed by messages"}`},
		{API: anthropic.API, JSON: `{"type":"redacted_thinking","data":"sealed by messages"}`},
	}}
	for name, quirks := range map[string]exchange.Override{"with marks": {}, "without": {Names: []string{"cache_marks"}}} {
		t.Run(name, func(t *testing.T) {
			llmtest.Run(t, profile, llmtest.Scripted(func(t *testing.T, baseURL, key string) llm.Model {
				c, err := anthropic.New(anthropic.Config{BaseURL: baseURL, APIKey: key, Override: quirks})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return c
			}))
		})
	}
}
