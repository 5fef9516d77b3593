package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// decoder reads the events of the Messages API. It skips events and blocks that it does
// not know, as the API asks.
type decoder struct {
	endpoint *exchange.Endpoint

	blocks int
	// content are the blocks of the answer by their index.
	content []*content
	end     llm.End
	// stop is the stop reason; over says that the message has ended.
	stop string
	over bool
}

// content is the part of a block that has arrived.
type content struct {
	index   int64
	kind    string
	block   int
	started bool
	// text is the text, the thinking or the arguments.
	text strings.Builder
	// signature signs thinking; data is redacted thinking.
	signature strings.Builder
	data      string
	// input are the arguments of a call at its start.
	input string
}

// Over says that the message has ended.
func (d *decoder) Over() bool { return d.over }

// Complete says whether the answer is whole: some endpoints leave out message_stop.
func (d *decoder) Complete() bool { return d.over || d.stop != "" }

// Decode reads one event.
func (d *decoder) Decode(dst []llm.Event, name []byte, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		return dst, nil
	}
	ev := gjson.Parse(data)
	kind := ev.Get("type").Str
	if kind == "" {
		kind = string(name)
	}
	switch kind {
	case "message_start":
		d.message(ev.Get("message"))
	case "content_block_start":
		return d.start(dst, ev.Get("index").Int(), ev.Get("content_block"))
	case "content_block_delta":
		return d.delta(dst, ev.Get("index").Int(), ev.Get("delta")), nil
	case "content_block_stop":
		return d.stopped(dst, ev.Get("index").Int()), nil
	case "message_delta":
		d.message(ev.Get("delta"))
		d.readUsage(ev.Get("usage"))
	case "message_stop":
		d.over = true
	case "error":
		return dst, d.endpoint.StreamError(data)
	default:
		return dst, d.endpoint.Failure(name, data)
	}
	return dst, nil
}

// Whole reads a message that did not stream, or an event.
func (d *decoder) Whole(dst []llm.Event, data string) ([]llm.Event, error) {
	message := gjson.Parse(data)
	if !message.Get("content").IsArray() {
		return d.Decode(dst, nil, data)
	}
	err := d.endpoint.Failure(nil, data)
	if err != nil {
		return dst, err
	}
	d.message(message)
	d.over = d.stop != ""
	for i, block := range message.Get("content").Array() {
		if dst, err = d.start(dst, int64(i), block); err != nil {
			return dst, err
		}
		dst = d.stopped(dst, int64(i))
	}
	return dst, nil
}

// message reads the members of a message, whole or changed.
func (d *decoder) message(m gjson.Result) {
	if id := m.Get("id").Str; id != "" {
		d.end.ResponseID = id
	}
	if model := m.Get("model").Str; model != "" {
		d.end.Model = model
	}
	if stop := m.Get("stop_reason").Str; stop != "" {
		d.stop = stop
	}
	d.readUsage(m.Get("usage"))
}

func (d *decoder) find(index int64) *content {
	for i := len(d.content) - 1; i >= 0; i-- {
		if d.content[i].index == index {
			return d.content[i]
		}
	}
	return nil
}

// start opens a block, which may have a part of its content already.
func (d *decoder) start(dst []llm.Event, index int64, raw gjson.Result) ([]llm.Event, error) {
	if len(d.content) >= exchange.MaxItems {
		return dst, d.endpoint.TooMany()
	}
	c := &content{index: index, kind: raw.Get("type").Str}
	d.content = append(d.content, c)
	switch c.kind {
	case "text":
		return d.add(dst, c, raw.Get("text").Str), nil
	case "thinking":
		c.signature.WriteString(raw.Get("signature").Str)
		dst = d.open(dst, c, llm.BlockStart{Kind: llm.BlockReasoning})
		return d.add(dst, c, raw.Get("thinking").Str), nil
	case "redacted_thinking":
		c.data = raw.Get("data").Str
		return d.open(dst, c, llm.BlockStart{Kind: llm.BlockReasoning}), nil
	case "tool_use":
		c.input = raw.Get("input").Raw
		id, name := exchange.Clean(raw.Get("id").Str), exchange.Clean(raw.Get("name").Str)
		return d.open(dst, c, llm.BlockStart{Kind: llm.BlockToolCall, CallID: id, Name: name}), nil
	}
	return dst, nil
}

// open opens the block's own.
func (d *decoder) open(dst []llm.Event, c *content, start llm.BlockStart) []llm.Event {
	c.block, c.started = d.blocks, true
	d.blocks++
	start.Block = c.block
	return append(dst, start)
}

// add adds text to a block; a text block begins with its first words.
func (d *decoder) add(dst []llm.Event, c *content, text string) []llm.Event {
	if text == "" {
		return dst
	}
	if !c.started {
		dst = d.open(dst, c, llm.BlockStart{Kind: llm.BlockText})
	}
	text = exchange.Clean(text)
	c.text.WriteString(text)
	return exchange.AppendDelta(dst, c.block, text)
}

func (d *decoder) delta(dst []llm.Event, index int64, delta gjson.Result) []llm.Event {
	c := d.find(index)
	if c == nil {
		return dst
	}
	switch kind := delta.Get("type").Str; {
	case kind == "text_delta" && c.kind == "text":
		return d.add(dst, c, delta.Get("text").Str)
	case kind == "thinking_delta" && c.kind == "thinking":
		return d.add(dst, c, delta.Get("thinking").Str)
	case kind == "signature_delta" && c.kind == "thinking":
		c.signature.WriteString(delta.Get("signature").Str)
	case kind == "input_json_delta" && c.kind == "tool_use":
		return d.add(dst, c, delta.Get("partial_json").Str)
	}
	return dst
}

// stopped completes the arguments of a call that came whole at its start. Thinking ends
// with the answer, which shows whether it is whole.
func (d *decoder) stopped(dst []llm.Event, index int64) []llm.Event {
	c := d.find(index)
	if c == nil || c.kind != "tool_use" || c.text.Len() > 0 {
		return dst
	}
	if !strings.HasPrefix(c.input, "{") {
		c.input = "{}"
	}
	return d.add(dst, c, c.input)
}

// Finish ends the blocks and the answer.
func (d *decoder) Finish(dst []llm.Event) ([]llm.Event, error) {
	d.end.Stop = llm.StopDone
	switch d.stop {
	case "max_tokens":
		d.end.Stop = llm.StopLength
	case "model_context_window_exceeded":
		if d.blocks == 0 {
			return dst, d.endpoint.NoRoom(d.stop)
		}
		d.end.Stop = llm.StopLength
	case "refusal":
		d.end.Stop = llm.StopFilter
	case "pause_turn":
		return dst, d.endpoint.CutError()
	}
	for _, c := range d.content {
		if c.started {
			dst = append(dst, llm.BlockEnd{Block: c.block, Opaque: c.opaque(d.end.Stop)})
		}
	}
	return append(dst, d.end), nil
}

// opaque is what goes back with a block. Thinking that a limit cut has no signature, and
// the API would refuse it.
func (c *content) opaque(stop llm.StopReason) item.Opaque {
	dst := []byte(`{"type":"` + c.kind + `"`)
	switch {
	case c.kind == "redacted_thinking":
		dst = encode.Member(dst, "data", exchange.Clean(c.data))
	case c.kind != "thinking" || c.signature.Len() == 0 && stop == llm.StopLength:
		return item.Opaque{}
	default:
		dst = encode.Member(dst, "thinking", c.text.String())
		if c.signature.Len() > 0 {
			dst = encode.Member(dst, "signature", exchange.Clean(c.signature.String()))
		}
	}
	return item.Opaque{API: API, JSON: string(append(dst, '}'))}
}

// readUsage reads a usage, whose numbers are sums so far: the largest of each counts.
// The API counts what is cached and what is not separately.
func (d *decoder) readUsage(u gjson.Result) {
	t, before := d.endpoint.ReadTokens(u), d.end.Usage
	if !t.Has && t.Output == 0 {
		return
	}
	d.end.Measured = true
	d.end.Usage = item.Usage{
		Input:       max(before.Input, t.Input+t.Cached+t.Written),
		CachedInput: max(before.CachedInput, t.Cached),
		CacheWrite:  max(before.CacheWrite, t.Written),
		Output:      max(before.Output, t.Output),
		Reasoning:   max(before.Reasoning, t.Reasoning),
		Requests:    1,
	}
}
