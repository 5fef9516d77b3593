package openai

import (
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

	model, id string
	usage     item.Usage
	measured  bool
	stop      string
	done      bool
}

func (d *chatDecoder) over() bool { return d.done }

func (d *chatDecoder) decode(dst []llm.Event, _ []byte, data string) ([]llm.Event, error) {
	if strings.HasPrefix(data, "[") {
		d.done = strings.HasPrefix(data, "[DONE]")
		return dst, nil
	}
	return d.whole(dst, data)
}

func (d *chatDecoder) whole(dst []llm.Event, data string) ([]llm.Event, error) {
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
	if len(d.calls.calls) > maxItems {
		return dst, d.endpoint.tooMany()
	}
	return dst, nil
}

// choice reads the one choice that was asked for. An answer that does not stream
// has a message in place of the delta.
func (d *chatDecoder) choice(dst []llm.Event, choice gjson.Result) []llm.Event {
	choice.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "delta", "message":
			dst = d.delta(dst, value)
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

func (d *chatDecoder) delta(dst []llm.Event, delta gjson.Result) []llm.Event {
	var named, plain gjson.Result
	delta.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "content":
			dst = d.content(dst, value)
		case "refusal":
			dst = d.addText(dst, value)
		case "reasoning_content":
			named = value
		case "reasoning":
			plain = value
		case "reasoning_details":
			dst = d.reasoning.addDetails(dst, &d.blocks, value)
		case "tool_calls":
			value.ForEach(func(_, call gjson.Result) bool {
				dst = d.calls.add(dst, &d.blocks, call)
				return true
			})
		case "function_call":
			if value.IsObject() {
				dst = d.calls.addFunction(dst, &d.blocks, value)
			}
		}
		return true
	})
	// Some servers send the same reasoning under both names.
	if named.Type == gjson.String && named.Str != "" {
		return d.reasoning.add(dst, &d.blocks, "reasoning_content", clean(named.Str))
	}
	if plain.Type == gjson.String && plain.Str != "" {
		return d.reasoning.add(dst, &d.blocks, "reasoning", clean(plain.Str))
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
			dst = d.reasoning.add(dst, &d.blocks, "", clean(t.Get("text").Str))
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

// complete goes by finish_reason alone. Some say with it that the answer broke off:
// OpenRouter, GLM and DeepSeek in this order.
func (d *chatDecoder) complete() bool {
	switch d.stop {
	case "", "error", "network_error", "insufficient_system_resource":
		return false
	}
	return true
}

func (d *chatDecoder) finish(dst []llm.Event) []llm.Event {
	dst = d.calls.flush(dst, &d.blocks)
	if d.reasoning.open {
		dst = append(dst, llm.BlockEnd{Block: d.reasoning.block, Opaque: d.reasoning.opaque(d.endpoint.quirks)})
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
	})
}

// chatStop reads a finish_reason. Most servers say stop or tool_calls as they
// like, so the calls themselves decide whether there are any.
func chatStop(reason string) llm.StopReason {
	switch reason {
	case "length", "max_tokens", "model_length":
		return llm.StopLength
	case "content_filter", "sensitive":
		return llm.StopFilter
	}
	return llm.StopDone
}

// readUsage takes the last usage that says anything: some servers send one in
// every chunk.
func (d *chatDecoder) readUsage(u gjson.Result) {
	if !u.IsObject() || !u.Get("prompt_tokens").Exists() {
		return
	}
	cached := u.Get("prompt_tokens_details.cached_tokens")
	if !cached.Exists() {
		cached = u.Get("prompt_cache_hit_tokens")
	}
	d.measured = true
	d.usage = item.Usage{
		Input:       count(u.Get("prompt_tokens")),
		CachedInput: count(cached),
		CacheWrite:  count(u.Get("prompt_tokens_details.cache_write_tokens")),
		Output:      count(u.Get("completion_tokens")),
		Reasoning:   count(u.Get("completion_tokens_details.reasoning_tokens")),
		Requests:    1,
	}
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
