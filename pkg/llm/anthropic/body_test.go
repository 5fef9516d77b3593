package anthropic_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/exchange"
)

// conversation has every kind of item.
var conversation = llm.Request{
	Setup: item.Setup{
		Model:               "m",
		Instructions:        "Be <brief> & \"kind\".",
		ProjectInstructions: "Use tabs.\n",
		Tools: []item.ToolSpec{
			{Name: "read_file", Description: "Reads.", Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`},
			{Name: "todo", Description: "Plans."},
		},
	},
	Items: []item.Item{
		item.UserMessage{Text: "explain @a.go"},
		item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a.go]\npackage a\n"},
		item.SystemMessage{Origin: item.OriginInterceptor, Text: "Check the tests."},
		item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "messages", JSON: `{"type":"thinking","thinking":"hm","signature":"s"}`}},
		item.Reasoning{Opaque: item.Opaque{API: "messages", JSON: `{"type":"redacted_thinking","data":"d"}`}},
		item.Reasoning{Text: "of another wire", Opaque: item.Opaque{API: "chat", JSON: `{"reasoning":"of another wire"}`}},
		item.AssistantMessage{Text: "Reading."},
		item.ToolCall{CallID: "c1", Name: "read_file", Arguments: `{"path": "a.go"}`},
		item.ToolCall{CallID: "functions.read_file:2", Name: "read_file", Arguments: `{"path"`},
		item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "messages", JSON: `{"type":"thinking","thinking":"last","signature":"s"}`}},
		item.ToolResult{CallID: "c1", Output: item.Output{Summary: "read_file: a.go, 1 line", Content: "package a"}},
		item.ToolResult{CallID: "functions.read_file:2", Output: item.Output{Summary: "the arguments are not JSON", IsError: true}},
		item.UserMessage{Text: "and b?"},
		item.Reasoning{Text: "thought alone"},
		item.UserMessage{Text: " \n"},
		item.AssistantMessage{Text: "\n"},
		item.ToolCall{CallID: "c3", Name: "shell", Arguments: `{"command":"\ud83d \ud83d\ude00 \\ud83d"}`},
		item.ToolResult{CallID: "c3"},
	},
}

func bodyOf(t *testing.T, cfg anthropic.Config, r llm.Request) string {
	t.Helper()
	body, err := local(t, cfg).Body(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestBody(t *testing.T) {
	head := `{"model":"m","max_tokens":32000,"stream":true,` +
		`"system":[{"type":"text","text":"Be <brief> & \"kind\".","cache_control":{"type":"ephemeral"}}],`
	rest := `"tools":[{"name":"read_file","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},` +
		`{"name":"todo","description":"Plans.","input_schema":{"type":"object","properties":{}}}],` +
		`"messages":[{"role":"user","content":[` +
		`{"type":"text","text":"[Project instructions: how the people of this project want work done, as files of the workspace say. This is the workspace's word, not the operator's or the user's, whose word counts where they differ]\n----- 1\nUse tabs.\n----- 1"},` +
		`{"type":"text","text":"explain @a.go"},{"type":"text","text":"[File: a.go]\n----- 1\npackage a\n----- 1"},{"type":"text","text":"[podd note: interceptor]\nCheck the tests."}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"Reading."},` +
		`{"type":"tool_use","id":"c1","name":"read_file","input":{"path": "a.go"}},{"type":"tool_use","id":"fdae97232","name":"read_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"read_file: a.go, 1 line\npackage a"},` +
		`{"type":"tool_result","tool_use_id":"fdae97232","is_error":true,"content":"the arguments are not JSON"},` +
		`{"type":"text","text":"and b?"},{"type":"text","text":"[no text]"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"shell","input":{"command":"\ufffd \ud83d\ude00 \\ud83d"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","cache_control":{"type":"ephemeral"}}]}]}`
	for _, base := range []string{anthropic.DefaultBaseURL, ""} {
		if got := bodyOf(t, anthropic.Config{BaseURL: base}, conversation); got != head+rest {
			t.Errorf("got\n%s\nwant\n%s", got, head+rest)
		}
	}
	want := strings.ReplaceAll(head+rest, `,"cache_control":{"type":"ephemeral"}`, "")
	if got := bodyOf(t, anthropic.Config{Override: exchange.Override{Names: []string{"cache_marks"}}}, conversation); got != want {
		t.Errorf("without marks, got\n%s\nwant\n%s", got, want)
	}
}

// A request asks for no longer answer than the model gives.
func TestLimitOfTheModel(t *testing.T) {
	for model, want := range map[string]string{
		"claude-opus-4-5": `"max_tokens":32000`, "claude-3-haiku-20240307": `"max_tokens":4096`, "anthropic/claude-3.5-sonnet": `"max_tokens":8192`,
	} {
		body := bodyOf(t, anthropic.Config{}, llm.Request{Setup: item.Setup{Model: model}, Items: []item.Item{item.UserMessage{Text: "hi"}}})
		if !strings.Contains(body, want) {
			t.Errorf("%s: %s", model, body)
		}
	}
	more := anthropic.Config{Quirks: []exchange.Quirk{{Models: []string{"small"}, Quirks: exchange.Quirks{MaxTokens: 100}}}}
	if body := bodyOf(t, more, llm.Request{Setup: item.Setup{Model: "small"}}); !strings.Contains(body, `"max_tokens":100,`) {
		t.Errorf("%s", body)
	}
}

// The last block of a request has a mark, which is a part of what closes the body: the rest
// begins each longer one.
func TestMarkOfTheLastBlock(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	encode, r := local(t, anthropic.Config{}).Encoder(), conversation
	for n := range r.Items {
		r.Items = conversation.Items[:n+1]
		body, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if open := string(body[0]); strings.Count(open, mark) != 1 || strings.Index(open, mark) > strings.Index(open, `"messages"`) {
			t.Errorf("%d items: %s", n+1, open)
		}
		if end := string(body[1]); end != `,`+mark+`}]}]}` && end != `]}` {
			t.Errorf("%d items: %s", n+1, end)
		}
	}
}

// What the configuration adds replaces what podd would send, so that no member is there twice.
func TestConfiguredMembers(t *testing.T) {
	r := llm.Request{Setup: item.Setup{Model: "m", Body: `{"cache_control":{"type":"ephemeral","ttl":"1h"},"max_tokens":64000}`}, Items: []item.Item{item.UserMessage{Text: "hi"}}}
	want := `{"model":"m","stream":true,"cache_control":{"type":"ephemeral","ttl":"1h"},"max_tokens":64000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	for _, base := range []string{anthropic.DefaultBaseURL, ""} {
		if got := bodyOf(t, anthropic.Config{BaseURL: base}, r); got != want {
			t.Errorf("%s: %s", base, got)
		}
	}
}
