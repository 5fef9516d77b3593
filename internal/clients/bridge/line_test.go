package bridge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func TestParse(t *testing.T) {
	tests := []struct {
		line, id, method, says string
	}{
		{`{"id":1,"method":"ListPods"}`, "1", "ListPods", ""},
		{` { "id" : "a b" , "method" : "Submit", "params": {"pod":"p"} } `, `"a b"`, "Submit", ""},
		{`{"id":-1.5e3,"method":"X"}`, "-1.5e3", "X", ""},
		{`{"id":1,"method":"X","params":null}`, "1", "X", ""},
		{`nonsense`, "", "", "it is not valid JSON"},
		{`{"id":1,"method":"X"} {"id":2,"method":"X"}`, "", "", "it is not valid JSON"},
		{`[1]`, "", "", "cannot unmarshal array"},
		{`"x"`, "", "", "cannot unmarshal string"},
		{`{}`, "", "", "it needs an id"},
		{`{"method":"X"}`, "", "", "it needs an id"},
		{`{"id":null,"method":"X"}`, "", "", "it needs an id"},
		{`{"id":{},"method":"X"}`, "", "", "it needs an id"},
		{`{"id":true,"method":"X"}`, "", "", "it needs an id"},
		{`{"id":"` + strings.Repeat("x", 200) + `","method":"X"}`, "", "", "it needs an id"},
		{`{"id":7}`, "7", "", "it has no method"},
		{`{"id":7,"method":""}`, "7", "", "it has no method"},
		{`{"id":7,"method":5}`, "7", "", "cannot unmarshal number"},
		{`{"id":7,"method":"X","parms":{}}`, "7", "X", `unknown field "parms"`},
		{`{"id":7,"method":"ListPods","method":"DeletePod"}`, "7", "", `"method" occurs twice`},
		{`{"id":7,"method":"ListPods","Method":"DeletePod"}`, "7", "", `unknown field "Method"`},
		{`{"id":7,"method":"ListPods","m\u0065thod":"DeletePod"}`, "7", "", `"method" occurs twice`},
		{`{"id":7,"method":"X","params":{"pod":"a"},"params":{"pod":"b"}}`, "7", "", `"params" occurs twice`},
		{`{"id":7,"id":8,"method":"X"}`, "", "", `"id" occurs twice`},
		{`{"ID":7,"method":"X"}`, "", "", `unknown field "ID"`},
		{`{"id":7,"Id":8,"method":"X"}`, "7", "", `unknown field "Id"`},
	}
	for _, tt := range tests {
		r, err := parse([]byte(tt.line))
		if string(r.ID) != tt.id {
			t.Errorf("%s: id %q, want %q", tt.line, r.ID, tt.id)
		}
		if tt.says == "" {
			if err != nil || r.Method != tt.method {
				t.Errorf("%s: method %q, error %v", tt.line, r.Method, err)
			}
			continue
		}
		if item.ReasonOf(err) != "BAD_LINE" || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want one that says %q", tt.line, err, tt.says)
		}
	}
}

// The params of the bridge's own methods are as strict as those of all others.
func TestParamsAreExact(t *testing.T) {
	for params, says := range map[string]string{
		`{"dir":"/a","create":true}`:             "",
		`null`:                                   "",
		`{"dir":"/a","dir":"/b"}`:                `"dir" occurs twice`,
		`{"dir":"/a","Create":true}`:             `unknown field "Create"`,
		`{"dir":"/a","create":false,"CREATE":1}`: `unknown field "CREATE"`,
		`["dir"]`:                                "cannot unmarshal array",
	} {
		var p struct {
			Dir    string `json:"dir"`
			Create bool   `json:"create"`
		}
		err := plainParams(request{Method: "FindPod", Params: json.RawMessage(params)}, &p)
		if says == "" && err != nil || says != "" && (item.ReasonOf(err) != "BAD_PARAMS" || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", params, err, says)
		}
	}
	for _, twice := range []string{`{"pod":"a","pod":"b"}`, `{"Pod":"a"}`} {
		if err := params(request{Method: "DeletePod", Params: json.RawMessage(twice)}, &poddv1.DeletePodRequest{}); item.ReasonOf(err) != "BAD_PARAMS" {
			t.Errorf("%s: %v", twice, err)
		}
	}
}

// Each line arrives whole or as too long, whatever lines are next to it.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for in, want := range map[string]string{
		"":                                 "",
		"a\nb":                             "a|b|",
		"a\n\n \r\nb\n":                    "a|b|",
		strings.Repeat("y", 90_000) + "\n": strings.Repeat("y", 90_000) + "|",
		long + "\nb\n":                     "LONG|b|",
		"a\n" + long:                       "a|LONG|",
		"a\n" + long + "\n" + long + "\nb": "a|LONG|LONG|b|",
	} {
		var got strings.Builder
		err := lines(strings.NewReader(in), 95_000, func(line []byte, err error) bool {
			if err != nil {
				line = []byte("LONG")
			}
			got.WriteString(strings.TrimSpace(string(line)) + "|")
			return true
		})
		if err != nil || got.String() != want {
			t.Errorf("%.20q: got %.60q, %v, want %.60q", in, got.String(), err, want)
		}
	}
}

// Any line is either a request with an id and a method, or one error, whose answer is one
// line of JSON with the id if there is one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"ListPods","params":{}}`, `{"id":"x","method":"Submit"}`, `{"id":1`, `{"ID":1,"Method":"x"}`,
		"{\"id\":\"\xff\",\"method\":\"x\"}", `{"id":"\ud800","method":"\u0000"}`, `{"id":1e999,"method":"x"}`, `null`,
		`{"id":1,"id":2,"method":"x"}`, `{"id":1,"method":"x","params":[[[[`, "{\"id\":\"\u2028\",\"method\":\"a\\nb\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line)
		if err == nil && (r.Method == "" || len(r.ID) == 0) {
			t.Fatalf("%q is a request without %q or %q", line, r.ID, r.Method)
		}
		if err == nil {
			return
		}
		a := answer{ID: r.ID, Error: failureOf(err)}
		if r.ID == nil {
			a.ID = json.RawMessage("null")
		}
		said := lineOf(a)
		if !json.Valid(said) || bytes.Count(said, []byte("\n")) != 1 || said[len(said)-1] != '\n' {
			t.Fatalf("%q is answered by %q", line, said)
		}
	})
}
