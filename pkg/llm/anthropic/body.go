package anthropic

import (
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/lazy"
	"podd/pkg/llm"
	"podd/pkg/llm/encode"
)

// callID matches the ids that the API accepts.
var callID = lazy.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)

// begin begins a body with everything before the items.
func (c *Client) begin(w encode.Written, r llm.Request) encode.Units {
	s, quirks := r.Setup, c.Endpoint.Quirks(r.Setup.Model)
	dst := append(w.Dst, `{"model":`...)
	dst = encode.String(dst, s.Model)
	dst = appendHead(dst, s, quirks)
	e := &encoder{setup: s}
	if quirks.CacheMarks && !encode.Adds(s.Body, "cache_control") {
		e.mark = mark(s.Options.CacheTTL)
	}
	if text := s.System(); !blank(text) {
		dst = append(dst, `,"system":[`...)
		dst = open(textBlock(dst, text))
		dst = append(append(dst, e.mark...), "}]"...)
	}
	dst = appendTools(dst, s.Tools)
	w.Dst = append(dst, `,"messages":[`...)
	e.Written = w
	if s.ProjectInstructions != "" {
		e.said(encode.FramedProject(s.ProjectInstructions))
	}
	return e
}

func appendTools(dst []byte, tools []item.ToolSpec) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		dst = encode.String(dst, t.Name)
		dst = encode.Member(dst, "description", t.Description)
		dst = append(dst, `,"input_schema":`...)
		dst = append(encode.Schema(dst, t), '}')
	}
	return append(dst, ']')
}

// encoder appends messages. A message of the user's and its last block stay open until
// something follows: only the last block of a body has a mark, which closes it. A unit is an
// answer of the model, or another item.
type encoder struct {
	encode.Written
	setup item.Setup
	// mark is the member that marks a block; empty for none.
	mark string
}

// Next appends a unit.
func (e *encoder) Next(items []item.Item) int {
	if n := encode.StepLen(items); n > 0 {
		e.answer(items[:n])
		return n
	}
	switch v := items[0].(type) {
	case item.UserMessage:
		e.said(e.Text(v.Text, v.Images), e.Sent(v.Images)...)
	case item.SystemMessage:
		if v.FromFiles() {
			e.said(e.Text(encode.FramedFile(v.Text), v.Images), e.Sent(v.Images)...)
		} else {
			e.said(encode.Noted(v))
		}
	case item.ToolResult:
		e.result(v)
	}
	return 1
}

// End closes the body.
func (e *encoder) End() []byte {
	if e.UserOpen {
		e.Dst = append(e.Dst, e.mark...)
	}
	e.closeUser()
	return append(e.Dst, "]}"...)
}

// block begins a block of a message of the user's, which is to be left open.
func (e *encoder) block() {
	if e.UserOpen {
		e.Dst = append(e.Dst, "},"...)
		return
	}
	e.message("user")
	e.UserOpen = true
}

// message begins a message.
func (e *encoder) message(role string) {
	e.closeUser()
	if e.Begun {
		e.Dst = append(e.Dst, ',')
	}
	e.Begun = true
	e.Dst = append(e.Dst, `{"role":"`...)
	e.Dst = append(e.Dst, role...)
	e.Dst = append(e.Dst, `","content":[`...)
}

func (e *encoder) closeUser() {
	if e.UserOpen {
		e.Dst = append(e.Dst, "}]}"...)
	}
	e.UserOpen = false
}

// said appends text and images with the user's role. Something must be said, because a
// message without blocks is refused.
func (e *encoder) said(text string, images ...item.Image) {
	if blank(text) && len(images) == 0 {
		text = "[no text]"
	}
	if !blank(text) {
		e.block()
		e.Dst = open(textBlock(e.Dst, text))
	}
	for _, image := range images {
		e.block()
		e.image(image)
		e.Dst = open(e.Dst)
	}
}

// image appends a block with an image.
func (e *encoder) image(image item.Image) {
	e.Dst = append(e.Dst, `{"type":"image","source":{"type":"base64"`...)
	e.Dst = encode.Member(e.Dst, "media_type", image.MediaType)
	e.Dst = append(e.Dst, `,"data":"`...)
	e.Dst = append(e.Base64(e.Dst, image), `"}}`...)
}

// result appends a result. One without content has no such member.
func (e *encoder) result(r item.ToolResult) {
	e.block()
	e.Dst = append(e.Dst, `{"type":"tool_result"`...)
	e.Dst = encode.Member(e.Dst, "tool_use_id", encode.CallID(r.CallID, callID()))
	if r.IsError {
		e.Dst = append(e.Dst, `,"is_error":true`...)
	}
	told, images := e.Told(r.Output), e.Sent(r.Images)
	says := !blank(told.Summary) || !blank(told.Content)
	switch {
	case len(images) > 0:
		e.Dst = append(e.Dst, `,"content":[`...)
		if says {
			e.Dst = append(textBlock(e.Dst, told.Text()), ',')
		}
		for i, image := range images {
			if i > 0 {
				e.Dst = append(e.Dst, ',')
			}
			e.image(image)
		}
		e.Dst = append(e.Dst, ']')
	case says:
		e.Dst = append(e.Dst, `,"content":`...)
		e.Dst = encode.Output(e.Dst, told)
	}
}

// answer appends the items of one answer as one message, without the reasoning after its
// last word or call.
func (e *encoder) answer(items []item.Item) {
	items = encode.Spoken(callsLast(items))
	if len(items) == 0 {
		return
	}
	e.message("assistant")
	begun := false
	for _, it := range items {
		before := len(e.Dst)
		if begun {
			e.Dst = append(e.Dst, ',')
		}
		start := len(e.Dst)
		switch v := it.(type) {
		case item.Reasoning:
			if v.Opaque.Fits(API, e.setup) && encode.IsObject(v.Opaque.JSON) {
				e.Dst = encode.Raw(e.Dst, v.Opaque.JSON)
			}
		case item.AssistantMessage:
			if encode.Speaks(v) {
				e.Dst = textBlock(e.Dst, v.Text)
			}
		case item.ToolCall:
			e.call(v)
		}
		if len(e.Dst) == start {
			e.Dst = e.Dst[:before]
			continue
		}
		begun = true
	}
	e.Dst = append(e.Dst, "]}"...)
}

// callsLast are items of an answer with the text after the last calls before them: the API
// wants the results of calls right behind them.
func callsLast(items []item.Item) []item.Item {
	isCall := func(it item.Item) bool { _, ok := it.(item.ToolCall); return ok }
	end := len(items)
	for end > 0 && !isCall(items[end-1]) {
		end--
	}
	first := end
	for first > 0 && isCall(items[first-1]) {
		first--
	}
	if first == end || !slices.ContainsFunc(items[end:], encode.Speaks) {
		return items
	}
	said := slices.DeleteFunc(slices.Clone(items[end:]), func(it item.Item) bool { return !encode.Speaks(it) })
	return slices.Concat(items[:first], said, items[first:end])
}

func (e *encoder) call(call item.ToolCall) {
	name, arguments := call.Sent()
	e.Dst = append(e.Dst, `{"type":"tool_use"`...)
	e.Dst = encode.Member(e.Dst, "id", encode.CallID(call.CallID, callID()))
	e.Dst = encode.Member(e.Dst, "name", encode.ToolName(name))
	e.Dst = append(e.Dst, `,"input":`...)
	e.Dst = encode.Raw(e.Dst, encode.Arguments(arguments))
	e.Dst = append(e.Dst, '}')
}

// textBlock appends a block with text.
func textBlock(dst []byte, text string) []byte { return encode.TextPart(dst, "text", text) }

// open opens the block that was written last again.
func open(dst []byte) []byte { return dst[:len(dst)-1] }

// blank says whether text has nothing to read.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
