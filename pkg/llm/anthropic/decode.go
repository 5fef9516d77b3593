package anthropic

import (
	"slices"
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
	// content are the blocks of the answer by their index and kind.
	content []*content
	// whole is the content that the message began with, for an answer without blocks.
	whole gjson.Result
	end   llm.End
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
	// stray says that the block never began: its deltas came alone, or in a block of another
	// kind.
	stray bool
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
func (d *decoder) Decode(dst []llm.Event, name, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		return dst, nil
	}
	ev := gjson.Parse(data)
	kind := ev.Get("type").Str
	if kind == "" {
		kind = name
	}
	switch kind {
	case "message_start":
		d.message(ev.Get("message"))
		d.whole = ev.Get("message.content")
	case "content_block_start":
		return d.start(dst, ev.Get("index").Int(), ev.Get("content_block"))
	case "content_block_delta":
		return d.delta(dst, ev.Get("index").Int(), ev.Get("delta"))
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
		return d.Decode(dst, "", data)
	}
	err := d.endpoint.Failure("", data)
	if err != nil {
		return dst, err
	}
	d.message(message)
	d.over = d.stop != ""
	return d.list(dst, message.Get("content"))
}

// list reads whole blocks.
func (d *decoder) list(dst []llm.Event, blocks gjson.Result) ([]llm.Event, error) {
	var err error
	for i, block := range blocks.Array() {
		if dst, err = d.start(dst, int64(i), block); err != nil {
			return dst, err
		}
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

// find is the last block of a kind at an index; any kind if that is empty.
func (d *decoder) find(index int64, kind string) *content {
	for _, c := range slices.Backward(d.content) {
		if c.index == index && (kind == "" || c.kind == kind) {
			return c
		}
	}
	return nil
}

// begin adds a block.
func (d *decoder) begin(c *content) (*content, error) {
	if len(d.content) >= exchange.MaxItems {
		return nil, d.endpoint.TooMany()
	}
	d.content = append(d.content, c)
	return c, nil
}

// start opens a block, which may have a part of its content already.
func (d *decoder) start(dst []llm.Event, index int64, raw gjson.Result) ([]llm.Event, error) {
	kind := raw.Get("type").Str
	c := d.find(index, kind)
	if c == nil || !c.stray {
		var err error
		if c, err = d.begin(&content{index: index, kind: kind}); err != nil {
			return dst, err
		}
	}
	c.stray = false
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
		c.input = exchange.Clean(raw.Get("input").Raw)
		id, name := exchange.Clean(raw.Get("id").Str), exchange.Clean(raw.Get("name").Str)
		dst = d.open(dst, c, llm.BlockStart{Kind: llm.BlockToolCall, CallID: id, Name: name})
		return exchange.AppendDelta(dst, c.block, c.text.String()), nil
	}
	return dst, nil
}

// open opens the block's own, if it is not open.
func (d *decoder) open(dst []llm.Event, c *content, start llm.BlockStart) []llm.Event {
	if c.started {
		return dst
	}
	c.block, c.started = d.blocks, true
	d.blocks++
	start.Block = c.block
	return append(dst, start)
}

// kinds are what a block of each kind becomes.
var kinds = map[string]llm.BlockKind{"text": llm.BlockText, "thinking": llm.BlockReasoning, "tool_use": llm.BlockToolCall}

// add adds text to a block, which begins with its first words. A call whose block never
// began may still get its name.
func (d *decoder) add(dst []llm.Event, c *content, text string) []llm.Event {
	if text == "" {
		return dst
	}
	text = exchange.Clean(text)
	c.text.WriteString(text)
	if c.stray && c.kind == "tool_use" {
		return dst
	}
	dst = d.open(dst, c, llm.BlockStart{Kind: kinds[c.kind]})
	return exchange.AppendDelta(dst, c.block, text)
}

// deltas are the kinds of deltas: the kind of their block, and the member with the text.
var deltas = []struct{ delta, kind, member string }{
	{"text_delta", "text", "text"},
	{"thinking_delta", "thinking", "thinking"},
	{"input_json_delta", "tool_use", "partial_json"},
}

// delta adds to the block that fits. Without one it begins a block: some endpoints send text
// within a call's block, or no start.
func (d *decoder) delta(dst []llm.Event, index int64, delta gjson.Result) ([]llm.Event, error) {
	said := delta.Get("type").Str
	for _, k := range deltas {
		text := delta.Get(k.member).Str
		if said != k.delta && said != "" || text == "" {
			continue
		}
		if c := d.find(index, ""); k.kind == "tool_use" && c != nil && c.kind != "" && kinds[c.kind] == "" {
			return dst, nil // The arguments of a call that podd does not know.
		}
		c, err := d.fitting(index, k.kind)
		if err != nil {
			return dst, err
		}
		return d.add(dst, c, text), nil
	}
	if c := d.find(index, "thinking"); c != nil && !c.stray {
		c.signature.WriteString(delta.Get("signature").Str)
	}
	return dst, nil
}

// fitting is the block at an index to which a delta of a kind belongs. Arguments without a
// block of their own are those of the last call that lacks some.
func (d *decoder) fitting(index int64, kind string) (*content, error) {
	if c := d.find(index, kind); c != nil {
		return c, nil
	}
	for _, c := range slices.Backward(d.content) {
		if kind == "tool_use" && c.kind == kind && !exchange.IsJSON([]byte(c.text.String())) {
			return c, nil
		}
	}
	return d.begin(&content{index: index, kind: kind, stray: true})
}

// says whether the answer has text or a call.
func (d *decoder) says() bool {
	return slices.ContainsFunc(d.content, func(c *content) bool { return c.kind == "tool_use" || c.kind == "text" && c.started })
}

// Finish ends the blocks and the answer.
func (d *decoder) Finish(dst []llm.Event) ([]llm.Event, error) {
	d.end.Stop, d.end.Reason = llm.StopDone, exchange.Reason("stop_reason", d.stop)
	if len(d.content) == 0 {
		var err error
		if dst, err = d.list(dst, d.whole); err != nil {
			return dst, err
		}
	}
	switch d.stop {
	case "max_tokens":
		d.end.Stop = llm.StopLength
	case "model_context_window_exceeded":
		if !d.says() {
			return dst, d.endpoint.NoRoom(d.stop)
		}
		d.end.Stop = llm.StopLength
	case "refusal":
		d.end.Stop = llm.StopFilter
	case "pause_turn":
		return dst, d.endpoint.CutError()
	}
	for _, c := range d.content {
		end := llm.BlockEnd{Opaque: c.opaque(d.end.Stop)}
		if c.kind == "tool_use" {
			if !c.started {
				dst = exchange.AppendDelta(d.open(dst, c, llm.BlockStart{Kind: llm.BlockToolCall}), d.blocks-1, c.text.String())
			}
			if final := c.arguments(); final != c.text.String() {
				end.Text = final
			}
		}
		if end.Block = c.block; c.started {
			dst = append(dst, end)
		}
	}
	return append(dst, d.end), nil
}

// arguments are those of a call in their final form: its block may have begun with them.
func (c *content) arguments() string {
	text := exchange.Arguments(c.text.String())
	switch {
	case !exchange.IsEmpty(text):
		return text
	case strings.HasPrefix(c.input, "{"):
		return c.input
	}
	return "{}"
}

// opaque is what goes back with a block. Thinking that a limit cut has no signature, nor has
// a stray one, and the API would refuse it.
func (c *content) opaque(stop llm.StopReason) item.Opaque {
	dst := []byte(`{"type":"` + c.kind + `"`)
	switch {
	case c.kind == "redacted_thinking":
		dst = encode.Member(dst, "data", exchange.Clean(c.data))
	case c.kind != "thinking" || c.stray || c.signature.Len() == 0 && stop == llm.StopLength:
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
		Input:       max(before.Input, item.Sum(t.Input, item.Sum(t.Cached, t.Written))),
		CachedInput: max(before.CachedInput, t.Cached),
		CacheWrite:  max(before.CacheWrite, t.Written),
		Output:      max(before.Output, t.Output),
		Reasoning:   max(before.Reasoning, t.Reasoning),
		Requests:    1,
	}
}
