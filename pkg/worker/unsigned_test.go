package worker

import (
	"testing"

	"podd/pkg/item"
)

// A conversation ends unsigned while it is in a loop of calls whose first step the model
// did not reason about itself, or in which another model reasoned.
func TestEndsUnsigned(t *testing.T) {
	setup := item.Setup{API: "messages", Endpoint: "claude", Model: "m"}
	own := item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "messages", Endpoint: "claude", Model: "m", JSON: "{}"}}
	other := item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "messages", Endpoint: "claude", Model: "n", JSON: "{}"}}
	user, says := item.UserMessage{Text: "go"}, item.AssistantMessage{Text: "done"}
	call, result := item.ToolCall{CallID: "1", Name: "a"}, item.ToolResult{CallID: "1"}
	for name, tc := range map[string]struct {
		items []item.Item
		want  bool
	}{
		"nothing":                       {nil, false},
		"a prompt":                      {[]item.Item{user}, false},
		"own calls":                     {[]item.Item{user, own, call, result}, false},
		"own calls, then one without":   {[]item.Item{user, own, call, result, call, result}, false},
		"calls without reasoning":       {[]item.Item{user, says, call, result}, true},
		"calls of another model":        {[]item.Item{user, other, call, result}, true},
		"of another model in between":   {[]item.Item{user, own, call, result, other, call, result}, true},
		"of another model at first":     {[]item.Item{user, other, call, result, own, call, result}, true},
		"another model's turn that has": {[]item.Item{user, other, call, result, says, user}, false},
		"one that was cut":              {[]item.Item{user, call, result, user}, true},
		"then own ones":                 {[]item.Item{user, call, result, says, user, own, call, result}, false},
	} {
		if got := endsUnsigned(tc.items, setup); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
