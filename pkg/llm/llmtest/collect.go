package llmtest

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Result is a stream read to its end.
type Result struct {
	// Items are the blocks in the order of their starts.
	Items []item.Item
	// End is the last event; Whole says whether it came.
	End   llm.End
	Whole bool
}

// Text is the text of the assistant's messages.
func (r Result) Text() string {
	var b strings.Builder
	for _, it := range r.Items {
		if m, ok := it.(item.AssistantMessage); ok {
			b.WriteString(m.Text)
		}
	}
	return b.String()
}

// Reasoning is the text of the reasoning.
func (r Result) Reasoning() string {
	var b strings.Builder
	for _, it := range r.Items {
		if m, ok := it.(item.Reasoning); ok {
			b.WriteString(m.Text)
		}
	}
	return b.String()
}

// Calls are the tool calls.
func (r Result) Calls() []item.ToolCall {
	var calls []item.ToolCall
	for _, it := range r.Items {
		if c, ok := it.(item.ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// block is one block as it grows.
type block struct {
	llm.BlockStart
	text   strings.Builder
	opaque item.Opaque
	ended  bool
}

// Collect reads a stream the way the worker does. The error is the stream's own, or says
// which rule of llm.Event the stream broke; the result has everything before it.
func Collect(stream iter.Seq2[llm.Event, error]) (Result, error) {
	var blocks []*block
	var r Result
	var failed error
	for ev, err := range stream {
		switch {
		case failed != nil:
			failed = errors.Join(failed, fmt.Errorf("the stream went on after its error with %#v", ev), err)
		case err != nil:
			failed = err
		case r.Whole:
			failed = fmt.Errorf("the stream went on after its end with %#v", ev)
		default:
			blocks, failed = apply(blocks, ev, &r)
		}
	}
	for _, b := range blocks {
		r.Items = append(r.Items, b.item())
	}
	return r, failed
}

// apply adds one event to the result.
func apply(blocks []*block, ev llm.Event, r *Result) ([]*block, error) {
	at := func(n int) (*block, error) {
		if n < 0 || n >= len(blocks) || blocks[n].ended {
			return nil, fmt.Errorf("%#v is about a block that is not open", ev)
		}
		return blocks[n], nil
	}
	switch v := ev.(type) {
	case llm.BlockStart:
		if v.Block != len(blocks) {
			return blocks, fmt.Errorf("%#v starts where block %d is next", v, len(blocks))
		}
		return append(blocks, &block{BlockStart: v}), nil
	case llm.BlockDelta:
		b, err := at(v.Block)
		if err == nil {
			b.text.WriteString(v.Text)
		}
		return blocks, err
	case llm.BlockEnd:
		b, err := at(v.Block)
		if err == nil {
			b.ended, b.opaque = true, v.Opaque
			if v.Text != "" {
				b.text.Reset()
				b.text.WriteString(v.Text)
			}
		}
		return blocks, err
	case llm.End:
		r.End, r.Whole = v, true
		return blocks, nil
	}
	return blocks, fmt.Errorf("%T is not a kind of event", ev)
}

func (b *block) item() item.Item {
	switch b.Kind {
	case llm.BlockToolCall:
		return item.ToolCall{CallID: b.CallID, Name: b.Name, Arguments: b.text.String(), Opaque: b.opaque}
	case llm.BlockReasoning:
		return item.Reasoning{Text: b.text.String(), Opaque: b.opaque}
	}
	return item.AssistantMessage{Text: b.text.String(), Opaque: b.opaque}
}
