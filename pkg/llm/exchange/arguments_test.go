package exchange_test

import (
	"testing"

	"podd/pkg/llm/exchange"
)

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		``:                                   ``,
		`{}`:                                 `{}`,
		` {"a": 1} `:                         ` {"a": 1} `,
		`{}{"a": 1}`:                         `{"a": 1}`,
		"{ } \n {\"a\": 1}":                  `{"a": 1}`,
		`null{"a": 1}`:                       `{"a": 1}`,
		`""{"a": 1}`:                         `{"a": 1}`,
		`{"a": 1}{}`:                         `{"a": 1}`,
		`{"a": 1}null`:                       `{"a": 1}`,
		`{"a": ""}{"a": 1}`:                  `{"a": 1}`,
		`{}{}`:                               `{}`,
		`{}{"a": "b`:                         `{"a": "b`,
		`{"a": 1}{"a": "b`:                   `{"a": 1}{"a": "b`,
		`{"a": "b`:                           `{"a": "b`,
		`"{\"a\": 1}"`:                       `"{\"a\": 1}"`,
		`[1]{"a": 1}`:                        `[1]{"a": 1}`,
		`{}[1]`:                              `{}[1]`,
		`{} and more`:                        `{} and more`,
		"{}\xff":                             "{}\xff",
		`{"path": "a}{b"}`:                   `{"path": "a}{b"}`,
		`{"a": {}}{"b": {}}{}`:               `{"b": {}}`,
		`{"a": 1} {"a": 1} {"a": 1}`:         `{"a": 1}`,
		`{}` + `{"path"` + `: "a.txt", "n":`: `{"path": "a.txt", "n":`,
	} {
		if got := exchange.Arguments(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	for in, want := range map[string]string{"tool_use": "stop_reason tool_use", "": "", "a\nb": "", "content_filter: SAFETY": "stop_reason content_filter: SAFETY"} {
		if got := exchange.Reason("stop_reason", in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
