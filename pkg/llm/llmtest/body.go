package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// testHostileItems sends what models, tools and files may hold. The endpoint
// refuses a body that is not well formed.
func testHostileItems(t *testing.T, open Open) {
	bad := "\xff\xfe invalid \x00 nul \x1b[2J \u2028 \" \\ </script> 😀"
	items := []item.Item{
		item.UserMessage{Text: bad},
		item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a\nb]\n" + bad},
		item.SystemMessage{Origin: item.OriginNote, Text: bad},
		item.Reasoning{Text: bad, Opaque: item.Opaque{API: "chat", JSON: "{broken"}},
		item.Reasoning{Opaque: item.Opaque{API: "responses", JSON: "null"}},
		item.AssistantMessage{Text: bad},
	}
	for i, args := range []string{"", "{", "null", `"text"`, "[1]", `{"a":1}{"b":2}`, bad, `{"ok":true}`} {
		items = append(items, item.ToolCall{CallID: fmt.Sprint("call_", i), Name: []string{"", bad, "shell", "a b"}[i%4], Arguments: args})
	}
	for i := range 8 {
		items = append(items, item.ToolResult{CallID: fmt.Sprint("call_", i), Output: item.Output{Summary: bad, Content: bad}})
	}
	ep := open(t, Answer{Text: "fine"})
	r, err := ask(t, ep.Model, request(items...))
	if err != nil || r.Text() != "fine" {
		t.Fatalf("%+v, %v", r, err)
	}
	if body := ep.Requests()[0]; !utf8.Valid(body) || !json.Valid(body) {
		t.Error("the body is not valid UTF-8 and JSON")
	}
}

// testPrefix holds the two rules of bodies. The same request gives the same bytes.
// And a request that ends where a model answers is, up to what closes it, the
// beginning of each request that goes on from it: that is what a prompt cache pays
// for.
func testPrefix(t *testing.T, open Open) {
	m := open(t).Model
	rapid.Check(t, func(t *rapid.T) {
		setup := drawSetup(t)
		items := drawConversation(t)
		whole := mustBody(t, m, setup, items)
		if again := mustBody(t, m, setup, items); !bytes.Equal(whole, again) {
			t.Fatalf("two bodies for one request:\n%s\n%s", whole, again)
		}
		if !json.Valid(whole) || !utf8.Valid(whole) {
			t.Fatalf("the body is not valid UTF-8 and JSON: %q", whole)
		}
		for n := range items {
			if !answered(items[n]) {
				continue
			}
			part := mustBody(t, m, setup, items[:n+1])
			open := bytes.TrimRight(part, `"}]`)
			if !bytes.HasPrefix(whole, open) {
				t.Fatalf("the body of %d items is not the beginning of the body of %d:\n%s\n%s", n+1, len(items), part, whole)
			}
		}
	})
}

// answered says whether a model may be asked after an item.
func answered(it item.Item) bool {
	switch it.(type) {
	case item.AssistantMessage, item.Reasoning, item.ToolCall:
		return false
	}
	return true
}

func mustBody(t *rapid.T, m llm.Model, setup item.Setup, items []item.Item) []byte {
	body, err := m.Body(llm.Request{Setup: setup, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func drawSetup(t *rapid.T) item.Setup {
	s := item.Setup{
		Model:               rapid.SampledFrom([]string{"gpt-6.1-sol", "gpt-4.1", "devstral", "llama"}).Draw(t, "model"),
		Instructions:        rapid.String().Draw(t, "instructions"),
		ProjectInstructions: rapid.String().Draw(t, "project"),
		FileRefRole:         rapid.SampledFrom([]string{"", "system"}).Draw(t, "role"),
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		s.Tools = append(s.Tools, item.ToolSpec{Name: fmt.Sprint("tool_", i), Description: rapid.String().Draw(t, "description"), Schema: `{"type":"object"}`})
	}
	return s
}

// drawConversation draws turns: the user's side, then steps of the model, each call
// with its result.
func drawConversation(t *rapid.T) []item.Item {
	var items []item.Item
	text := func(what string) string { return rapid.String().Draw(t, what) }
	calls := 0
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		items = append(items, item.UserMessage{Text: text("user")})
		for range rapid.IntRange(0, 2).Draw(t, "files") {
			origin := rapid.SampledFrom([]string{item.OriginFileRef, item.OriginNote, item.OriginInterceptor}).Draw(t, "origin")
			items = append(items, item.SystemMessage{Origin: origin, Text: "[File: a.go]\n" + text("file")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			items = append(items, drawReasoning(t)...)
			if rapid.Bool().Draw(t, "speaks") {
				items = append(items, item.AssistantMessage{Text: text("says")})
			}
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			for i := range n {
				items = append(items, item.ToolCall{CallID: fmt.Sprint("c", calls+i), Name: "tool_0", Arguments: text("arguments")})
			}
			for i := range n {
				items = append(items, item.ToolResult{CallID: fmt.Sprint("c", calls+i), Output: item.Output{Summary: text("summary"), Content: text("content")}})
			}
			calls += n
			if n == 0 {
				break
			}
		}
	}
	return items
}

func drawReasoning(t *rapid.T) []item.Item {
	return rapid.SampledFrom([][]item.Item{
		nil,
		{item.Reasoning{Text: "hm"}},
		{item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "chat", JSON: `{"reasoning_content":"hm"}`}}},
		{item.Reasoning{Opaque: item.Opaque{API: "responses", JSON: `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`}}},
	}).Draw(t, "reasoning")
}
