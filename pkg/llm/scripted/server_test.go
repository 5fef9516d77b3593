package scripted_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// post sends a raw body.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestRefusedRequests: the server refuses what the real endpoints refuse.
func TestRefusedRequests(t *testing.T) {
	srv, _ := follow(t, "model scripted\notherwise\ntext ok\n", "chat")
	call := `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"b","function":{"name":"x","arguments":"{}"}}]}`
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"r"}` }
	user := `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	for name, tc := range map[string]struct {
		messages string
		status   int
		says     string
	}{
		"well formed":        {user + "," + call + "," + result("b") + "," + result("a"), 200, "ok"},
		"a result is late":   {user + "," + call + "," + result("a") + "," + user, 400, "missing: b"},
		"a result is absent": {user + "," + call, 400, "missing: a, b"},
		"two results":        {user + "," + call + "," + result("a") + "," + result("b") + "," + result("b"), 400, "answers no call"},
		"a lonely result":    {user + "," + result("a"), 400, "answers no call"},
		"an id twice":        {strings.ReplaceAll(call, `"b"`, `"a"`), 400, "used twice"},
		"strange content":    {`{"role":"user","content":7}`, 400, "content is neither"},
	} {
		status, text := post(t, srv.URL()+"/chat/completions", `{"model":"scripted","stream":true,"messages":[`+tc.messages+`]}`)
		if status != tc.status || !strings.Contains(text, tc.says) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for body, says := range map[string]string{
		`{"model":"scripted","messages":[]}`:            "set stream to true",
		`{"stream":true,"messages":[]}`:                 "model parameter",
		`{"model":"scripted","stream":true`:             "cannot be read",
		`{"model":"other","stream":true,"messages":[]}`: "does not exist",
	} {
		if status, text := post(t, srv.URL()+"/chat/completions", body); status < 400 || !strings.Contains(text, says) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if status, _ := post(t, srv.URL()+"/completions", "{}"); status != http.StatusNotFound {
		t.Errorf("an unknown path: %d", status)
	}
}

func TestExpectations(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		for line, says := range map[string]string{
			`expect user "fix"`:    `line 2 of the script expects user to hold "fix"; it is "look"`,
			`expect system "loud"`: `it is "be brief"`,
			`expect tool "x"`:      `line 2 of the script expects tool`,
			`expect body "\u0001"`: `line 2 of the script expects body`,
		} {
			_, c := follow(t, "step\n"+line+"\ntext ok\n", api)
			_, err := ask(t.Context(), c, item.UserMessage{Text: "look"})
			// The client cuts a long message at its end, not at its beginning.
			if llm.ClassOf(err) != llm.ClassInvalid || !strings.Contains(err.Error(), strings.SplitN(says, ";", 2)[0]) {
				t.Errorf("%s: %v", line, err)
			}
		}
	})
}

func TestNoStepIsLeft(t *testing.T) {
	_, c := follow(t, "step\ntext one\n", "chat")
	_, err := ask(t.Context(), c, item.UserMessage{Text: "a"}, item.AssistantMessage{Text: "one"}, item.UserMessage{Text: "b"})
	if llm.ClassOf(err) != llm.ClassInvalid || !strings.Contains(err.Error(), "no step 2") {
		t.Error(err)
	}
}

func TestKeyAndModels(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		_, c := start(t, scripted.Config{Key: "k", Models: []string{"scripted"}, Handler: func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Text("ok"))
		}}, api)
		if a, err := ask(t.Context(), c, item.UserMessage{Text: "x"}); err != nil || a.text() != "ok" {
			t.Errorf("with the key: %v, %v", a, err)
		}
		if got, err := c.Resolve(t.Context(), ""); got != "scripted" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	srv, _ := start(t, scripted.Config{Key: "k", Handler: func(context.Context, scripted.Request) scripted.Reply { return scripted.Reply{} }}, "chat")
	if status, text := post(t, srv.URL()+"/responses", "{}"); status != 401 || !strings.Contains(text, "invalid_api_key") {
		t.Errorf("without a key: %d %s", status, text)
	}
}

// TestHandler sees the request in one form for both APIs, and controls when the answer
// continues.
func TestHandler(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		gate := make(chan struct{})
		got := make(chan scripted.Request, 1)
		_, c := start(t, scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
			got <- r
			return scripted.Say(scripted.Text("before "), scripted.Wait(gate), scripted.Call{Name: "x", Arguments: `{}`, ID: "mine"})
		}}, api)
		body, err := c.Body(llm.Request{
			Setup: item.Setup{Model: "m", Instructions: "be", Tools: []item.ToolSpec{{Name: "t"}}},
			Items: []item.Item{
				item.UserMessage{Text: "one"},
				item.AssistantMessage{Text: "hm"},
				item.ToolCall{CallID: "1", Name: "t", Arguments: `{"a":1}`},
				item.ToolResult{CallID: "1", Output: item.Output{Summary: "done"}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		opened := false
		for ev, err := range c.Stream(t.Context(), body) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := ev.(llm.BlockDelta); ok && d.Text == "before " && !opened {
				opened = true
				close(gate)
			}
			if s, ok := ev.(llm.BlockStart); ok && s.Kind == llm.BlockToolCall && (s.CallID != "mine" || !opened) {
				t.Errorf("%+v, opened %v", s, opened)
			}
		}
		r := <-got
		if r.API != api || r.Model != "m" || r.Instructions != "be" || len(r.Tools) != 1 || r.Tools[0] != "t" || r.Steps() != 1 || r.LastUser() != "one" || r.Attempt != 1 {
			t.Errorf("%+v", r)
		}
		if len(r.Messages) != 3 || r.Messages[1].Text != "hm" || r.Messages[1].Calls[0] != (scripted.Call{ID: "1", Name: "t", Arguments: `{"a":1}`}) {
			t.Errorf("%+v", r.Messages)
		}
		if res := r.Results(); len(res) != 1 || res[0].Text != "done" || res[0].CallID != "1" {
			t.Errorf("%+v", res)
		}
	})
}

// TestReasoningComesBack: what the server sent encrypted, or under its own name, is in
// the next request.
func TestReasoningComesBack(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		srv, c := follow(t, "step\nreasoning deep thought\ncall x\notherwise\ntext done", api)
		a, err := ask(t.Context(), c, item.UserMessage{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		items := append([]item.Item{item.UserMessage{Text: "go"}}, a.items...)
		items = append(items, item.ToolResult{CallID: a.items[len(a.items)-1].(item.ToolCall).CallID})
		if _, err := ask(t.Context(), c, items...); err != nil {
			t.Fatal(err)
		}
		if body := srv.Requests()[1]; !bytes.Contains(body, []byte("deep thought")) || api == "responses" && !bytes.Contains(body, []byte(`"encrypted_content":"scripted-scripted-rs_`)) {
			t.Errorf("%s", body)
		}
	})
}

func TestUsageIsEstimated(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		srv, c := follow(t, "otherwise\ntext "+strings.Repeat("word ", 40), api)
		first := item.UserMessage{Text: strings.Repeat("long ", 500)}
		a, err := ask(t.Context(), c, first)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ask(t.Context(), c, first, item.AssistantMessage{Text: a.text()}, item.UserMessage{Text: "more"})
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(srv.Requests()[1]))
		if a.end.Usage.CachedInput != 0 || b.end.Usage.Input != (size+3)/4 || b.end.Usage.CachedInput < 600 || b.end.Usage.Output != 50 {
			t.Errorf("%+v, then %+v", a.end.Usage, b.end.Usage)
		}
	})
}

// TestCloseEndsAnswers: Close does not wait for a waiting client.
func TestCloseEndsAnswers(t *testing.T) {
	s, err := scripted.Parse(strings.NewReader("step\ntext wait\nstall\n"))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := scripted.Serve(scripted.Config{Script: s})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the body ended in good order")
	}
}

func TestServeRefusals(t *testing.T) {
	if _, err := scripted.Serve(scripted.Config{}); err == nil {
		t.Error("a server without answers")
	}
	srv, _ := follow(t, "step\ntext a\n", "chat")
	addr := strings.TrimSuffix(strings.TrimPrefix(srv.URL(), "http://"), "/v1")
	s, _ := scripted.Parse(strings.NewReader("step\n"))
	if _, err := scripted.Serve(scripted.Config{Script: s, Addr: addr}); err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("a second server: %v", err)
	}
}

// TestEventsAreJSON: every message is one line of JSON, whatever the script says.
func TestEventsAreJSON(t *testing.T) {
	for _, path := range []string{"/chat/completions", "/responses"} {
		srv, _ := start(t, scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Say(scripted.Reasoning("a\nb \"c\""), scripted.Text("\r\n<&>\x00 ✓"), scripted.Call{Name: "x", Arguments: "{broken ✓"})
		}}, "chat")
		status, text := post(t, srv.URL()+path, `{"model":"m","stream":true,"messages":[],"input":[]}`)
		if status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		messages := 0
		for line := range strings.Lines(text) {
			if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && data != "[DONE]" {
				messages++
				if !json.Valid([]byte(data)) {
					t.Errorf("%s: %q", path, data)
				}
			}
		}
		if messages < 5 {
			t.Errorf("%d messages: %s", messages, text)
		}
	}
}
