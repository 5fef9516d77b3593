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

// responsesDecoder reads the events of the Responses API. Each output item that podd
// knows is a block; it skips the others (searches, images). All blocks end with the answer:
// each later event may have a more final form of an item.
type responsesDecoder struct {
	endpoint *exchange.Endpoint

	blocks int
	items  []*outputItem
	end    llm.End
	ended  bool
}

func (d *responsesDecoder) Over() bool { return d.ended }

func (d *responsesDecoder) Decode(dst []llm.Event, name, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		return dst, nil
	}
	if len(d.items) > exchange.MaxItems {
		return dst, d.endpoint.TooMany()
	}
	ev := gjson.Parse(data)
	kind := ev.Get("type").Str
	if kind == "" {
		kind = name
	}
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		return d.delta(dst, ev, llm.BlockText), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return d.delta(dst, ev, llm.BlockReasoning), nil
	case "response.function_call_arguments.delta":
		return d.delta(dst, ev, llm.BlockToolCall), nil
	case "response.output_text.done", "response.refusal.done":
		return d.partDone(dst, ev, llm.BlockText, ev), nil
	case "response.reasoning_summary_text.done", "response.reasoning_text.done", "response.reasoning_summary_part.done":
		return d.partDone(dst, ev, llm.BlockReasoning, exchange.First(ev, "part", "@this")), nil
	case "response.content_part.done":
		return d.partDone(dst, ev, partKind(ev.Get("part.type").Str), ev.Get("part")), nil
	case "response.function_call_arguments.done":
		return d.argumentsDone(dst, ev), nil
	case "response.output_item.added":
		return d.added(dst, ev, ev.Get("item")), nil
	case "response.output_item.done":
		raw := ev.Get("item")
		id, kind := raw.Get("id").Str, itemKind(raw)
		it := d.ends(id, ev, kind)
		if it == nil {
			it = d.add(id, ev, kind)
		}
		return d.itemDone(dst, it, raw), nil
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
		return d.Decode(dst, "", data)
	}
	if err := d.endpoint.Failure("", data); err != nil {
		return dst, err
	}
	return d.response(dst, r)
}

// itemKind is the kind of block that an item becomes; empty for one that podd does not know.
func itemKind(raw gjson.Result) llm.BlockKind {
	switch raw.Get("type").Str {
	case "message":
		return llm.BlockText
	case "reasoning":
		return llm.BlockReasoning
	case "function_call":
		return llm.BlockToolCall
	}
	return ""
}

// partKind is the kind of block to which a part belongs.
func partKind(part string) llm.BlockKind {
	switch part {
	case "output_text", "refusal":
		return llm.BlockText
	case "reasoning_text", "summary_text":
		return llm.BlockReasoning
	}
	return ""
}

// find is the item of a kind that an event is about: the last one with its index and its id,
// else with its index, else with its id. Some servers number all items 0, and some make up
// new ids. An event without both is about the last one.
func (d *responsesDecoder) find(id string, ev gjson.Result, kind llm.BlockKind) *outputItem {
	index := ev.Get("output_index").Raw
	var byIndex, byID *outputItem
	for _, it := range slices.Backward(d.items) {
		sameID := it.id == id
		switch {
		case it.kind != kind:
		case it.index == index && sameID, index == "" && id == "" && !it.done:
			return it
		case byIndex == nil && index != "" && it.index == index && (!it.done || id == "" || it.id == ""):
			byIndex = it
		case byID == nil && id != "" && sameID:
			byID = it
		}
	}
	return cmp.Or(byIndex, byID)
}

// ends is the item that an event with a final form is about. Where one side has no index, it
// is the last one that is not done; nil for an unknown one.
func (d *responsesDecoder) ends(id string, ev gjson.Result, kind llm.BlockKind) *outputItem {
	if it := d.find(id, ev, kind); it != nil {
		return it
	}
	index := ev.Get("output_index").Raw
	for _, it := range slices.Backward(d.items) {
		if it.kind == kind && !it.done && (index == "" || it.index == "") {
			return it
		}
	}
	return nil
}

// add adds an item.
func (d *responsesDecoder) add(id string, ev gjson.Result, kind llm.BlockKind) *outputItem {
	it := &outputItem{index: ev.Get("output_index").Raw, id: id, kind: kind}
	d.items = append(d.items, it)
	return it
}

// stray adds an item that no event began.
func (d *responsesDecoder) stray(id string, ev gjson.Result, kind llm.BlockKind) *outputItem {
	it := d.add(id, ev, kind)
	it.stray = true
	return it
}

// delta passes text on. A delta whose kind does not fit its item, or without an item, begins
// an item of its own.
func (d *responsesDecoder) delta(dst []llm.Event, ev gjson.Result, kind llm.BlockKind) []llm.Event {
	text := exchange.Clean(ev.Get("delta").String())
	if text == "" {
		return dst
	}
	id := ev.Get("item_id").Str
	it := d.find(id, ev, kind)
	if it == nil {
		it = d.stray(id, ev, kind)
	}
	if it.done && it.final != "" {
		return dst
	}
	return d.send(dst, it, it.next(text, ev.Get("summary_index").Raw))
}

// partDone reads the final form of a part, which has a text or a refusal.
func (d *responsesDecoder) partDone(dst []llm.Event, ev gjson.Result, kind llm.BlockKind, part gjson.Result) []llm.Event {
	text := partText(part)
	if text == "" || kind == "" {
		return dst
	}
	id := ev.Get("item_id").Str
	it := d.ends(id, ev, kind)
	if it == nil {
		it = d.stray(id, ev, kind)
	}
	if it.done && it.final != "" {
		return dst
	}
	it.end(text, ev.Get("summary_index").Raw+"/"+ev.Get("content_index").Raw)
	return d.extend(dst, it, it.joined())
}

// argumentsDone reads the final form of a call's arguments.
func (d *responsesDecoder) argumentsDone(dst []llm.Event, ev gjson.Result) []llm.Event {
	id := ev.Get("item_id").Str
	it := d.ends(id, ev, llm.BlockToolCall)
	if it == nil {
		it = d.stray(id, ev, llm.BlockToolCall)
	}
	it.named(ev)
	it.settle(argumentsText(ev.Get("arguments")))
	return d.extend(dst, it, it.final)
}

// extend passes on what a more final form of an item has besides what was sent.
func (d *responsesDecoder) extend(dst []llm.Event, it *outputItem, final string) []llm.Event {
	tail, _ := strings.CutPrefix(final, it.text.String())
	if len(tail) == len(final) && it.text.Len() > 0 {
		tail = ""
	}
	return d.send(dst, it, tail)
}

// send opens the block if it is not open and can be, and adds text to it. A message begins
// with its first words, a call with its name.
func (d *responsesDecoder) send(dst []llm.Event, it *outputItem, text string) []llm.Event {
	it.text.WriteString(text)
	if it.started {
		return exchange.AppendDelta(dst, it.block, text)
	}
	if it.kind == llm.BlockText && it.text.Len() == 0 || it.kind == llm.BlockToolCall && it.name == "" && !it.done {
		return dst
	}
	it.started, it.block = true, d.blocks
	d.blocks++
	dst = append(dst, llm.BlockStart{Block: it.block, Kind: it.kind, CallID: it.callID, Name: it.name})
	return exchange.AppendDelta(dst, it.block, it.text.String())
}

// added opens an item.
func (d *responsesDecoder) added(dst []llm.Event, ev, raw gjson.Result) []llm.Event {
	id, kind := raw.Get("id").Str, itemKind(raw)
	if kind == "" {
		return dst
	}
	it := d.find(id, ev, kind)
	if it == nil || !it.stray && (it.id == "" || it.id != id) {
		it = d.add(id, ev, kind)
	}
	it.id, it.stray = id, false
	it.named(raw)
	return d.send(dst, it, "")
}

// itemDone reads the final form of an item: some endpoints send no deltas at all, and some
// deltas stop early.
func (d *responsesDecoder) itemDone(dst []llm.Event, it *outputItem, raw gjson.Result) []llm.Event {
	it.done = true
	switch it.kind {
	case llm.BlockText:
		it.settle(partsText(raw.Get("content"), ""))
		if phase := raw.Get("phase"); phase.Type == gjson.String {
			it.opaque = item.Opaque{API: APIResponses, JSON: exchange.Clean(`{"phase":` + phase.Raw + `}`)}
		}
	case llm.BlockReasoning:
		it.settle(partsText(raw.Get("content"), partsText(raw.Get("summary"), "")))
		if o := reasoningOpaque(raw); it.opaque == (item.Opaque{}) || raw.Get("encrypted_content").Str != "" {
			it.opaque = o
		}
	case llm.BlockToolCall:
		it.named(raw)
		it.settle(argumentsText(raw.Get("arguments")))
	default:
		return dst
	}
	return d.extend(dst, it, it.final)
}

// partsText joins the texts of an item's parts; without texts it is fallback.
func partsText(parts gjson.Result, fallback string) string {
	var texts []string
	parts.ForEach(func(_, part gjson.Result) bool {
		if text := partText(part); text != "" {
			texts = append(texts, text)
		}
		return true
	})
	if len(texts) == 0 {
		return fallback
	}
	return strings.Join(texts, "\n\n")
}

// partText is the text or the refusal of a part.
func partText(part gjson.Result) string {
	return exchange.Clean(cmp.Or(part.Get("text").String(), part.Get("refusal").String()))
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

// output reads the final list of items. One with the id of a known item is that item;
// otherwise it is the next one of its kind, because some servers make up new ids.
func (d *responsesDecoder) output(dst []llm.Event, list []gjson.Result) []llm.Event {
	found, taken := make([]*outputItem, len(list)), map[*outputItem]bool{}
	for _, is := range []func(*outputItem, gjson.Result) bool{(*outputItem).isSame, (*outputItem).maybe} {
		for i, raw := range list {
			for _, it := range d.items {
				if found[i] == nil && !taken[it] && it.kind == itemKind(raw) && is(it, raw) {
					found[i], taken[it] = it, true
				}
			}
		}
	}
	for i, raw := range list {
		if found[i] == nil {
			found[i] = d.add(raw.Get("id").Str, gjson.Result{}, itemKind(raw))
		}
		dst = d.itemDone(dst, found[i], raw)
	}
	return dst
}

// response reads a response object that ends the answer.
func (d *responsesDecoder) response(dst []llm.Event, r gjson.Result) ([]llm.Event, error) {
	status := r.Get("status").Str
	if status == "failed" || exchange.Holds(r.Get("error")) {
		return dst, d.endpoint.StreamError(r.Raw)
	}
	dst = d.output(dst, r.Get("output").Array())
	if len(d.items) > exchange.MaxItems {
		return dst, d.endpoint.TooMany()
	}
	d.ended = status != "in_progress" && status != "queued" && r.IsObject()
	d.end = llm.End{Stop: llm.StopDone, Model: r.Get("model").String(), ResponseID: r.Get("id").String()}
	why := r.Get("incomplete_details.reason").Str
	d.end.Reason = cmp.Or(exchange.Reason("incomplete_details.reason", why), exchange.Reason("status", status))
	switch why {
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
	for _, it := range d.items {
		if it.kind == llm.BlockToolCall {
			it.done = true
			dst = d.send(dst, it, "")
		}
		if it.started {
			dst = append(dst, llm.BlockEnd{Block: it.block, Text: it.changed(), Opaque: it.opaque})
		}
	}
	return append(dst, d.end), nil
}
