package openai_test

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

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

// decode reads answers with the clients of both APIs.
func decode(t testing.TB) llmtest.Decode {
	byAPI := clients(t)
	return func(ctx context.Context, api, contentType string, body io.Reader) iter.Seq2[llm.Event, error] {
		return byAPI[api].Decode(ctx, contentType, body)
	}
}

func TestStreams(t *testing.T) { llmtest.Streams(t, decode(t)) }

func TestBentStreams(t *testing.T) { llmtest.BentStreams(t, decode(t)) }
