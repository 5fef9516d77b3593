package openai

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// chatDecoder reads chat.completion.chunk objects. It has one text block, one reasoning
// block and a block per call. All end with the answer, because chunks may mix them in any
// order.
type chatDecoder struct {
	endpoint *exchange.Endpoint

	blocks int
	text   *int
	// said is the text so far, final its final form if that differs.
	said      strings.Builder
	final     string
	reasoning reasoningBlock
	calls     chatCalls

	// message is the last message in place of a delta. It is the answer if there are no
	// deltas, and its final form beside them or after them, unless inPieces says that it
	// continues the one before.
	message  gjson.Result
	inPieces bool
	// choices counts those that came; deltaAt and messageAt are the last ones with a part of
	// the answer.
	choices, deltaAt, messageAt int

	model, id string
	usage     item.Usage
	measured  bool
	stop      string
	// failed says that a message has an error.
	failed bool
	// done says that the stream sent DONE, unstreamed that the answer was one object.
	done, unstreamed bool
}

func (d *chatDecoder) Over() bool { return d.done || d.unstreamed && d.Complete() }

func (d *chatDecoder) Decode(dst []llm.Event, name, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		d.done = strings.HasPrefix(data, "[DONE]")
		return dst, nil
	}
	return d.chunk(dst, name, data)
}

func (d *chatDecoder) Whole(dst []llm.Event, data string) ([]llm.Event, error) {
	dst, err := d.chunk(dst, "", data)
	if err != nil {
		return dst, err
	}
	d.unstreamed = d.message.Exists()
	if d.unstreamed {
		dst = d.useMessage(dst)
	}
	return dst, d.bounded()
}

// chunk reads one object, of a stream or a whole answer.
func (d *chatDecoder) chunk(dst []llm.Event, event, data string) ([]llm.Event, error) {
	chosen := false
	exchange.Members(data, func(name, text string) string {
		if name == "choices" {
			return exchange.Members(text, func(_, choice string) string {
				chosen = true
				dst, choice = d.choice(dst, choice)
				return choice
			})
		}
		raw, rest := exchange.Value(text)
		switch name {
		case "usage":
			d.readUsage(gjson.Parse(raw))
		case "error":
			d.failed = d.failed || exchange.Holds(gjson.Parse(raw))
		case "model":
			d.model = raw
		case "id":
			if d.id == "" {
				d.id = gjson.Parse(raw).String()
			}
		}
		return rest
	})
	if d.failed {
		return dst, d.endpoint.StreamError(data)
	}
	if !chosen {
		if err := d.endpoint.Failure(event, data); err != nil {
			return dst, err
		}
	}
	return dst, d.bounded()
}

func (d *chatDecoder) bounded() error {
	if len(d.calls.calls) > exchange.MaxItems {
		return d.endpoint.TooMany()
	}
	return nil
}

// choice reads a choice at the beginning of text, if it is the one requested. It also
// returns what follows.
func (d *chatDecoder) choice(dst []llm.Event, text string) (_ []llm.Event, rest string) {
	known, other := false, false
	d.choices++
	rest = exchange.Members(text, func(name, member string) string {
		if !known {
			known, other = true, choiceIndex(name, member, text) != 0
		}
		if name == "delta" && !other {
			dst, member = d.delta(dst, member)
			return member
		}
		raw, rest := exchange.Value(member)
		if other {
			return rest
		}
		switch name {
		case "message":
			dst = d.instead(dst, gjson.Parse(raw))
		case "finish_reason":
			if reason := gjson.Parse(raw); reason.Type == gjson.String && reason.Str != "" {
				d.stop = reason.Str
			}
		case "usage":
			d.readUsage(gjson.Parse(raw))
		case "error":
			d.failed = d.failed || exchange.Holds(gjson.Parse(raw))
		}
		return rest
	})
	return dst, rest
}

// choiceIndex is the index of a choice, given its first member, which is the index except
// from a few servers.
func choiceIndex(name, member, choice string) int64 {
	if name == "index" {
		raw, _ := exchange.Value(member)
		return gjson.Parse(raw).Int()
	}
	return gjson.Get(choice, "index").Int()
}

// instead reads a message in place of a delta. An answer that does not stream has one. In
// a stream it is the whole message beside the deltas or after them (Perplexity, MiniMax), or
// the message so far when there are no deltas.
func (d *chatDecoder) instead(dst []llm.Event, message gjson.Result) []llm.Event {
	if !strings.HasPrefix(message.Get("content").String(), d.message.Get("content").String()) {
		dst = d.useMessage(dst)
		d.inPieces = true
	}
	d.message, d.messageAt = message, d.choices
	return dst
}

// useMessage reads the last message. Beside deltas it counts once it is final.
func (d *chatDecoder) useMessage(dst []llm.Event) []llm.Event {
	if d.deltaAt == 0 {
		dst, _ = d.addMessage(dst, d.message.Raw)
	}
	d.message = gjson.Result{}
	return dst
}

func (d *chatDecoder) delta(dst []llm.Event, text string) (_ []llm.Event, rest string) {
	n := len(dst)
	dst, rest = d.addMessage(dst, text)
	if len(dst) > n {
		d.deltaAt = d.choices
	}
	return dst, rest
}

// addMessage reads a delta or a message at the beginning of text. It also returns what
// follows.
func (d *chatDecoder) addMessage(dst []llm.Event, text string) (_ []llm.Event, rest string) {
	var named [len(reasoningFields)]gjson.Result
	rest = exchange.Members(text, func(name, member string) string {
		raw, rest := exchange.Value(member)
		value := gjson.Parse(raw)
		switch name {
		case "content":
			dst = d.content(dst, value)
		case "refusal":
			dst = d.addText(dst, value)
		case "reasoning_details":
			dst = d.reasoning.addDetails(dst, &d.blocks, value)
		case "thinking_blocks":
			dst = d.reasoning.addThinking(dst, &d.blocks, value)
		case "reasoning_opaque":
			dst = d.reasoning.seal(dst, &d.blocks, value)
		case "tool_calls":
			d.calls.lists++
			for _, call := range value.Array() {
				dst = d.calls.add(dst, &d.blocks, call)
			}
		case "function_call":
			dst = d.calls.addFunction(dst, &d.blocks, value)
		default:
			if i := slices.Index(reasoningFields[:], name); i >= 0 {
				named[i] = value
			}
		}
		return rest
	})
	for i, field := range reasoningFields {
		if named[i].Type == gjson.String && named[i].Str != "" {
			return d.reasoning.add(dst, &d.blocks, field, exchange.Clean(named[i].Str)), rest
		}
	}
	return dst, rest
}

// content is a string, or, from Mistral, a list of parts.
func (d *chatDecoder) content(dst []llm.Event, value gjson.Result) []llm.Event {
	if !value.IsArray() {
		return d.addText(dst, value)
	}
	value.ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").Str != "thinking" {
			dst = d.addText(dst, part.Get("text"))
			return true
		}
		part.Get("thinking").ForEach(func(_, t gjson.Result) bool {
			dst = d.reasoning.add(dst, &d.blocks, fieldContent, exchange.Clean(t.Get("text").Str))
			return true
		})
		return true
	})
	return dst
}

func (d *chatDecoder) addText(dst []llm.Event, value gjson.Result) []llm.Event {
	if value.Type != gjson.String || value.Str == "" {
		return dst
	}
	if d.text == nil {
		n := d.blocks
		d.text = &n
		d.blocks++
		dst = append(dst, llm.BlockStart{Block: n, Kind: llm.BlockText})
	}
	text := exchange.Clean(value.Str)
	d.said.WriteString(text)
	return append(dst, llm.BlockDelta{Block: *d.text, Text: text})
}

// complete decides by finish_reason. Some endpoints use it to say that the answer broke
// off: OpenRouter, GLM and DeepSeek in this order. Others send no finish_reason: their
// answer is whole if it came in one piece, or if its usage and DONE follow. DONE alone
// proves nothing, because proxies add it to an answer that broke off.
func (d *chatDecoder) Complete() bool {
	switch d.stop {
	case "error", "network_error", "insufficient_system_resource":
		return false
	case "":
		said := d.blocks > 0 || d.message.Exists()
		return said && (d.unstreamed || d.done && d.measured)
	}
	return true
}

func (d *chatDecoder) Finish(dst []llm.Event) ([]llm.Event, error) {
	if d.deltaAt > 0 && d.messageAt >= d.deltaAt && !d.inPieces {
		dst = d.settle(dst)
	}
	dst = d.useMessage(dst)
	if err := d.bounded(); err != nil {
		return dst, err
	}
	if malformedCall(d.stop) {
		return dst, d.endpoint.MalformedCall(d.stop)
	}
	dst = d.calls.flush(dst, &d.blocks)
	if d.reasoning.open {
		dst = append(dst, llm.BlockEnd{Block: d.reasoning.block, Text: d.reasoning.final, Opaque: d.reasoning.opaque()})
	}
	if d.text != nil {
		dst = append(dst, llm.BlockEnd{Block: *d.text, Text: d.final})
	}
	dst = d.calls.end(dst)
	return append(dst, llm.End{
		Stop:       chatStop(d.stop),
		Reason:     exchange.Reason("finish_reason", d.stop),
		Usage:      d.usage,
		Measured:   d.measured,
		Model:      gjson.Parse(d.model).String(),
		ResponseID: d.id,
	}), nil
}

// chatStop reads a finish_reason. Most servers mix up stop and tool_calls, so the calls
// themselves decide. Gemini adds its own reason after a colon.
func chatStop(reason string) llm.StopReason {
	switch kind, _, _ := strings.Cut(reason, ":"); kind {
	case "length", "max_tokens", "model_length":
		return llm.StopLength
	case "content_filter", "sensitive":
		return llm.StopFilter
	}
	return llm.StopDone
}

// malformedCall says whether a finish_reason means that the model wrote an invalid call
// (Gemini, and routers that pass its reasons on).
func malformedCall(reason string) bool {
	return strings.HasPrefix(reason, "function_call_filter") || strings.EqualFold(reason, "malformed_function_call")
}

// readUsage uses the last usage with content: some servers send one in every chunk.
func (d *chatDecoder) readUsage(u gjson.Result) {
	t := d.endpoint.ReadTokens(u)
	if !t.Has {
		return
	}
	// Some count reasoning only in the total. Audio input in a total is not output.
	if t.Audio == 0 {
		t.Output = max(t.Output, t.Total-t.Input)
	}
	d.measured = true
	d.usage = usageOf(t)
}

// usageOf is a usage of both APIs, whose input includes what is cached.
func usageOf(t exchange.Tokens) item.Usage {
	return item.Usage{Input: t.Input, CachedInput: t.Cached, CacheWrite: t.Written, Output: t.Output, Reasoning: t.Reasoning, Requests: 1}
}
