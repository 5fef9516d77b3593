package exchange_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"podd/pkg/llm/exchange"
)

// FuzzMembers: any valid JSON has the members that gjson finds, with the same values, and
// what follows it is returned.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `[1]`, `{"a":1}`, `{"a":-1.5e3,"b":"x","c":null,"d":[1,{"e":"]"}],"f":{"g":"}"}}`, `"a"`, `12`, `null`,
		` { "a" : [ 1 , 2 ] , "b" : true } `, `{"a\"b":"c\\","\\":"\\\""}`, "[\t[]\n,{},\"\\u0041\", 0]", `{"":{"":[[[{}]]]},"a":1,"a":2}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !gjson.Valid(text) {
			exchange.Members(text, func(_, text string) string {
				_, rest := exchange.Value(text)
				return rest
			})
			return
		}
		type member struct{ name, value string }
		var got, want []member
		const after = `,"x":1}`
		rest := exchange.Members(text+after, func(name, text string) string {
			value, rest := exchange.Value(text)
			got = append(got, member{name, value})
			return rest
		})
		if v := gjson.Parse(text); v.IsObject() || v.IsArray() {
			v.ForEach(func(key, value gjson.Result) bool {
				want = append(want, member{key.Str, value.Raw})
				return true
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%q:\n%q, want\n%q", text, got, want)
			}
		} else if got != nil {
			t.Fatalf("%q has the members %q", text, got)
		}
		if strings.TrimLeft(rest, " \t\r\n") != after {
			t.Fatalf("%q is followed by %q", text, rest)
		}
	})
}
