package anthropic_test

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/llmtest"
)

// local is a client that connects to nothing.
func local(t testing.TB, cfg anthropic.Config) *anthropic.Client {
	t.Helper()
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://127.0.0.1:9/v1"
	}
	c, err := anthropic.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decode reads answers with a client.
func decode(t testing.TB) llmtest.Decode {
	c := local(t, anthropic.Config{})
	return func(ctx context.Context, _, contentType string, body io.Reader) iter.Seq2[llm.Event, error] {
		return c.Decode(ctx, contentType, body)
	}
}

func TestStreams(t *testing.T) { llmtest.Streams(t, decode(t)) }

func TestBentStreams(t *testing.T) { llmtest.BentStreams(t, decode(t)) }

// FuzzStream feeds the decoder any input: no panic, and never an event after the end or out
// of order.
func FuzzStream(f *testing.F) {
	paths, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	read := decode(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{"text/event-stream", "application/json"} {
			llmtest.CheckStream(t, read, anthropic.API, kind, data)
		}
	})
}

// A host that does not stream sends one message, or an error with status 200.
func TestWholeMessage(t *testing.T) {
	read := decode(t)
	r, err := llmtest.Collect(read(t.Context(), anthropic.API, "application/json", strings.NewReader(`{"id":"msg_1","type":"message","role":"assistant","model":"m",`+
		`"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Hello."},{"type":"tool_use","id":"t1","name":"shell","input":{"command":"ls"}}],`+
		`"stop_reason":"tool_use","usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":3}}`)))
	want := []item.Item{
		item.Reasoning{Text: "hm", Opaque: item.Opaque{API: anthropic.API, JSON: `{"type":"thinking","thinking":"hm","signature":"s"}`}},
		item.AssistantMessage{Text: "Hello."},
		item.ToolCall{CallID: "t1", Name: "shell", Arguments: `{"command":"ls"}`},
	}
	if err != nil || !slices.Equal(r.Items, want) || r.End.Usage != (item.Usage{Input: 7, CachedInput: 2, Output: 3, Requests: 1}) || r.End.ResponseID != "msg_1" {
		t.Errorf("%+v, %v", r, err)
	}
	for body, class := range map[string]llm.Class{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: llm.ClassOverloaded,
		`{"error":{"message":"no such key","type":"authentication_error"}}`:           llm.ClassAuth,
		`{"content":[]}`: llm.ClassCut,
		`{`:              llm.ClassCut,
	} {
		if _, err := llmtest.Collect(read(t.Context(), anthropic.API, "application/json", strings.NewReader(body))); llm.ClassOf(err) != class {
			t.Errorf("%s: %v", body, err)
		}
	}
}
