package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"podd/pkg/item"
)

// messagesWriter writes the events of Anthropic's Messages API.
type messagesWriter struct {
	s      *stream
	id     string
	index  int
	calls  int
	opened strings.Builder
}

func (w *messagesWriter) event(kind string, o object) {
	o["type"] = kind
	w.s.event(kind, o)
}

// billed is a usage as the API counts: what is cached is not a part of the input.
func billed(u *item.Usage, output int64) object {
	return object{
		"input_tokens": u.Input - u.CachedInput - u.CacheWrite, "cache_read_input_tokens": u.CachedInput,
		"cache_creation_input_tokens": u.CacheWrite, "output_tokens": output,
		"output_tokens_details": object{"thinking_tokens": min(u.Reasoning, output)},
	}
}

func (w *messagesWriter) begin() {
	message := object{
		"id": "msg_" + w.id, "type": "message", "role": "assistant", "model": w.s.r.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
	}
	if u := w.s.usage(); u != nil {
		message["usage"] = billed(u, 1)
	}
	w.event("message_start", object{"message": message})
	w.event("ping", object{})
}

func (w *messagesWriter) start(block object) {
	w.event("content_block_start", object{"index": w.index, "content_block": block})
}

func (w *messagesWriter) delta(kind, member, text string) {
	w.event("content_block_delta", object{"index": w.index, "delta": object{"type": kind, member: text}})
}

func (w *messagesWriter) stop() {
	w.event("content_block_stop", object{"index": w.index})
	w.index++
}

func (w *messagesWriter) text(words string, reasoning, first, last bool) {
	switch {
	case first && reasoning && words == "":
		w.start(object{"type": "redacted_thinking", "data": sign(w.s.r.Model, "")})
		w.stop()
		return
	case first && reasoning:
		w.opened.Reset()
		w.start(object{"type": "thinking", "thinking": "", "signature": ""})
	case first:
		w.start(object{"type": "text", "text": ""})
	}
	if !reasoning {
		w.delta("text_delta", "text", words)
	} else {
		w.opened.WriteString(words)
		w.delta("thinking_delta", "thinking", words)
	}
	if last {
		if reasoning {
			w.delta("signature_delta", "signature", sign(w.s.r.Model, w.opened.String()))
		}
		w.stop()
	}
}

func (w *messagesWriter) call(c Call) {
	w.calls++
	w.start(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}})
	for _, piece := range append([]string{""}, halves(c.Arguments)...) {
		w.delta("input_json_delta", "partial_json", piece)
	}
	w.stop()
}

func (w *messagesWriter) end(stop string, usage *item.Usage) {
	reason := map[string]string{"length": "max_tokens", "filter": "refusal"}[stop]
	switch {
	case reason != "":
	case w.calls > 0:
		reason = "tool_use"
	default:
		reason = "end_turn"
	}
	o := object{"delta": object{"stop_reason": reason, "stop_sequence": nil}}
	if usage != nil {
		o["usage"] = billed(usage, usage.Output)
	}
	w.event("message_delta", o)
	w.event("message_stop", object{})
}

// sign is what the server adds to thinking and asks for when it comes back.
func sign(model, thinking string) string {
	sum := sha256.Sum256([]byte(model + "\x00" + thinking))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// errorTypes are the types of errors by status.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

// messagesError is an error as the Messages API sends it: it has types and no codes, so a
// code of a script becomes a type or words.
func messagesError(status int, code, message string) (int, string) {
	switch code {
	case "insufficient_quota":
		status = 402
	case "context_length_exceeded":
		status, message = 400, "prompt is too long: "+message
	case "model_not_found":
		status, message = 404, "model: "+message
	}
	if status == 503 {
		status = 529
	}
	kind := errorTypes[status]
	if kind == "" {
		kind = "api_error"
	}
	return status, string(encode(object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_scripted"}))
}
