package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// BentStreams runs briefly what a fuzzer does for long: the streams of testdata/streams with
// bytes removed, doubled and changed, and input that would overflow the stack of a recursive
// reader.
func BentStreams(t *testing.T, decode Decode) {
	t.Helper()
	paths, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test repeats itself
	apis := map[string]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path) //nolint:gosec // a file of the test
		if err != nil {
			t.Fatal(err)
		}
		api, _, _ := strings.Cut(filepath.Base(path), "-")
		apis[api] = true
		for range 15 {
			CheckStream(t, decode, api, "text/event-stream", bend(rnd, data))
		}
	}
	deep := "data: " + strings.Repeat(`{"a":[`, 2<<20) + "\n\n"
	for api := range apis {
		CheckStream(t, decode, api, "text/event-stream", []byte(deep))
		CheckStream(t, decode, api, "application/json", []byte(deep[6:]))
	}
}

// bend removes, doubles or changes bytes in up to three places.
func bend(rnd *rand.Rand, data []byte) []byte {
	bent := slices.Clone(data)
	for range 1 + rnd.IntN(3) {
		i := rnd.IntN(len(bent))
		j := min(len(bent), i+rnd.IntN(20))
		switch rnd.IntN(3) {
		case 0:
			bent = slices.Delete(bent, i, j)
		case 1:
			bent = slices.Insert(bent, i, slices.Clone(bent[i:j])...)
		case 2:
			bent[i] ^= byte(1 << rnd.IntN(8))
		}
	}
	return bent
}

// CheckStream checks what is true of every stream: the order of its events, and an end or
// one classified error.
func CheckStream(t testing.TB, decode Decode, api, contentType string, data []byte) {
	t.Helper()
	r, err := Collect(decode(t.Context(), api, contentType, bytes.NewReader(data)))
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
