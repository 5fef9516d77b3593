package item_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
)

// An answer of another kind than a question takes is refused with a sentence that names the question.
func TestFormTakes(t *testing.T) {
	n := func(f float64) *float64 { return &f }
	three := []item.FormOption{{Label: "a"}, {Label: "b"}, {Label: "c"}}
	for _, c := range []struct {
		takes item.FormTakes
		reply item.FormReply
		want  string
	}{
		{item.FormTakes{Type: item.TakesText}, item.FormReply{Text: "-"}, ""},
		{item.FormTakes{Type: item.TakesText}, item.FormReply{}, "question 1 has no answer: write one"},
		{item.FormTakes{Type: item.TakesText, Optional: true}, item.FormReply{}, ""},
		{item.FormTakes{Type: item.TakesInteger, Optional: true}, item.FormReply{Text: " - "}, ""},
		{item.FormTakes{Type: item.TakesInteger}, item.FormReply{Text: " 8080 "}, ""},
		{item.FormTakes{Type: item.TakesInteger}, item.FormReply{Text: "1.5"}, `question 1 takes a whole number, not "1.5"`},
		{item.FormTakes{Type: item.TakesNumber}, item.FormReply{Text: "1.5"}, ""},
		{item.FormTakes{Type: item.TakesNumber}, item.FormReply{Text: "NaN"}, `question 1 takes a number, not "NaN"`},
		{item.FormTakes{Type: item.TakesNumber}, item.FormReply{Text: strings.Repeat("x", 99)}, `question 1 takes a number, not "` + strings.Repeat("x", 40) + `…"`},
		{item.FormTakes{Type: item.TakesNumber, Min: n(1)}, item.FormReply{Text: "0"}, "question 1 takes a number of at least 1"},
		{item.FormTakes{Type: item.TakesNumber, Max: n(65535)}, item.FormReply{Text: "65536"}, "question 1 takes a number of at most 65535"},
		{item.FormTakes{Type: item.TakesText, Min: n(3)}, item.FormReply{Text: "äö"}, "question 1 takes a text of at least 3 characters"},
		{item.FormTakes{Type: item.TakesText, Pattern: "^[a-z]+$"}, item.FormReply{Text: "A"}, "question 1 takes a text that matches ^[a-z]+$"},
		{item.FormTakes{Type: item.TakesText, Format: "email"}, item.FormReply{Text: "ada@example.com"}, ""},
		{item.FormTakes{Type: item.TakesText, Format: "email"}, item.FormReply{Text: "ada"}, `question 1 takes an address such as ada@example.com, not "ada"`},
		{item.FormTakes{Type: item.TakesText, Format: "uri"}, item.FormReply{Text: "a b"}, `question 1 takes a URL such as https://example.com, not "a b"`},
		{item.FormTakes{Type: item.TakesText, Format: "date"}, item.FormReply{Text: "2026-02-30"}, `question 1 takes a date such as 2026-01-31, not "2026-02-30"`},
		{item.FormTakes{Type: item.TakesText, Format: "date-time"}, item.FormReply{Text: "2026-01-31T12:00:00+01:00"}, ""},
		{item.FormTakes{Type: item.TakesOptions}, item.FormReply{Choices: []int{1}}, ""},
		{item.FormTakes{Type: item.TakesOptions}, item.FormReply{Choices: []int{4}}, "question 1 has no option 4: it has 3"},
		{item.FormTakes{Type: item.TakesOptions}, item.FormReply{Text: "d"}, "question 1 takes its options alone: answer with their numbers"},
		{item.FormTakes{Type: item.TakesOptions}, item.FormReply{}, "question 1 has no answer: choose an option"},
		{item.FormTakes{Type: item.TakesOptions, Optional: true}, item.FormReply{Text: "-"}, ""},
		{item.FormTakes{Type: item.TakesOptions, Min: n(2)}, item.FormReply{Choices: []int{1}}, "question 1 takes at least 2 options"},
		{item.FormTakes{Type: item.TakesOptions, Max: n(2)}, item.FormReply{Choices: []int{1, 2, 3}}, "question 1 takes at most 2 options"},
	} {
		f := item.Form{Questions: []item.FormQuestion{{Options: three, Multiple: true, Takes: &c.takes}}}
		got := ""
		if err := f.Check([]item.FormReply{c.reply}); err != nil {
			if got = err.Error(); item.ReasonOf(err) != "BAD_ANSWER" {
				t.Errorf("%+v: reason %s", c.reply, item.ReasonOf(err))
			}
		}
		if got != c.want {
			t.Errorf("%+v of %+v: %q, want %q", c.reply, c.takes, got, c.want)
		}
	}
	one := item.Form{Questions: []item.FormQuestion{{Takes: &item.FormTakes{Min: n(1)}}}}
	two := item.Form{Questions: []item.FormQuestion{{Takes: &item.FormTakes{Max: n(1)}}}}
	if one.Digest("c", "k") == two.Digest("c", "k") {
		t.Error("forms that take different answers have one digest")
	}
}
