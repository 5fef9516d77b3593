package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// chatCalls puts the fragments of tool calls together. Endpoints number them in
// many ways: with gaps, without an index, with one index for several calls, with
// or without ids, with the arguments in one piece or as an object.
type chatCalls struct {
	calls []*chatCall
}

// chatCall is a call as far as it came.
type chatCall struct {
	index    int64
	hasIndex bool
	id, name string
	args     strings.Builder
	extra    string
	block    int
	started  bool
}

// add takes one fragment.
func (c *chatCalls) add(dst []llm.Event, blocks *int, fragment gjson.Result) []llm.Event {
	function := fragment.Get("function")
	id, name := clean(fragment.Get("id").String()), clean(function.Get("name").String())
	index := fragment.Get("index")
	call := c.find(index, id, name)
	if call == nil {
		call = &chatCall{index: index.Int(), hasIndex: index.Type == gjson.Number, id: id}
		c.calls = append(c.calls, call)
	}
	if call.name == "" {
		call.name = name
	}
	if call.id == "" && !call.started {
		call.id = id
	}
	if extra := fragment.Get("extra_content"); extra.IsObject() {
		call.extra = extra.Raw
	}
	return call.addArguments(dst, blocks, function.Get("arguments"))
}

// addFunction takes a fragment of the old form with at most one call.
func (c *chatCalls) addFunction(dst []llm.Event, blocks *int, function gjson.Result) []llm.Event {
	if len(c.calls) == 0 {
		c.calls = append(c.calls, &chatCall{})
	}
	call := c.calls[0]
	if call.name == "" {
		call.name = clean(function.Get("name").String())
	}
	return call.addArguments(dst, blocks, function.Get("arguments"))
}

// find gives the call that a fragment goes on with; nil for a new one.
//
// The id decides where both have one and the fragment names a tool: an endpoint
// that numbers all calls 0 still gives them ids, and one that makes up an id for
// each fragment names the tool in the first only. Then the index, then the order.
func (c *chatCalls) find(index gjson.Result, id, name string) *chatCall {
	if len(c.calls) == 0 {
		return nil
	}
	if id != "" {
		for _, call := range c.calls {
			if call.id == id {
				return call
			}
		}
	}
	last := c.calls[len(c.calls)-1]
	if index.Type == gjson.Number {
		last = nil
		for _, call := range c.calls {
			if call.hasIndex && call.index == index.Int() {
				last = call
			}
		}
	}
	if last == nil || !last.startsAnew(id, name) {
		return last
	}
	return nil
}

// startsAnew says whether a fragment that could go on with this call is the first
// of another one.
func (c *chatCall) startsAnew(id, name string) bool {
	switch {
	case name == "" || c.name == "":
		return false
	case id != "" && c.id != "":
		return id != c.id
	case name != c.name:
		return true
	}
	// The same name again and no ids to compare: another call if this one's
	// arguments are whole.
	return isJSON([]byte(c.args.String()))
}

func (c *chatCall) addArguments(dst []llm.Event, blocks *int, args gjson.Result) []llm.Event {
	var text string
	switch args.Type {
	case gjson.String:
		text = clean(args.Str)
	case gjson.JSON:
		text = clean(args.Raw)
	}
	c.args.WriteString(text)
	if c.started {
		return appendDelta(dst, c.block, text)
	}
	if c.name == "" {
		return dst
	}
	return c.start(dst, blocks)
}

// start opens the block, as soon as the name is known, with the arguments so far.
func (c *chatCall) start(dst []llm.Event, blocks *int) []llm.Event {
	c.block, c.started = *blocks, true
	*blocks++
	dst = append(dst, llm.BlockStart{Block: c.block, Kind: llm.BlockToolCall, CallID: c.id, Name: c.name})
	return appendDelta(dst, c.block, c.args.String())
}

// flush opens the calls that never got a name.
func (c *chatCalls) flush(dst []llm.Event, blocks *int) []llm.Event {
	for _, call := range c.calls {
		if !call.started {
			dst = call.start(dst, blocks)
		}
	}
	return dst
}

// end closes the calls' blocks.
func (c *chatCalls) end(dst []llm.Event) []llm.Event {
	for _, call := range c.calls {
		end := llm.BlockEnd{Block: call.block}
		if call.extra != "" {
			end.Opaque = item.Opaque{API: APIChat, JSON: clean(`{"extra_content":` + call.extra + `}`)}
		}
		dst = append(dst, end)
	}
	return dst
}

func appendDelta(dst []llm.Event, block int, text string) []llm.Event {
	if text == "" {
		return dst
	}
	return append(dst, llm.BlockDelta{Block: block, Text: text})
}
