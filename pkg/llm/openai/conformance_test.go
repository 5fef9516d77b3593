package openai_test

import (
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

func TestConformance(t *testing.T) {
	for _, p := range []llmtest.Profile{
		{API: openai.APIChat, NoSealed: true, Opaque: []item.Opaque{
			{API: openai.APIChat, JSON: `{"reasoning_content":"what chat thought"}`},
			{API: openai.APIChat, JSON: `{"reasoning_details":[{"type":"reasoning.text","signature":"signed by chat"}]}`},
		}},
		{API: openai.APIResponses, Opaque: []item.Opaque{
			{API: openai.APIResponses, JSON: `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed by responses"}`},
		}},
	} {
		t.Run(p.API, func(t *testing.T) {
			llmtest.Run(t, p, llmtest.Scripted(func(t *testing.T, baseURL, key string) llm.Model {
				c, err := openai.New(openai.Config{BaseURL: baseURL, API: p.API, APIKey: key})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return c
			}))
		})
	}
}
