package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

var update = flag.Bool("update", false, "write testdata/streams/*.want anew; read them before they are committed")

// clients are clients of both APIs that connect to nothing.
func clients(t testing.TB) map[string]*openai.Client {
	t.Helper()
	out := map[string]*openai.Client{}
	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		c, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:9/v1", API: api})
		if err != nil {
			t.Fatal(err)
		}
		out[api] = c
	}
	return out
}

// streamFiles are the recorded shapes: API-NAME.sse.
func streamFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".sse")] = data
	}
	return out
}

// TestStreams reads the shapes that endpoints really send. Each says in its first
// line why it is there; the file beside it holds what must come of it.
func TestStreams(t *testing.T) {
	byAPI := clients(t)
	for name, data := range streamFiles(t) {
		t.Run(name, func(t *testing.T) {
			api, _, _ := strings.Cut(name, "-")
			r, err := llmtest.Collect(byAPI[api].Decode(t.Context(), "text/event-stream", bytes.NewReader(data)))
			got := render(r, err)
			path := filepath.Join("testdata", "streams", name+".want")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			slow, err := llmtest.Collect(byAPI[api].Decode(t.Context(), "text/event-stream", iotest.OneByteReader(bytes.NewReader(data))))
			if again := render(slow, err); again != got {
				t.Errorf("a byte at a time:\n%s", again)
			}
		})
	}
}

// render is a result as text, a line an item.
func render(r llmtest.Result, err error) string {
	var b strings.Builder
	opaque := func(o item.Opaque) {
		if o != (item.Opaque{}) {
			fmt.Fprintf(&b, "  opaque %s %s\n", o.API, o.JSON)
		}
	}
	for _, it := range r.Items {
		switch v := it.(type) {
		case item.Reasoning:
			fmt.Fprintf(&b, "reasoning %q\n", v.Text)
			opaque(v.Opaque)
		case item.AssistantMessage:
			fmt.Fprintf(&b, "text %q\n", v.Text)
			opaque(v.Opaque)
		case item.ToolCall:
			fmt.Fprintf(&b, "call %q %s %s\n", v.CallID, v.Name, v.Arguments)
			opaque(v.Opaque)
		}
	}
	if r.Whole {
		fmt.Fprintf(&b, "end %s, model %q, response %q\n", r.End.Stop, r.End.Model, r.End.ResponseID)
		if r.End.Measured {
			u := r.End.Usage
			fmt.Fprintf(&b, "usage input %d, cached %d, written %d, output %d, reasoning %d\n", u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning)
		}
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		fmt.Fprintf(&b, "error %s %q: %s\n", e.Class, e.Code, e.Message)
	} else if err != nil {
		fmt.Fprintf(&b, "broken %v\n", err)
	}
	return b.String()
}

// checkStream holds what is true of every stream: the order of its events, and an
// end or one classified error.
func checkStream(t *testing.T, c *openai.Client, contentType string, data []byte) {
	t.Helper()
	r, err := llmtest.Collect(c.Decode(t.Context(), contentType, bytes.NewReader(data)))
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case err == nil && !r.Whole:
		t.Fatalf("neither an end nor an error: %q", data)
	case err != nil && (!ok || r.Whole || e.Class == "" || len(e.Message) > 400):
		t.Fatalf("error %#v, %v, of %q", err, r.Whole, data)
	}
	for _, it := range r.Items {
		if call, ok := it.(item.ToolCall); ok && call.Opaque.JSON != "" && !json.Valid([]byte(call.Opaque.JSON)) {
			t.Fatalf("opaque %q of %q", call.Opaque.JSON, data)
		}
		if v, ok := it.(item.Reasoning); ok && (v.Opaque.JSON != "" && !json.Valid([]byte(v.Opaque.JSON)) || !utf8.ValidString(v.Text)) {
			t.Fatalf("reasoning %q of %q", v, data)
		}
	}
	if !utf8.ValidString(r.Text()) {
		t.Fatalf("text %q of %q", r.Text(), data)
	}
}
