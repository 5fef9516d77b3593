package exchange_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"podd/pkg/llm/exchange"
)

// Each place of a count was seen in a stream: a file of the adapters has it.
func TestEachUsagePathHasAStream(t *testing.T) {
	seen := map[string]bool{}
	paths, err := filepath.Glob("../*/testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		api, _, _ := strings.Cut(filepath.Base(path), "-")
		for line := range strings.Lines(string(data)) {
			message := gjson.Parse(strings.TrimPrefix(line, "data: "))
			for _, at := range []string{"usage", "response.usage", "message.usage", "choices.0.usage"} {
				for _, p := range exchange.UsagePaths(api) {
					if v := message.Get(at + "." + p); v.Exists() && v.Type != gjson.Null {
						seen[api+" "+p] = true
					}
				}
			}
		}
	}
	for _, api := range []string{exchange.APIChat, exchange.APIResponses, exchange.APIMessages} {
		for _, p := range exchange.UsagePaths(api) {
			if !seen[api+" "+p] {
				t.Errorf("no stream of %s has %s", api, p)
			}
		}
	}
}

// Each row of the table says where it is from, and applies to subdomains and to models in
// any case and after any vendor, but not to names that only look alike.
func TestQuirkRows(t *testing.T) {
	for _, from := range exchange.Sources() {
		if from == "" {
			t.Error("a row does not say where it is from")
		}
	}
	for _, tc := range []struct {
		base, model string
		has         func(exchange.Quirks) bool
		want        bool
	}{
		{"https://api.mistral.ai/v1", "m", func(q exchange.Quirks) bool { return q.NoStreamOptions && q.ShortCallIDs }, true},
		{"https://API.Mistral.ai/v1", "m", func(q exchange.Quirks) bool { return q.NoStreamOptions }, true},
		{"https://eu.api.mistral.ai/v1", "m", func(q exchange.Quirks) bool { return q.NoStreamOptions }, true},
		{"https://notapi.mistral.ai/v1", "m", func(q exchange.Quirks) bool { return q.NoStreamOptions }, false},
		{"http://localhost/v1", "mistralai/Devstral-Small", func(q exchange.Quirks) bool { return q.AnswersTools }, true},
		{"http://localhost/v1", "openai/GPT-4o", func(q exchange.Quirks) bool { return q.NoEncryptedReasoning }, true},
		{"http://localhost/v1", "ft:gpt-4o-mini:acme", func(q exchange.Quirks) bool { return q.NoEncryptedReasoning }, true},
		{"http://localhost/v1", "my-gpt-4", func(q exchange.Quirks) bool { return q.NoEncryptedReasoning }, false},
		{"https://api.anthropic.com/v1", "claude-opus-4-5", func(q exchange.Quirks) bool { return q.CacheMarks && q.MaxTokens == 0 }, true},
		{"http://localhost/v1", "claude-3-5-haiku", func(q exchange.Quirks) bool { return q.MaxTokens == 8192 && q.CacheMarks }, true},
	} {
		if got := tc.has(exchange.QuirksOf(t, tc.base, tc.model)); got != tc.want {
			t.Errorf("%s, %s: %v", tc.base, tc.model, got)
		}
	}
}

// Each row about hosts and models counts, and so does each of its fields: without it the
// quirks of an example are others.
func TestEachQuirkCounts(t *testing.T) {
	for i, row := range exchange.QuirkRows() {
		host, model := "h.example", "m"
		if len(row.Hosts) > 0 {
			host = row.Hosts[0]
		}
		if len(row.Models) > 0 {
			model = strings.Trim(row.Models[0], "^$")
		}
		with, without := exchange.QuirksWithout(host, model, -1), exchange.QuirksWithout(host, model, i)
		want, got, lacks := reflect.ValueOf(row.Quirks), reflect.ValueOf(with), reflect.ValueOf(without)
		for f := range want.NumField() {
			if want.Field(f).IsZero() {
				continue
			}
			if name := want.Type().Field(f).Name; !got.Field(f).Equal(want.Field(f)) || lacks.Field(f).Equal(want.Field(f)) {
				t.Errorf("row %d (%s): %s of %s at %s is %v, without the row %v", i, row.From, name, model, host, got.Field(f), lacks.Field(f))
			}
		}
	}
}

func TestVendor(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.openai.com/v1": "openai", "https://api.anthropic.com/v1": "anthropic", "https://r.openai.azure.com/openai/v1": "azure.ai.openai",
		"https://api.x.ai/v1": "x_ai", "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1": "aws.bedrock", "http://localhost:1/v1": "openai",
	} {
		if got := exchange.Vendor(address, exchange.APIChat); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := exchange.Vendor("http://localhost:1/v1", exchange.APIMessages); got != "anthropic" {
		t.Error(got)
	}
}
