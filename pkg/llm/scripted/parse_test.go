package scripted_test

import (
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

func TestParseErrors(t *testing.T) {
	for script, want := range map[string]string{
		"":                                    "the script has no step",
		"# nothing\n\n":                       "the script has no step",
		"model m\n":                           "the script has no step",
		"text hi":                             `line 1: "text" stands outside of a step`,
		"step\n\nhello there":                 `line 3: "hello" is not known`,
		"step one":                            `line 1: step takes nothing on its line`,
		"step\nmodel m":                       "line 2: model stands before the first step",
		"model":                               "line 1: model needs a value",
		"delay soon":                          "line 1: a duration must stand here",
		"delay -1s":                           "line 1: a duration must stand here",
		"step\n| more":                        "line 2: a line that begins with",
		"step\ntext a\nstop length\n| more":   "line 4: a line that begins with",
		"step\ncall":                          "line 2: call needs the name of a tool",
		"step\ncall shell {\"a\":":            "line 2: the arguments of shell are not a JSON object",
		"step\ncall shell\n| [1]\ntext a":     "line 2: the arguments of shell are not a JSON object",
		"step\ntext a\ncall shell [":          "line 3: the arguments of shell are not a JSON object",
		"step\nexpect me \"x\"":               "line 2: expect knows user, tool, system and body",
		"step\nexpect user x":                 "line 2: a text in quotes must stand here",
		"step\nexpect user \"\"":              "line 2: a text in quotes must stand here",
		"on thanks":                           "line 1: a text in quotes must stand here",
		"on \"a\"\ntext b":                    `line 2: "text" stands outside of a step`,
		"otherwise\ntext a\notherwise":        "line 3: otherwise stands twice; the first is in line 1",
		"otherwise\ntext a\nstep":             "line 3: otherwise is the last answer",
		"otherwise\ntext a\non \"b\"":         "line 3: otherwise is the last answer",
		"step\nfail":                          "line 2: fail needs a status",
		"step\nfail 200 fine":                 "line 2: fail needs a status",
		"step\nfail 429 retry-after=soon x":   "line 2: retry-after is a number of seconds",
		"step\nfail 429 times=-1 x":           "line 2: times is a number",
		"step\ncut now":                       "line 2: cut takes times=N alone",
		"step\nstall times=x":                 "line 2: times is a number",
		"step\npause a while":                 "line 2: a duration must stand here",
		"step\nstop now":                      "line 2: stop knows length and filter",
		"step\nusage many":                    "line 2: usage knows input",
		"step\nusage input=-1":                "line 2: usage knows input",
		"step\nusage tokens=1":                "line 2: usage knows input",
		"step\n" + strings.Repeat("x", 2<<20): "line 2: ",
	} {
		_, err := scripted.Parse(strings.NewReader(script))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v", script, err)
		}
	}
}

func TestParseModels(t *testing.T) {
	s, err := scripted.Parse(strings.NewReader("model a\r\nmodel b\r\n\r\nstep\r\ntext hi\r\n"))
	if err != nil || !slices.Equal(s.Models(), []string{"a", "b"}) {
		t.Errorf("%v, %v", s, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(walk)
	f.Add("model a\ndelay 1ms\nstep\nfail 429 code=c retry-after=1 times=2 text\nhtml\ncut times=0\nusage none\nrawcall x {")
	f.Fuzz(func(t *testing.T, script string) {
		s, err := scripted.Parse(strings.NewReader(script))
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if s != nil {
			s.Reply(t.Context(), scripted.Request{Attempt: 1, Messages: []scripted.Message{{Role: "user", Text: "thanks"}}})
		}
	})
}
