package openai

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// settle gives the answer the form of the message that ends it. What the deltas had already
// stays: some messages are only their end.
func (d *chatDecoder) settle(dst []llm.Event) []llm.Event {
	whole := chatDecoder{endpoint: d.endpoint}
	whole.addMessage(nil, d.message.Raw)
	if r := &whole.reasoning; r.open {
		dst = d.reasoning.settle(dst, &d.blocks, r)
	}
	if text, said := whole.said.String(), d.said.String(); !strings.Contains(said, text) {
		if tail, ok := strings.CutPrefix(text, said); ok {
			dst = d.addText(dst, gjson.Result{Type: gjson.String, Str: tail})
		} else {
			d.final = text
		}
	}
	for i, call := range whole.calls.calls {
		d.calls.settle(i, call)
	}
	return dst
}

// settle replaces the reasoning by its final form. The streamed signatures cover the streamed form.
func (r *reasoningBlock) settle(dst []llm.Event, blocks *int, whole *reasoningBlock) []llm.Event {
	dst = r.start(dst, blocks)
	if text := whole.text.String(); !strings.Contains(r.text.String(), text) {
		r.text.Reset()
		r.text.WriteString(text)
		r.final, r.field = text, whole.field
	}
	if len(r.details) == 0 {
		r.details = whole.details
	}
	if len(r.thinking) == 0 {
		r.thinking = whole.thinking
	}
	r.sealed = cmp.Or(r.sealed, whole.sealed)
	return dst
}

// settle adds the final form of the n-th call of an answer.
func (c *chatCalls) settle(n int, whole *chatCall) {
	call := c.same(n, whole)
	if call == nil {
		whole.started = false
		c.calls = append(c.calls, whole)
		return
	}
	if args := whole.args.String(); !exchange.IsEmpty(args) {
		call.final = args
	}
	call.name = cmp.Or(call.name, whole.name)
	call.extra = cmp.Or(call.extra, whole.extra)
}

// same is the call with the id of a final one, or at its place; nil for a new one.
func (c *chatCalls) same(n int, whole *chatCall) *chatCall {
	fits := func(call *chatCall) bool { return call.name == "" || whole.name == "" || call.name == whole.name }
	for _, call := range c.calls {
		if whole.id != "" && call.id == whole.id && fits(call) {
			return call
		}
	}
	if n < len(c.calls) && fits(c.calls[n]) {
		return c.calls[n]
	}
	return nil
}
