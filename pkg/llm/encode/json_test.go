package encode_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"podd/pkg/llm/encode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// FuzzQuote: any text becomes a JSON string that reads back as the same text, with U+FFFD
// for what is not UTF-8.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x1f\x7f", "ü✓😀\u2028", "\xff\xfea\xc3", "</script>&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := encode.String(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || !utf8.Valid(quoted) {
			t.Fatalf("%q: %s, %v", s, quoted, err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}
