package extern_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/internal/extend/extern"
)

// A verdict is one JSON object in UTF-8 whose word belongs to the event, or empty output;
// any other output is an error in one sentence.
func FuzzParseVerdict(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"verdict":"continue"}`, `{"verdict":"continue_with","items":["a"]}`, `{"verdict":"deny","reason":"x"} `,
		`{"verdict":"rewrite","arguments":{"a":[1,{"b":null}]}}`, `{"verdict":"result","output":{"summary":"a"}}`,
		`{"verdict":"finish","verdict":"finish"}`, `{"verdict":"pause","reason":"` + "\xff" + `"}`, `[[[[`, `{"version":1,"verdict":"abort"}`,
	} {
		for i := range 5 {
			f.Add(i, text)
		}
	}
	edges := extern.Edges()[:5]
	f.Fuzz(func(t *testing.T, edge int, text string) {
		on := edges[(edge%len(edges)+len(edges))%len(edges)]
		word, items, err := extern.ParseVerdict(on, text)
		if err != nil {
			if message := err.Error(); !utf8.ValidString(message) || strings.Contains(message, "\n") || len(message) > 1000 {
				t.Errorf("that is no sentence: %q", message)
			}
			return
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		var object struct{ Verdict string }
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &object) != nil || object.Verdict != word {
			t.Errorf("%q is read as the verdict %q", text, word)
		}
		words := "continue finish continue_with rewrite cancel pause deny result ask abort replace"
		if !slices.Contains(strings.Fields(words), word) || items > 16 || (items > 0) != (word == "continue_with") {
			t.Errorf("%q is the verdict %q with %d items", text, word, items)
		}
	})
}
