package acp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/wire"
)

var asked = &item.Form{Questions: []item.FormQuestion{
	{Header: "Database", Text: "Which\x1b?", Options: []item.FormOption{{Label: "SQLite", Description: "one \u202efile"}, {Label: "Postgres"}}},
	{Text: "Where?", Options: []item.FormOption{{Label: "dev"}, {Label: "staging"}}, Multiple: true},
	{Text: "When?"},
}}

// An elicitation has a field for each question, and one for the person's own words; nothing in it hides.
func TestSchema(t *testing.T) {
	text, err := json.Marshal(schemaOf(asked))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{` +
		`"answer1":{"oneOf":[{"const":"1","title":"SQLite: one \\u202efile"},{"const":"2","title":"Postgres"}],"title":"Database: Which\\x1b?","type":"string"},` +
		`"answer2":{"items":{"anyOf":[{"const":"1","title":"dev"},{"const":"2","title":"staging"}]},"title":"Where?","type":"array"},` +
		`"own1":{"title":"In your own words","type":"string"},"own2":{"title":"In your own words","type":"string"},"own3":{"title":"When?","type":"string"}},` +
		`"required":["own3"],"type":"object"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestElicitedReplies(t *testing.T) {
	for content, want := range map[string][]item.FormReply{
		`{"answer1":"2","answer2":["1","2"],"own3":" noon "}`: {{Choices: []int{2}}, {Choices: []int{1, 2}}, {Text: "noon"}},
		`{"own1":"neither","answer2":[]}`:                     {{Text: "neither"}, {}, {}},
		`{"answer1":7,"answer2":"x","own3":null}`:             {{}, {}, {}},
	} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(content), &got); err != nil {
			t.Fatal(err)
		}
		if replies := repliesOf(asked, got); !reflect.DeepEqual(replies, want) {
			t.Errorf("%s: got %+v", content, replies)
		}
	}
}

// A prompt answers with numbers or texts, a line for each question.
func TestTypedAnswer(t *testing.T) {
	one := &item.Form{Questions: asked.Questions[:1]}
	for _, c := range []struct {
		form    *item.Form
		text    string
		want    []item.FormReply
		dismiss bool
		err     string
	}{
		{form: one, text: "2\n", want: []item.FormReply{{Choices: []int{2}}}},
		{form: one, text: "neither,\nsay I", want: []item.FormReply{{Text: "neither,\nsay I"}}},
		{form: one, text: " D ", dismiss: true},
		{form: asked, text: "1\n1, 2\nat noon", want: []item.FormReply{{Choices: []int{1}}, {Choices: []int{1, 2}}, {Text: "at noon"}}},
		{form: asked, text: "1", err: "write a line for each"},
		{form: &item.Form{Text: "Open?"}, text: "go on", err: "waits for yes"},
		{form: &item.Form{Text: "Open?"}, text: "Yes"},
	} {
		got, err := typedAnswer(c.form, c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: got %v", c.text, err)
			}
			continue
		}
		if err != nil || got.GetDismiss() != c.dismiss || got.GetApprove() == c.dismiss || !reflect.DeepEqual(wire.RepliesFromProto(got.GetReplies()), c.want) {
			t.Errorf("%q: got %+v, %v", c.text, got, err)
		}
	}
}
