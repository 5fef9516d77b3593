package scripted

import (
	"strconv"
	"strings"

	"podd/pkg/item"
)

// responsesWriter writes the events of the Responses API as OpenAI does.
type responsesWriter struct {
	s      *stream
	id     string
	seq    int
	output []object
	open   strings.Builder
}

// object is a JSON object; its keys are written sorted.
type object = map[string]any

func (w *responsesWriter) event(kind string, o object) {
	o["type"] = kind
	o["sequence_number"] = w.seq
	w.seq++
	w.s.event(kind, o)
}

func (w *responsesWriter) response(status string) object {
	return object{
		"id": "resp_" + w.id, "object": "response", "created_at": 0, "status": status, "model": w.s.r.Model,
		"output": []object{}, "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func (w *responsesWriter) begin() {
	w.event("response.created", object{"response": w.response("in_progress")})
	w.event("response.in_progress", object{"response": w.response("in_progress")})
}

func (w *responsesWriter) itemID(prefix string) string {
	return prefix + "_" + w.id + "_" + strconv.Itoa(len(w.output))
}

func (w *responsesWriter) added(it object) {
	w.event("response.output_item.added", object{"output_index": len(w.output), "item": it})
}

func (w *responsesWriter) done(it object) {
	w.event("response.output_item.done", object{"output_index": len(w.output), "item": it})
	w.output = append(w.output, it)
}

func (w *responsesWriter) text(words string, reasoning, first, last bool) {
	if first {
		w.open.Reset()
	}
	w.open.WriteString(words)
	if reasoning {
		w.reasoning(words, first, last)
		return
	}
	id, index := w.itemID("msg"), len(w.output)
	at := func(o object) object {
		o["item_id"], o["output_index"], o["content_index"] = id, index, 0
		return o
	}
	part := func(text string) object {
		return object{"type": "output_text", "text": text, "annotations": []object{}}
	}
	message := func(status string, content []object) object {
		return object{"id": id, "type": "message", "role": "assistant", "status": status, "content": content}
	}
	if first {
		w.added(message("in_progress", []object{}))
		w.event("response.content_part.added", at(object{"part": part("")}))
	}
	w.event("response.output_text.delta", at(object{"delta": words}))
	if last {
		whole := w.open.String()
		w.event("response.output_text.done", at(object{"text": whole}))
		w.event("response.content_part.done", at(object{"part": part(whole)}))
		w.done(message("completed", []object{part(whole)}))
	}
}

// reasoning sends the words as a summary, and encrypted text that must come back.
func (w *responsesWriter) reasoning(words string, first, last bool) {
	id := w.itemID("rs")
	if first {
		w.added(object{"id": id, "type": "reasoning", "summary": []object{}})
	}
	w.event("response.reasoning_summary_text.delta", object{"item_id": id, "output_index": len(w.output), "summary_index": 0, "delta": words})
	if last {
		w.done(object{
			"id": id, "type": "reasoning", "encrypted_content": sealed(w.s.r.Model) + id,
			"summary": []object{{"type": "summary_text", "text": w.open.String()}},
		})
	}
}

func (w *responsesWriter) call(c Call) {
	id := w.itemID("fc")
	it := func(status, args string) object {
		return object{"id": id, "type": "function_call", "status": status, "call_id": c.ID, "name": c.Name, "arguments": args}
	}
	w.added(it("in_progress", ""))
	for _, piece := range halves(c.Arguments) {
		w.event("response.function_call_arguments.delta", object{"item_id": id, "output_index": len(w.output), "delta": piece})
	}
	w.event("response.function_call_arguments.done", object{"item_id": id, "output_index": len(w.output), "arguments": c.Arguments})
	w.done(it("completed", c.Arguments))
}

func (w *responsesWriter) end(stop string, usage *item.Usage) {
	kind := "completed"
	r := w.response("completed")
	if stop != "" {
		kind = "incomplete"
		r["status"] = kind
		r["incomplete_details"] = object{"reason": map[string]string{"length": "max_output_tokens", "filter": "content_filter"}[stop]}
	}
	r["output"] = w.output
	if usage != nil {
		r["usage"] = object{
			"input_tokens": usage.Input, "output_tokens": usage.Output, "total_tokens": usage.Input + usage.Output,
			"input_tokens_details":  object{"cached_tokens": usage.CachedInput, "cache_write_tokens": usage.CacheWrite},
			"output_tokens_details": object{"reasoning_tokens": usage.Reasoning},
		}
	}
	w.event("response."+kind, object{"response": r})
}
