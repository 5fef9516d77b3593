package openai

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// chatDecoder reads chat.completion.chunk objects. It holds one text block, one
// reasoning block and a block a call; all end with the answer, because chunks may
// mix them in any order.
type chatDecoder struct {
	endpoint *endpoint

	blocks    int
	text      *int
	reasoning reasoningBlock
	calls     chatCalls

	// message is the last message that came where a delta belongs, and is used where
	// the answer has no delta.
	message  gjson.Result
	hasDelta bool

	model, id string
	usage     item.Usage
	measured  bool
	stop      string
	// done says that the stream said DONE, unstreamed that the answer was one object.
	done, unstreamed bool
}

func (d *chatDecoder) over() bool { return d.done }

func (d *chatDecoder) decode(dst []llm.Event, _ []byte, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		d.done = strings.HasPrefix(data, "[DONE]")
		return dst, nil
	}
	return d.chunk(dst, data)
}

func (d *chatDecoder) whole(dst []llm.Event, data string) ([]llm.Event, error) {
	dst, err := d.chunk(dst, data)
	if err != nil {
		return dst, err
	}
	d.unstreamed = true
	return d.useMessage(dst), d.bounded()
}

// chunk reads one object, of a stream or a whole answer.
func (d *chatDecoder) chunk(dst []llm.Event, data string) ([]llm.Event, error) {
	var failure gjson.Result
	gjson.Parse(data).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "choices":
			value.ForEach(func(_, choice gjson.Result) bool {
				if choice.Get("index").Int() == 0 {
					dst = d.choice(dst, choice)
				}
				return true
			})
		case "usage":
			d.readUsage(value)
		case "error":
			failure = value
		case "model":
			d.model = value.String()
		case "id":
			if d.id == "" {
				d.id = value.String()
			}
		}
		return true
	})
	if failure.Exists() && failure.Type != gjson.Null {
		return dst, d.endpoint.streamError(data)
	}
	return dst, d.bounded()
}

func (d *chatDecoder) bounded() error {
	if len(d.calls.calls) > maxItems {
		return d.endpoint.tooMany()
	}
	return nil
}

// choice reads the one choice that was asked for.
func (d *chatDecoder) choice(dst []llm.Event, choice gjson.Result) []llm.Event {
	choice.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "delta":
			dst = d.delta(dst, value)
		case "message":
			dst = d.instead(dst, value)
		case "finish_reason":
			if value.Type == gjson.String && value.Str != "" {
				d.stop = value.Str
			}
		case "usage":
			d.readUsage(value)
		}
		return true
	})
	return dst
}

// instead takes a message where a delta belongs. An answer that does not stream has
// one. In a stream it is the whole message beside the deltas or after them (Perplexity,
// MiniMax), which says nothing new, or the message so far where there are no deltas.
func (d *chatDecoder) instead(dst []llm.Event, message gjson.Result) []llm.Event {
	if !strings.HasPrefix(message.Get("content").String(), d.message.Get("content").String()) {
		dst = d.useMessage(dst)
	}
	d.message = message
	return dst
}

// useMessage reads the last message, unless deltas have said it.
func (d *chatDecoder) useMessage(dst []llm.Event) []llm.Event {
	if !d.hasDelta {
		dst = d.say(dst, d.message)
	}
	d.message = gjson.Result{}
	return dst
}

func (d *chatDecoder) delta(dst []llm.Event, delta gjson.Result) []llm.Event {
	n := len(dst)
	dst = d.say(dst, delta)
	d.hasDelta = d.hasDelta || len(dst) > n
	return dst
}

// say reads what a delta or a message says.
func (d *chatDecoder) say(dst []llm.Event, delta gjson.Result) []llm.Event {
	var named [len(reasoningFields)]gjson.Result
	delta.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
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
			for _, call := range value.Array() {
				dst = d.calls.add(dst, &d.blocks, call)
			}
		case "function_call":
			dst = d.calls.addFunction(dst, &d.blocks, value)
		default:
			if i := slices.Index(reasoningFields[:], key.Str); i >= 0 {
				named[i] = value
			}
		}
		return true
	})
	for i, field := range reasoningFields {
		if named[i].Type == gjson.String && named[i].Str != "" {
			return d.reasoning.add(dst, &d.blocks, field, clean(named[i].Str))
		}
	}
	return dst
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
			dst = d.reasoning.add(dst, &d.blocks, fieldContent, clean(t.Get("text").Str))
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
	return append(dst, llm.BlockDelta{Block: *d.text, Text: clean(value.Str)})
}

// complete goes by finish_reason. Some say with it that the answer broke off:
// OpenRouter, GLM and DeepSeek in this order. Some give none: there an answer is whole
// that came in one piece, or that its usage and DONE follow. DONE alone says nothing,
// because proxies add it to what broke off.
func (d *chatDecoder) complete() bool {
	switch d.stop {
	case "error", "network_error", "insufficient_system_resource":
		return false
	case "":
		said := d.blocks > 0 || d.message.Exists()
		return said && (d.unstreamed || d.done && d.measured)
	}
	return true
}

func (d *chatDecoder) finish(dst []llm.Event) ([]llm.Event, error) {
	dst = d.useMessage(dst)
	if err := d.bounded(); err != nil {
		return dst, err
	}
	if malformedCall(d.stop) {
		return dst, d.endpoint.malformedCall(d.stop)
	}
	dst = d.calls.flush(dst, &d.blocks)
	if d.reasoning.open {
		dst = append(dst, llm.BlockEnd{Block: d.reasoning.block, Opaque: d.reasoning.opaque()})
	}
	if d.text != nil {
		dst = append(dst, llm.BlockEnd{Block: *d.text})
	}
	dst = d.calls.end(dst)
	return append(dst, llm.End{
		Stop:       chatStop(d.stop),
		Usage:      d.usage,
		Measured:   d.measured,
		Model:      d.model,
		ResponseID: d.id,
	}), nil
}

// chatStop reads a finish_reason. Most servers say stop or tool_calls as they
// like, so the calls themselves decide whether there are any. Gemini adds its own reason
// behind a colon.
func chatStop(reason string) llm.StopReason {
	switch kind, _, _ := strings.Cut(reason, ":"); kind {
	case "length", "max_tokens", "model_length":
		return llm.StopLength
	case "content_filter", "sensitive":
		return llm.StopFilter
	}
	return llm.StopDone
}

// malformedCall says whether a finish_reason is that the model wrote a call that is none
// (Gemini, and those who pass its reasons on).
func malformedCall(reason string) bool {
	return strings.HasPrefix(reason, "function_call_filter") || strings.EqualFold(reason, "malformed_function_call")
}

// readUsage takes the last usage that says anything: some servers send one in
// every chunk.
func (d *chatDecoder) readUsage(u gjson.Result) {
	if !u.IsObject() || !u.Get("prompt_tokens").Exists() {
		return
	}
	d.measured = true
	d.usage = item.Usage{
		Input:       count(u.Get("prompt_tokens")),
		CachedInput: count(first(u, "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")),
		CacheWrite:  count(u.Get("prompt_tokens_details.cache_write_tokens")),
		Output:      count(u.Get("completion_tokens")),
		Reasoning:   count(u.Get("completion_tokens_details.reasoning_tokens")),
		Requests:    1,
	}
	// xAI and Gemini count reasoning in the total alone. What a total has of audio that
	// went in was not put out.
	if count(first(u, "prompt_tokens_details.audio_tokens", "prompt_audio_seconds")) == 0 {
		d.usage.Output = max(d.usage.Output, count(u.Get("total_tokens"))-d.usage.Input)
	}
}

// first is the first of these members that is there and not null.
func first(v gjson.Result, paths ...string) gjson.Result {
	for _, path := range paths {
		if m := v.Get(path); m.Exists() && m.Type != gjson.Null {
			return m
		}
	}
	return gjson.Result{}
}

// count is a number of tokens; never negative.
func count(v gjson.Result) int64 { return max(0, v.Int()) }

// clean makes text of an endpoint valid UTF-8.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
