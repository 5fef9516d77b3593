package crash

import (
	"errors"
	"strings"
	"testing"
)

func knowsCalls(id, tool, arguments string) error {
	if strings.HasPrefix(id, "c") && tool == "shell" && arguments == "{}" {
		return nil
	}
	return errors.New("that call was never made")
}

// The check accepts a well-formed request and finds each fault.
func TestCheckRequest(t *testing.T) {
	const (
		user   = `{"role":"user","content":"go"}`
		calls  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"shell","arguments":"{}"}},{"id":"c2","function":{"name":"shell","arguments":"{}"}}]}`
		first  = `{"role":"tool","tool_call_id":"c1","content":"a"}`
		second = `{"role":"tool","tool_call_id":"c2","content":"b"}`
		said   = `{"role":"assistant","content":"done"}`
		call1  = `{"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"}`
		call2  = `{"type":"function_call","call_id":"c2","name":"shell","arguments":"{}"}`
		out1   = `{"type":"function_call_output","call_id":"c1","output":"a"}`
		out2   = `{"type":"function_call_output","call_id":"c2","output":"b"}`
		asks   = `{"role":"user","content":[{"type":"text","text":"go"}]}`
		uses   = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"shell","input":{}},{"type":"tool_use","id":"c2","name":"shell","input":{}}]}`
		res1   = `{"type":"tool_result","tool_use_id":"c1","content":"a"}`
		res2   = `{"type":"tool_result","tool_use_id":"c2","content":"b"}`
	)
	for _, c := range []struct {
		name, api, want string
		parts           []string
	}{
		{"a prompt", "chat", "", []string{user}},
		{"calls and results", "chat", "", []string{user, calls, first, second}},
		{"results in another order", "chat", "", []string{user, calls, second, first, said, user}},
		{"nothing", "chat", "is empty", nil},
		{"a result is missing", "chat", "have no result", []string{user, calls, first}},
		{"a result comes late", "chat", "user speaks while 1 calls", []string{user, calls, first, user, second}},
		{"a result twice", "chat", "waits for none", []string{user, calls, first, first, second}},
		{"a result of nothing", "chat", "waits for none", []string{user, first}},
		{"an id twice", "chat", "used twice", []string{user, calls, first, second, calls, first, second}},
		{"an unknown call", "chat", "never made", []string{user, strings.ReplaceAll(calls, "{}", "[]"), first, second}},
		{"the last word", "chat", "the last word", []string{user, said}},
		{"no role", "chat", "no role", []string{`{"role":"tools","content":"x"}`}},
		{"an empty answer", "chat", "says nothing", []string{user, `{"role":"assistant","content":""}`, user}},
		{"calls and results", "responses", "", []string{user, call1, call2, out1, out2}},
		{"text and a call", "responses", "", []string{user, said, call1, out1}},
		{"a result is missing", "responses", "have no result", []string{user, call1, call2, out1}},
		{"a result comes late", "responses", "user speaks", []string{user, call1, user, out1}},
		{"an id twice", "responses", "used twice", []string{user, call1, out1, call1, out1}},
		{"calls and results", "messages", "", []string{asks, uses, `{"role":"user","content":[` + res2 + "," + res1 + `,{"type":"text","text":"go"}]}`}},
		{"a result is missing", "messages", "have no result", []string{asks, uses, `{"role":"user","content":[` + res2 + `]}`}},
		{"a result comes late", "messages", "user speaks", []string{asks, uses, asks, `{"role":"user","content":[` + res2 + "," + res1 + `]}`}},
		{"an empty answer", "messages", "says nothing", []string{asks, `{"role":"assistant","content":[]}`, asks}},
		{"the last word", "messages", "the last word", []string{asks, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`}},
	} {
		t.Run(c.api+" "+c.name, func(t *testing.T) {
			member := map[string]string{"chat": "messages", "responses": "input", "messages": "messages"}[c.api]
			err := checkRequest(c.api, []byte(`{"`+member+`":[`+strings.Join(c.parts, ",")+`]}`), knowsCalls)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
