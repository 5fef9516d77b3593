package pod_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// plain is a model without HTTP, for tests whose subject is not how it is asked. The body of a request is its conversation, as
// JSON in the form of a scripted model.
type plain struct {
	// answer is the answer to a conversation: what it says, and why it has no end.
	answer func(ctx context.Context, messages []scripted.Message) ([]scripted.Part, error)
}

var _ llm.Model = plain{}

// API is one that nothing else has.
func (plain) API() string { return "plain" }

// Resolve knows every model.
func (plain) Resolve(_ context.Context, name string) (string, error) { return name, nil }

// Body has a message for each answer of the model, and for what users and podd say between two.
func (plain) Body(r llm.Request) ([]byte, error) {
	var all []scripted.Message
	last := func(role string) *scripted.Message {
		if n := len(all); n == 0 || all[n-1].Role != role || role == "tool" {
			all = append(all, scripted.Message{Role: role})
		}
		return &all[len(all)-1]
	}
	for _, it := range r.Items {
		switch v := it.(type) {
		case item.UserMessage:
			m := last("user")
			m.Text += v.Text
		case item.SystemMessage:
			m := last("user")
			m.Text += "\n" + v.Text
		case item.AssistantMessage:
			last("assistant").Text += v.Text
		case item.ToolCall:
			m := last("assistant")
			m.Calls = append(m.Calls, scripted.Call{ID: v.CallID})
		case item.ToolResult:
			*last("tool") = scripted.Message{Role: "tool", CallID: v.CallID, Text: v.Output.Content}
		}
	}
	return json.Marshal(all)
}

// Stream answers at once.
func (p plain) Stream(ctx context.Context, body ...[]byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		whole := slices.Concat(body...)
		var messages []scripted.Message
		if err := json.Unmarshal(whole, &messages); err != nil {
			yield(nil, err)
			return
		}
		parts, err := p.answer(ctx, messages)
		for _, event := range events(whole, parts) {
			if !yield(event, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		yield(llm.End{Stop: llm.StopDone, Measured: true, Model: "m", Usage: item.Usage{Input: int64(len(whole)), Output: 1}}, nil)
	}
}

// events are the blocks of an answer to a body, which names its calls.
func events(body []byte, parts []scripted.Part) (all []llm.Event) {
	sum := fnv.New64a()
	_, _ = sum.Write(body)
	for i, p := range parts {
		switch v := p.(type) {
		case scripted.Text:
			all = append(all, llm.BlockStart{Block: i, Kind: llm.BlockText})
			for _, word := range strings.SplitAfter(string(v), " ") {
				all = append(all, llm.BlockDelta{Block: i, Text: word})
			}
		case scripted.Call:
			all = append(all, llm.BlockStart{Block: i, Kind: llm.BlockToolCall, CallID: fmt.Sprintf("call_%x_%d", sum.Sum(nil), i), Name: v.Name},
				llm.BlockDelta{Block: i, Text: v.Arguments})
		default:
			continue
		}
		all = append(all, llm.BlockEnd{Block: i})
	}
	return all
}
