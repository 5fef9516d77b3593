package llmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// updateStreams rewrites the expected results when it is set: read them before they are
// committed.
const updateStreams = "PODD_UPDATE_STREAMS"

// Decode reads a body as an answer of an API.
type Decode func(ctx context.Context, api, contentType string, body io.Reader) iter.Seq2[llm.Event, error]

// Streams reads shapes that endpoints really send: testdata/streams/API-NAME.sse. The first
// line of each says why it is there; the file beside it, API-NAME.want, has the expected
// result.
func Streams(t *testing.T, decode Decode) {
	t.Helper()
	paths, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".sse")
		t.Run(name, func(t *testing.T) { stream(t, path, name, decode) })
	}
}

// stream reads one file at once and a byte at a time.
func stream(t *testing.T, path, name string, decode Decode) {
	data, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	api, _, _ := strings.Cut(name, "-")
	got := render(Collect(decode(t.Context(), api, "text/event-stream", bytes.NewReader(data))))
	expected := filepath.Join("testdata", "streams", name+".want")
	if os.Getenv(updateStreams) != "" {
		if err := os.WriteFile(expected, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(expected) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if again := render(Collect(decode(t.Context(), api, "text/event-stream", iotest.OneByteReader(bytes.NewReader(data))))); again != got {
		t.Errorf("a byte at a time:\n%s", again)
	}
}

// render is a result as text, a line an item.
func render(r Result, err error) string {
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
