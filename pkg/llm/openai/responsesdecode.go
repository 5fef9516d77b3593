package openai

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// responsesDecoder reads the events of the Responses API. Each output item that podd
// knows is a block; it skips the others (searches, images).
type responsesDecoder struct {
	endpoint *exchange.Endpoint

	blocks int
	items  []*outputItem
	end    llm.End
	ended  bool
}

// outputItem is the part of an output item that has arrived.
type outputItem struct {
	key   string
	id    string
	kind  llm.BlockKind
	block int
	// sent counts the bytes of text passed on; args are those of a call.
	sent int
	args strings.Builder
	// part is the last part of a summary with text.
	part    string
	started bool
	done    bool
}

func (d *responsesDecoder) Over() bool { return d.ended }

func (d *responsesDecoder) Decode(dst []llm.Event, name []byte, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		return dst, nil
	}
	if len(d.items) > exchange.MaxItems {
		return dst, d.endpoint.TooMany()
	}
	ev := gjson.Parse(data)
	kind := ev.Get("type").Str
	if kind == "" {
		kind = string(name)
	}
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		return d.delta(dst, ev, llm.BlockText), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return d.delta(dst, ev, llm.BlockReasoning), nil
	case "response.function_call_arguments.delta":
		return d.delta(dst, ev, llm.BlockToolCall), nil
	case "response.output_item.added":
		return d.added(dst, itemKey(ev), ev.Get("item")), nil
	case "response.output_item.done":
		return d.itemDone(dst, itemKey(ev), ev.Get("item")), nil
	case "response.completed", "response.incomplete", "response.done":
		return d.response(dst, ev.Get("response"))
	case "response.failed":
		if r := ev.Get("response"); r.Exists() {
			return d.response(dst, r)
		}
		return dst, d.endpoint.StreamError(data)
	case "error":
		return dst, d.endpoint.StreamError(data)
	default:
		return dst, d.endpoint.Failure(name, data)
	}
}

// Whole reads a response object that did not stream, or an event.
func (d *responsesDecoder) Whole(dst []llm.Event, data string) ([]llm.Event, error) {
	r := gjson.Parse(data)
	if !r.Get("output").IsArray() && !r.Get("status").Exists() {
		return d.Decode(dst, nil, data)
	}
	if err := d.endpoint.Failure(nil, data); err != nil {
		return dst, err
	}
	return d.response(dst, r)
}

// itemKey names the item of an event.
func itemKey(ev gjson.Result) string {
	if i := ev.Get("output_index"); i.Exists() {
		return i.Raw
	}
	if id := ev.Get("item_id"); id.Exists() {
		return id.Str
	}
	return ev.Get("item.id").Str
}

func (d *responsesDecoder) find(key string) *outputItem {
	for i := len(d.items) - 1; i >= 0; i-- {
		if d.items[i].key == key {
			return d.items[i]
		}
	}
	return nil
}

// keyOf names an item of the final list: by its id if an event had it, otherwise by its
// position, because some servers make up new ids.
func (d *responsesDecoder) keyOf(index int, id string) string {
	for _, it := range d.items {
		if id != "" && it.id == id {
			return it.key
		}
	}
	return strconv.Itoa(index)
}

// delta passes text on. A further part of a summary begins a new paragraph. content_index
// is useless, because vLLM increments it with each delta.
func (d *responsesDecoder) delta(dst []llm.Event, ev gjson.Result, kind llm.BlockKind) []llm.Event {
	text := exchange.Clean(ev.Get("delta").String())
	if text == "" {
		return dst
	}
	key := itemKey(ev)
	it := d.find(key)
	if it == nil {
		it = &outputItem{key: key, id: ev.Get("item_id").Str, kind: kind}
		d.items = append(d.items, it)
	}
	if it.kind != kind || it.done {
		return dst
	}
	part := ev.Get("summary_index").Raw
	if it.sent > 0 && part != it.part {
		text = "\n\n" + text
	}
	it.part = part
	return d.send(dst, it, text, "", "")
}

// send opens the block if it is not open, and adds text to it.
func (d *responsesDecoder) send(dst []llm.Event, it *outputItem, text, callID, name string) []llm.Event {
	if !it.started {
		it.started, it.block = true, d.blocks
		d.blocks++
		dst = append(dst, llm.BlockStart{Block: it.block, Kind: it.kind, CallID: callID, Name: name})
	}
	it.sent += len(text)
	if it.kind == llm.BlockToolCall {
		it.args.WriteString(text)
	}
	return exchange.AppendDelta(dst, it.block, text)
}

// added opens an item; a text item only opens with its first words.
func (d *responsesDecoder) added(dst []llm.Event, key string, raw gjson.Result) []llm.Event {
	it := &outputItem{key: key, id: raw.Get("id").Str}
	switch raw.Get("type").Str {
	case "message":
		it.kind = llm.BlockText
	case "reasoning":
		it.kind = llm.BlockReasoning
		dst = d.send(dst, it, "", "", "")
	case "function_call":
		it.kind = llm.BlockToolCall
		dst = d.send(dst, it, "", exchange.Clean(raw.Get("call_id").String()), exchange.Clean(raw.Get("name").String()))
	}
	d.items = append(d.items, it)
	return dst
}

// itemDone closes an item with the additions of its final form: some endpoints send no
// deltas at all.
func (d *responsesDecoder) itemDone(dst []llm.Event, key string, raw gjson.Result) []llm.Event {
	it := d.find(key)
	if it == nil {
		dst = d.added(dst, key, raw)
		it = d.find(key)
	}
	if it.done || it.kind == "" {
		return dst
	}
	var end llm.BlockEnd
	var text string
	switch it.kind {
	case llm.BlockText:
		text = partsText(raw.Get("content"), "")
		if phase := raw.Get("phase"); phase.Type == gjson.String {
			end.Opaque = item.Opaque{API: APIResponses, JSON: exchange.Clean(`{"phase":` + phase.Raw + `}`)}
		}
		if text == "" && it.sent == 0 {
			it.done = true
			return dst
		}
	case llm.BlockReasoning:
		text = partsText(raw.Get("content"), partsText(raw.Get("summary"), ""))
		end.Opaque = reasoningOpaque(raw)
	case llm.BlockToolCall:
		final := argumentsText(raw.Get("arguments"))
		var extends bool
		if text, extends = strings.CutPrefix(final, it.args.String()); !extends {
			// Copilot's deltas are ciphertext.
			text, end.Text = "", final
		}
	}
	if it.sent > 0 && it.kind != llm.BlockToolCall {
		text = ""
	}
	dst = d.send(dst, it, text, "", "")
	it.done, end.Block = true, it.block
	return append(dst, end)
}

// partsText joins the texts of an item's parts; without texts it is fallback.
func partsText(parts gjson.Result, fallback string) string {
	var texts []string
	parts.ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text").String()
		if text == "" {
			text = part.Get("refusal").String()
		}
		if text != "" {
			texts = append(texts, exchange.Clean(text))
		}
		return true
	})
	if len(texts) == 0 {
		return fallback
	}
	return strings.Join(texts, "\n\n")
}

// reasoningOpaque is a reasoning item to send back: as it came, without null members and
// without the status, which OpenAI refuses as input. An item with only an id means
// nothing to an endpoint that stored nothing.
func reasoningOpaque(raw gjson.Result) item.Opaque {
	if raw.Get("encrypted_content").Str == "" && len(raw.Get("content").Array()) == 0 {
		return item.Opaque{}
	}
	dst := []byte{'{'}
	raw.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "status" || value.Type == gjson.Null {
			return true
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, key.Raw...), ':')
		dst = append(dst, value.Raw...)
		return true
	})
	return item.Opaque{API: APIResponses, JSON: exchange.Clean(string(append(dst, '}')))}
}

// response reads a response object that ends the answer.
func (d *responsesDecoder) response(dst []llm.Event, r gjson.Result) ([]llm.Event, error) {
	status := r.Get("status").Str
	if status == "failed" || exchange.Holds(r.Get("error")) {
		return dst, d.endpoint.StreamError(r.Raw)
	}
	index := 0
	r.Get("output").ForEach(func(_, raw gjson.Result) bool {
		dst = d.itemDone(dst, d.keyOf(index, raw.Get("id").Str), raw)
		index++
		return true
	})
	d.ended = status != "in_progress" && status != "queued" && r.IsObject()
	d.end = llm.End{Stop: llm.StopDone, Model: r.Get("model").String(), ResponseID: r.Get("id").String()}
	switch r.Get("incomplete_details.reason").Str {
	case "max_output_tokens", "max_tokens", "length":
		d.end.Stop = llm.StopLength
	case "content_filter":
		d.end.Stop = llm.StopFilter
	default:
		if status == "incomplete" {
			d.end.Stop = llm.StopLength
		}
	}
	d.readUsage(r.Get("usage"))
	return dst, nil
}

func (d *responsesDecoder) readUsage(u gjson.Result) {
	if t := d.endpoint.ReadTokens(u); t.Has {
		d.end.Measured, d.end.Usage = true, usageOf(t)
	}
}

func (d *responsesDecoder) Complete() bool { return d.ended }

func (d *responsesDecoder) Finish(dst []llm.Event) ([]llm.Event, error) {
	return append(dst, d.end), nil
}
