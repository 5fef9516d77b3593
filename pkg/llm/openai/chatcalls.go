package openai

import (
	"cmp"
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
	// lists counts the lists of fragments.
	lists int
}

// chatCall is the part of a call that has arrived.
type chatCall struct {
	index    int64
	hasIndex bool
	id, name string
	args     strings.Builder
	// final are the arguments in their final form, if that came.
	final, extra string
	// list is the list that the call began in; newIDs says that its fragments have ids of
	// their own.
	list    int
	newIDs  bool
	block   int
	started bool
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
		call = &chatCall{index: index.Int(), hasIndex: index.Type == gjson.Number, id: id, list: c.lists}
		c.calls = append(c.calls, call)
	}
	call.newIDs = call.newIDs || call.id != "" && id != "" && id != call.id
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
		if id != "" && call.id == id && !other && !call.startsAnew(id, name, args, c.lists) {
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
	if last == nil || last.startsAnew(id, name, args, c.lists) {
		return nil
	}
	return last
}

// startsAnew says whether a fragment that could continue this call is the first of
// another one, because it names a tool again. While the arguments are not whole, it goes on
// with them: some servers repeat the name and make up an id for each fragment. {} before the
// real arguments of the same call is no other call either.
func (c *chatCall) startsAnew(id, name, args string, list int) bool {
	if name == "" || c.name == "" {
		return false
	}
	other := id != "" && c.id != "" && id != c.id
	so := c.args.String()
	if strings.HasSuffix(so, "}") {
		so = exchange.Arguments(so)
	}
	switch {
	case name != c.name:
		return true
	case !strings.HasSuffix(so, "}") || !exchange.IsJSON([]byte(so)):
		return other && args == "" && so == ""
	case args == "":
		return id == "" || other && !c.newIDs
	case other:
		return true
	}
	return !exchange.IsEmpty(so) || c.list == list
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
		if final := exchange.Arguments(cmp.Or(call.final, call.args.String())); final != call.args.String() {
			end.Text = final
		}
		if call.extra != "" {
			end.Opaque = item.Opaque{API: APIChat, JSON: exchange.Clean(`{"extra_content":` + call.extra + `}`)}
		}
		dst = append(dst, end)
	}
	return dst
}
