package openai

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// chatCalls assembles the fragments of tool calls. Endpoints number them in many ways:
// with gaps, without an index, with one index for several calls, with or without ids,
// with the arguments in one piece or as an object.
type chatCalls struct {
	calls []*chatCall
}

// chatCall is the part of a call that has arrived.
type chatCall struct {
	index    int64
	hasIndex bool
	id, name string
	args     strings.Builder
	extra    string
	block    int
	started  bool
}

// add adds one fragment. An empty one is not a call.
func (c *chatCalls) add(dst []llm.Event, blocks *int, fragment gjson.Result) []llm.Event {
	function := fragment.Get("function")
	id, name, args := exchange.Clean(fragment.Get("id").String()), exchange.Clean(function.Get("name").String()), argumentsText(function.Get("arguments"))
	index := fragment.Get("index")
	call := c.find(index, id, name, args)
	if call == nil {
		if id == "" && name == "" && args == "" {
			return dst
		}
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
	return call.addArguments(dst, blocks, args)
}

// addFunction adds a fragment of the old form with at most one call.
func (c *chatCalls) addFunction(dst []llm.Event, blocks *int, function gjson.Result) []llm.Event {
	name, args := exchange.Clean(function.Get("name").String()), argumentsText(function.Get("arguments"))
	if name == "" && args == "" {
		return dst
	}
	if len(c.calls) == 0 {
		c.calls = append(c.calls, &chatCall{})
	}
	call := c.calls[0]
	if call.name == "" {
		call.name = name
	}
	return call.addArguments(dst, blocks, args)
}

// find returns the call that a fragment continues; nil for a new one.
//
// The id decides, then the index, then the order. A fragment with another index or
// another tool is another call even under the same id: some endpoints give parallel calls
// one id. An endpoint that makes up an id for each fragment names the tool only in the
// first, and one that numbers all calls 0 still gives them ids.
func (c *chatCalls) find(index gjson.Result, id, name, args string) *chatCall {
	if len(c.calls) == 0 {
		return nil
	}
	indexed := index.Type == gjson.Number
	for _, call := range slices.Backward(c.calls) {
		other := indexed && call.hasIndex && call.index != index.Int()
		if id != "" && call.id == id && !other && !call.startsAnew(id, name, args) {
			return call
		}
	}
	last := c.calls[len(c.calls)-1]
	if indexed {
		last = nil
		for _, call := range c.calls {
			if call.hasIndex && call.index == index.Int() {
				last = call
			}
		}
	}
	if last == nil || !last.startsAnew(id, name, args) {
		return last
	}
	return nil
}

// startsAnew says whether a fragment that could continue this call is the first of
// another one.
func (c *chatCall) startsAnew(id, name, args string) bool {
	switch {
	case name == "" || c.name == "":
		return false
	case name != c.name:
		return true
	case id != "" && c.id != "" && id != c.id:
		return true
	case id != "" && id == c.id && args == "":
		return false
	}
	// The same name again, and no ids that differ: it is another call if this one's
	// arguments are complete.
	whole := c.args.String()
	return strings.HasSuffix(whole, "}") && exchange.IsJSON([]byte(whole))
}

// argumentsText is a fragment's part of a call's arguments; some endpoints send an
// object.
func argumentsText(args gjson.Result) string {
	switch args.Type {
	case gjson.String:
		return exchange.Clean(args.Str)
	case gjson.JSON:
		return exchange.Clean(args.Raw)
	}
	return ""
}

func (c *chatCall) addArguments(dst []llm.Event, blocks *int, text string) []llm.Event {
	c.args.WriteString(text)
	if c.started {
		return exchange.AppendDelta(dst, c.block, text)
	}
	if c.name == "" {
		return dst
	}
	return c.start(dst, blocks)
}

// start opens the block once the name is known, with the arguments that have arrived.
func (c *chatCall) start(dst []llm.Event, blocks *int) []llm.Event {
	c.block, c.started = *blocks, true
	*blocks++
	dst = append(dst, llm.BlockStart{Block: c.block, Kind: llm.BlockToolCall, CallID: c.id, Name: c.name})
	return exchange.AppendDelta(dst, c.block, c.args.String())
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
			end.Opaque = item.Opaque{API: APIChat, JSON: exchange.Clean(`{"extra_content":` + call.extra + `}`)}
		}
		dst = append(dst, end)
	}
	return dst
}
