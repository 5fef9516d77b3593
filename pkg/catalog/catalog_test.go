package catalog_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"podd/pkg/catalog"
)

// People and endpoints name one model in many ways.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"claude-sonnet-4-5":                            "claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929":                   "claude-sonnet-4-5-20250929",
		"anthropic/claude-sonnet-4.5":                  "claude-sonnet-4-5",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5-20250929",
		"Claude Sonnet 4.5":                            "claude-sonnet-4-5",
		"gpt-5.1":                                      "gpt-5.1",
		"openai/gpt-5.1-2025-11-13":                    "gpt-5.1",
		"gemini-2.5-pro":                               "gemini-2.5-pro",
		"google/gemini-2.5-pro-preview-05-06":          "gemini-2.5-pro",
		"qwen/qwen3-coder-480b-a35b-instruct:free":     "qwen3-coder-480b-a35b-instruct",
		"Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8":        "qwen3-coder-30b-a3b-instruct",
		"deepseek-ai/DeepSeek-V4-Pro":                  "deepseek-v4-pro",
		"deepseek/deepseek-chat":                       "deepseek-chat",
		"meta-llama/Llama-3.3-70B-Instruct":            "llama-3.3-70b-instruct",
		"llama-3.3-70b-instruct-q4_k_m.gguf":           "",
		"gpt-5.9":                                      "",
		"gpt-5-1":                                      "gpt-5.1",
		"gpt-5-pico":                                   "",
		"claude":                                       "",
		"":                                             "",
		"/":                                            "",
		"-latest":                                      "",
		"my-model":                                     "",
	} {
		if got, ok := catalog.Builtin().Find(name); got.ID != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", name, got.ID, want)
		}
	}
}

// The embedded catalogue knows what people use most, and is as Encode writes it.
func TestBuiltin(t *testing.T) {
	c := catalog.Builtin()
	for _, name := range []string{"gpt-5.5", "claude-opus-4-8", "claude-haiku-4-5", "gemini-3-flash-preview", "grok-4.3", "deepseek-reasoner", "qwen3-max", "mistral-large-latest", "kimi-k2-thinking", "glm-5"} {
		m, ok := c.Find(name)
		if !ok || m.Window < 32_000 || m.Price == nil || m.Price.Output < m.Price.Input {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m, _ := c.Find("claude-opus-4-8"); !m.Images || !slices.Contains(m.Effort, "high") || m.Price.CacheWrite <= m.Price.Input {
		t.Errorf("%+v", m)
	}
	if len(c.Models) < 200 || c.Date < "2026-07" || !strings.Contains(c.Notice, "MIT") {
		t.Errorf("%d models of %s, %s", len(c.Models), c.Date, c.Notice)
	}
	again, err := catalog.Read(c.Encode())
	if err != nil || !bytes.Equal(again.Encode(), c.Encode()) {
		t.Errorf("reads back differently: %v", err)
	}
}

const data = `{"models":{
 "maker/open":{"id":"maker/open","tool_call":true,"limit":{"context":65536},"modalities":{"input":["text"],"output":["text"]}},
 "maker/m1":{"id":"maker/m1","tool_call":true,"limit":{"context":1},"modalities":{"input":["text"],"output":["text"]}}},
"providers":{
 "reseller":{"models":{"m1":{"tool_call":true,"cost":{"input":9,"output":9},"limit":{"context":9},"modalities":{"output":["text"]}}}},
 "anthropic":{"models":{
  "m1":{"tool_call":true,"reasoning_options":[{"type":"toggle"},{"type":"effort","values":["low",null,"high"]}],
   "cost":{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75,"tiers":[{"tier":{"size":200000},"input":6,"output":22.5,"cache_read":0.6,"cache_write":7.5}]},
   "limit":{"context":1000000,"output":64000},"modalities":{"input":["text","image","pdf"],"output":["text"]}},
  "speaks":{"tool_call":true,"limit":{"context":10},"modalities":{"output":["audio"]}},
  "calls-nothing":{"tool_call":false,"limit":{"context":10},"modalities":{"output":["text"]}}}}}}`

func TestReduce(t *testing.T) {
	c, err := catalog.Reduce([]byte(data), "here", "2026-11-23")
	if err != nil {
		t.Fatal(err)
	}
	want := `    {"id":"m1","vendor":"anthropic","window":1000000,"output":64000,"effort":["low","high"],"images":true,"price":{"input":3,"output":15,"cached_input":0.3,"cache_write":3.75,"long":{"above":200000,"input":6,"output":22.5,"cached_input":0.6,"cache_write":7.5}}},
    {"id":"open","vendor":"maker","window":65536}
`
	if !strings.Contains(string(c.Encode()), want) || len(c.Models) != 2 {
		t.Errorf("%s", c.Encode())
	}
}

// What is broken or impossible is refused with what is wrong.
func TestRefused(t *testing.T) {
	head := `{"source":"s","date":"2026-01-02","models":[`
	for text, want := range map[string]string{
		``:                                "not a catalogue of models",
		`[]`:                              "not a catalogue of models",
		`{"models":[{"id":"m"}]}`:         "names no source or date",
		head + `]}`:                       "lists no model",
		head + `{"id":""}]}`:              `"" has no usable name`,
		head + `{"id":"m","window":-1}]}`: `"m" has a limit of -1 tokens`,
		head + `{"id":"m","price":{"input":0,"output":1}}]}`:                                         "impossible price",
		head + `{"id":"m","price":{"input":1,"output":1,"cached_input":2}}]}`:                        "impossible price",
		head + `{"id":"m","price":{"input":1,"output":1,"long":{"above":0,"input":1,"output":1}}}]}`: "above 0 tokens",
	} {
		if _, err := catalog.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{}`: "it has no providers; get https://models.dev/catalog.json", `{`: "not the catalogue of models.dev",
		`{"providers":{"x":{}}}`: "lists no model",
	} {
		if _, err := catalog.Reduce([]byte(text), "s", "2026-01-02"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Whatever a name is, Find ends, and what it finds is found again by its own name.
func FuzzFind(f *testing.F) {
	for _, name := range []string{"claude-sonnet-4-5-20250929-v1:0", "a.b.c-d", "-", "..", "x/", "v1-0-0", "gpt-5.1-2025-11-13"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := catalog.Builtin().Find(name)
		if !ok {
			return
		}
		if again, ok := catalog.Builtin().Find(m.ID); !ok || again.ID != m.ID && !strings.EqualFold(again.ID, m.ID) {
			t.Errorf("%q is %q, which is %q", name, m.ID, again.ID)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(data))
	f.Add([]byte(`{"source":"s","date":"2026-01-02","models":[{"id":"m"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := catalog.Read(text); err == nil {
			if _, err := catalog.Read(c.Encode()); err != nil {
				t.Errorf("does not read back: %v", err)
			}
		}
	})
}
