package openai

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// newChatEncoder begins a body for Chat Completions with everything before the items.
func newChatEncoder(w encode.Written, setup item.Setup, items []item.Item, q exchange.Quirks) *chatEncoder {
	dst := append(w.Dst, `{"model":`...)
	dst = encode.String(dst, setup.Model)
	dst = append(dst, `,"stream":true`...)
	if !q.NoStreamOptions {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	dst = chatHead(setup, q).Append(dst, setup.Body)
	dst = appendChatTools(dst, setup.Tools)
	dst = append(dst, `,"messages":[`...)
	w.Dst = dst
	e := &chatEncoder{
		Written: w, Runs: encode.RunsOf(setup), setup: setup, quirks: q,
		items: items,
	}
	if text := setup.System(); text != "" {
		e.message("system", text)
	}
	if setup.ProjectInstructions != "" {
		e.user(encode.FramedProject(setup.ProjectInstructions))
	}
	return e
}

// chatHead is the options of a setup.
func chatHead(setup item.Setup, q exchange.Quirks) *encode.Head {
	o, h := setup.Options, new(encode.Head)
	h.Text("reasoning_effort", o.Effort)
	h.Text("verbosity", o.Verbosity)
	h.Raw("temperature", []byte(o.Temperature))
	if o.MaxOutput > 0 {
		name := "max_completion_tokens"
		if q.OldMaxTokens {
			name = "max_tokens"
		}
		h.Raw(name, strconv.AppendInt(nil, o.MaxOutput, 10))
	}
	h.Text("service_tier", o.ServiceTier)
	if q.CacheKey && !encode.Adds(setup.Body, "prompt_cache_key") {
		h.Text("prompt_cache_key", setup.CacheKey)
	}
	return h
}

func appendChatTools(dst []byte, tools []item.ToolSpec) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = encode.String(dst, t.Name)
		dst = encode.Member(dst, "description", t.Description)
		dst = append(dst, `,"parameters":`...)
		dst = encode.Schema(dst, t)
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}

// chatEncoder appends messages. A user message stays open until another role follows,
// because the next user message joins it. A unit is an answer of the model, the results of
// its calls, or another item.
type chatEncoder struct {
	encode.Written
	encode.Runs
	setup  item.Setup
	quirks exchange.Quirks
	// items are those from the next on.
	items []item.Item
}

func (e *chatEncoder) Next(items []item.Item) int {
	e.items = items
	if n := encode.StepLen(items); n > 0 {
		e.assistant(items[:n])
		return n
	}
	if n := encode.ResultsLen(items); n > 0 {
		e.results(items[:n])
		return n
	}
	e.item(items[0])
	return 1
}

func (e *chatEncoder) End() []byte {
	e.closeUser()
	return append(e.Dst, "]}"...)
}

// item appends an item that is not the model's.
func (e *chatEncoder) item(it item.Item) {
	switch v := it.(type) {
	case item.UserMessage:
		e.user(e.Text(v.Text, v.Images), e.Sent(v.Images)...)
	case item.SystemMessage:
		switch {
		case !v.FromFiles():
			e.user(encode.Noted(v))
		case !e.Joins(v):
			e.message("system", e.Text(v.Text, v.Images))
		default:
			e.user(e.Text(encode.FramedFile(v.Text), v.Images), e.Sent(v.Images)...)
		}
	}
}

// results appends the results of one step. A message of a tool has text alone, so their
// images follow as the user's.
func (e *chatEncoder) results(items []item.Item) {
	var names []string
	var images []item.Image
	for _, it := range items {
		r, ok := it.(item.ToolResult)
		if !ok {
			continue
		}
		e.open()
		e.Dst = append(e.Dst, `{"role":"tool"`...)
		e.Dst = encode.Member(e.Dst, "tool_call_id", e.callID(r.CallID))
		e.Dst = append(e.Dst, `,"content":`...)
		e.Dst = encode.Output(e.Dst, e.Told(r.Output))
		e.Dst = append(e.Dst, '}')
		e.AfterTool = true
		for _, image := range e.Sent(r.Images) {
			names, images = append(names, image.String()), append(images, image)
		}
	}
	if len(images) > 0 {
		e.items = nil
		e.user("[podd note: images of the results above: "+strings.Join(names, "; ")+"]", images...)
	}
}

// user appends text and images with the user's role.
func (e *chatEncoder) user(text string, images ...item.Image) {
	pictured := len(images) > 0 || e.Ahead(e.items)
	if pictured && e.UserOpen && !e.InParts {
		// An answer without text and calls stands between. What was sent before it stays as it
		// was, and the roles alternate.
		e.message("assistant", "Understood.")
	}
	opens := !e.UserOpen
	if opens {
		e.openUser(pictured)
	}
	switch {
	case !e.InParts && opens:
		e.Dst = encode.Escaped(e.Dst, text)
		return
	case !e.InParts:
		e.Dst = encode.Escaped(append(e.Dst, `\n\n`...), text)
		return
	case text != "" || opens && len(images) == 0:
		e.part(opens)
		e.Dst = encode.TextPart(e.Dst, "text", text)
		opens = false
	}
	for _, image := range images {
		e.part(opens)
		e.Dst = append(e.Dst, `{"type":"image_url","image_url":{"url":`...)
		e.Dst = append(e.DataURL(e.Dst, image), "}}"...)
		opens = false
	}
}

// part separates a part from the one before.
func (e *chatEncoder) part(first bool) {
	if !first {
		e.Dst = append(e.Dst, ',')
	}
}

// openUser begins a message of the user's role.
func (e *chatEncoder) openUser(inParts bool) {
	if e.AfterTool && e.quirks.AnswersTools {
		e.message("assistant", "Understood.")
	}
	e.open()
	e.Dst = append(e.Dst, `{"role":"user","content":`...)
	e.UserOpen, e.InParts = true, inParts
	if inParts {
		e.Dst = append(e.Dst, '[')
	} else {
		e.Dst = append(e.Dst, '"')
	}
}

func (e *chatEncoder) closeUser() {
	switch {
	case !e.UserOpen:
		return
	case e.InParts:
		e.Dst = append(e.Dst, "]}"...)
	default:
		e.Dst = append(e.Dst, `"}`...)
	}
	e.UserOpen, e.InParts = false, false
}

// open ends the previous message and separates the next from it.
func (e *chatEncoder) open() {
	e.closeUser()
	e.AfterTool = false
	if e.Begun {
		e.Dst = append(e.Dst, ',')
	}
	e.Begun = true
}

func (e *chatEncoder) message(role, text string) {
	e.open()
	e.Dst = append(e.Dst, `{"role":"`...)
	e.Dst = append(e.Dst, role...)
	e.Dst = append(e.Dst, '"')
	e.Dst = encode.Member(e.Dst, "content", text)
	e.Dst = append(e.Dst, '}')
}

// assistant appends the items of one answer as one message. An answer without text and
// calls has nothing to send.
func (e *chatEncoder) assistant(items []item.Item) {
	text, reasoning, thinking, calls := "", "", "", 0
	foreign := ""
	for _, it := range items {
		switch v := it.(type) {
		case item.AssistantMessage:
			text += v.Text
		case item.Reasoning:
			if m := encode.OpaqueMembers(v.Opaque, APIChat, e.setup); m != "" {
				reasoning, thinking = contentParts(m)
			} else if encode.IsForeign(v.Opaque, APIChat, e.setup) {
				foreign += v.Text
			}
		case item.ToolCall:
			calls++
		}
	}
	if strings.TrimSpace(text) == "" && calls == 0 {
		return
	}
	e.open()
	e.Dst = append(e.Dst, `{"role":"assistant"`...)
	if reasoning != "" {
		e.Dst = append(append(e.Dst, ','), reasoning...)
	} else if foreign != "" && calls > 0 && e.quirks.NeedsReasoning {
		e.Dst = encode.Member(e.Dst, "reasoning_content", foreign)
	}
	e.content(thinking, text)
	if calls > 0 {
		e.Dst = append(e.Dst, `,"tool_calls":[`...)
		e.toolCalls(items)
		e.Dst = append(e.Dst, ']')
	}
	e.Dst = append(e.Dst, '}')
}

// content appends an answer's text, as a list if reasoning is a part of it.
func (e *chatEncoder) content(thinking, text string) {
	switch {
	case thinking == "" && text == "":
		e.Dst = append(e.Dst, `,"content":null`...)
	case thinking == "":
		e.Dst = encode.Member(e.Dst, "content", text)
	default:
		e.Dst = append(append(e.Dst, `,"content":[`...), thinking...)
		if text != "" {
			e.Dst = append(e.Dst, `,{"type":"text"`...)
			e.Dst = append(encode.Member(e.Dst, "text", text), '}')
		}
		e.Dst = append(e.Dst, ']')
	}
}

// contentParts returns reasoning to send back: either as members of the message, or as
// parts of its content, without the brackets of their list.
func contentParts(members string) (ofMessage, parts string) {
	if !strings.HasPrefix(members, `"content":[`) {
		return members, ""
	}
	parts = gjson.Get("{"+members+"}", "content").Raw
	return "", strings.TrimSpace(parts[1 : len(parts)-1])
}

func (e *chatEncoder) toolCalls(items []item.Item) {
	n := 0
	for _, it := range items {
		call, ok := it.(item.ToolCall)
		if !ok {
			continue
		}
		if n > 0 {
			e.Dst = append(e.Dst, ',')
		}
		n++
		e.Dst = append(e.Dst, `{"id":`...)
		e.Dst = encode.String(e.Dst, e.callID(call.CallID))
		e.Dst = append(e.Dst, `,"type":"function","function":{"name":`...)
		name, arguments := call.Sent()
		e.Dst = encode.String(e.Dst, encode.ToolName(name))
		e.Dst = encode.Member(e.Dst, "arguments", encode.Arguments(arguments))
		e.Dst = append(e.Dst, '}')
		m := encode.OpaqueMembers(call.Opaque, APIChat, e.setup)
		if encode.IsForeign(call.Opaque, APIChat, e.setup) {
			m = e.quirks.Unsigned
		}
		if m != "" {
			e.Dst = append(append(e.Dst, ','), m...)
		}
		e.Dst = append(e.Dst, '}')
	}
}

// shortID matches the ids of calls that every host accepts.
var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// callID is a call's id as the host accepts it: another one may have given it.
func (e *chatEncoder) callID(id string) string {
	if !e.quirks.ShortCallIDs {
		return id
	}
	return encode.CallID(id, shortID)
}
