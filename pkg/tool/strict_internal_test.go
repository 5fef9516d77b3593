package tool

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// The strict reader reads what encoding/json reads, except for duplicate keys and too
// deep nesting.
func FuzzParseStrict(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls"}`, ` { "a" : [ 1 , -2.5e+3 , true , false , null , "x\"y\\" ] , "b" : { } } `, `[[],[[]],{}]`, `"\ud800"`, `"\u00e9\\"`,
		`{"a":1,"\u0061":2}`, `1`, ` 0 `, `-0.1E5`, "{\"a\":\n\t[1\r\n]}", `{"a":{"b":"c:d,e]}"}}`, `[[[`, `nul`, strings.Repeat("[", 70) + strings.Repeat("]", 70),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseStrict("the arguments are", text)
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			if err == nil {
				t.Fatalf("%q is read as %v", text, got)
			}
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "is given twice") && !strings.Contains(err.Error(), "nested deeper") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %#v, encoding/json reads %#v, %v", text, got, want, err)
		}
	})
}
