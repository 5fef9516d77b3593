package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// clerk is a model of this program, without a network: it calls the stock tool with the
// product of a prompt, and repeats the result.
type clerk struct{}

// body is the request to clerk.
type body struct {
	Prompt string `json:"prompt"`
	// Result is the tool's result; nil before the call.
	Result *string `json:"result,omitempty"`
}

// API names the format of bodies.
func (clerk) API() string { return "clerk" }

// Resolve knows one model.
func (clerk) Resolve(context.Context, string) (string, error) { return "clerk-1", nil }

// Body is the last prompt of the conversation with the result after it.
func (clerk) Body(r llm.Request) ([]byte, error) {
	var b body
	for _, i := range r.Items {
		switch i := i.(type) {
		case item.UserMessage:
			b = body{Prompt: i.Text}
		case item.ToolResult:
			b.Result = &i.Summary
		}
	}
	return json.Marshal(b)
}

// Stream answers a body.
func (clerk) Stream(ctx context.Context, parts ...[]byte) iter.Seq2[llm.Event, error] {
	request := bytes.Join(parts, nil)
	return func(yield func(llm.Event, error) bool) {
		events, err := reply(request)
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			yield(nil, err)
			return
		}
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// reply is a call of the tool, or an answer once the result is there.
func reply(request []byte) ([]llm.Event, error) {
	var b body
	if err := json.Unmarshal(request, &b); err != nil {
		return nil, &llm.Error{Class: llm.ClassInvalid, Message: err.Error()}
	}
	start, text := llm.BlockStart{Kind: llm.BlockText}, ""
	switch {
	case b.Result != nil:
		text = *b.Result
	case product(b.Prompt) == "":
		text = "Ask me how many apples, pears or diamonds there are."
	default:
		start = llm.BlockStart{Kind: llm.BlockToolCall, CallID: "call", Name: "stock"}
		text = fmt.Sprintf(`{"product":%q}`, product(b.Prompt))
	}
	return []llm.Event{start, llm.BlockDelta{Text: text}, llm.BlockEnd{}, llm.End{Stop: llm.StopDone}}, nil
}

// product is the first product in a prompt; empty without one.
func product(prompt string) string {
	for _, word := range strings.Fields(strings.ToLower(prompt)) {
		switch word = strings.Trim(word, ".,?!"); word {
		case "apples", "pears", "diamonds":
			return word
		}
	}
	return ""
}
