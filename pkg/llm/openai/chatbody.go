package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
)

// newChatEncoder begins a body for Chat Completions with what stands before the items.
func newChatEncoder(dst []byte, setup item.Setup, q quirks) *chatEncoder {
	dst = append(dst, `{"model":`...)
	dst = appendString(dst, setup.Model)
	dst = append(dst, `,"stream":true`...)
	if !q.noStreamOptions {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	dst = appendChatTools(dst, setup.Tools)
	dst = append(dst, `,"messages":[`...)
	e := &chatEncoder{
		written: written{dst: dst}, fileRefRole: setup.FileRefRole, model: setup.Model, quirks: q,
		answerTools: wantsAnswerToTools(setup.Model),
	}
	if setup.Instructions != "" {
		e.message("system", setup.Instructions)
	}
	if setup.ProjectInstructions != "" {
		e.user(framedProject(setup.ProjectInstructions))
	}
	return e
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
		dst = appendString(dst, t.Name)
		dst = appendMember(dst, "description", t.Description)
		dst = append(dst, `,"parameters":`...)
		dst = appendSchema(dst, t)
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}

// stepLen counts the leading items that one model answer made.
func stepLen(items []item.Item) int {
	for i, it := range items {
		switch it.(type) {
		case item.AssistantMessage, item.Reasoning, item.ToolCall:
		default:
			return i
		}
	}
	return len(items)
}

// chatEncoder appends messages. A message of the user's role stays open until
// another role follows, because the next of the user's joins it. A unit is an answer of
// the model, or another item.
type chatEncoder struct {
	written
	fileRefRole, model string
	quirks             quirks
	answerTools        bool
}

func (e *chatEncoder) next(items []item.Item) int {
	if n := stepLen(items); n > 0 {
		e.assistant(items[:n])
		return n
	}
	e.item(items[0])
	return 1
}

func (e *chatEncoder) end() []byte {
	e.closeUser()
	return append(e.dst, "]}"...)
}

// item appends an item that is not the model's.
func (e *chatEncoder) item(it item.Item) {
	switch v := it.(type) {
	case item.UserMessage:
		e.user(v.Text)
	case item.SystemMessage:
		switch {
		case !v.FromFiles():
			e.user(noted(v))
		case e.fileRefRole == "system":
			e.message("system", v.Text)
		default:
			e.user(framedFile(v.Text))
		}
	case item.ToolResult:
		e.open()
		e.dst = append(e.dst, `{"role":"tool"`...)
		e.dst = appendMember(e.dst, "tool_call_id", v.CallID)
		e.dst = append(e.dst, `,"content":`...)
		e.dst = appendOutput(e.dst, v.Output)
		e.dst = append(e.dst, '}')
		e.afterTool = true
	}
}

// user appends text of the user's role.
func (e *chatEncoder) user(text string) {
	if e.userOpen {
		e.dst = append(e.dst, `\n\n`...)
	} else {
		if e.afterTool && e.answerTools {
			e.message("assistant", "Understood.")
		}
		e.open()
		e.dst = append(e.dst, `{"role":"user","content":"`...)
		e.userOpen = true
	}
	e.dst = appendEscaped(e.dst, text)
}

func (e *chatEncoder) closeUser() {
	if e.userOpen {
		e.dst = append(e.dst, `"}`...)
		e.userOpen = false
	}
}

// open ends the message before and separates the next from it.
func (e *chatEncoder) open() {
	e.closeUser()
	e.afterTool = false
	if e.begun {
		e.dst = append(e.dst, ',')
	}
	e.begun = true
}

func (e *chatEncoder) message(role, text string) {
	e.open()
	e.dst = append(e.dst, `{"role":"`...)
	e.dst = append(e.dst, role...)
	e.dst = append(e.dst, '"')
	e.dst = appendMember(e.dst, "content", text)
	e.dst = append(e.dst, '}')
}

// assistant appends the items of one answer as one message. An answer of reasoning
// alone says nothing that could be sent.
func (e *chatEncoder) assistant(items []item.Item) {
	text, reasoning, thinking, calls := "", "", "", 0
	foreign := ""
	for _, it := range items {
		switch v := it.(type) {
		case item.AssistantMessage:
			text += v.Text
		case item.Reasoning:
			if m := opaqueMembers(v.Opaque, APIChat, e.model); m != "" {
				reasoning, thinking = contentParts(m)
			} else if isForeign(v.Opaque, e.model) {
				foreign += v.Text
			}
		case item.ToolCall:
			calls++
		}
	}
	if text == "" && calls == 0 {
		return
	}
	e.open()
	e.dst = append(e.dst, `{"role":"assistant"`...)
	if reasoning != "" {
		e.dst = append(append(e.dst, ','), reasoning...)
	} else if foreign != "" && calls > 0 && e.quirks.needsReasoning {
		e.dst = appendMember(e.dst, "reasoning_content", foreign)
	}
	e.content(thinking, text)
	if calls > 0 {
		e.dst = append(e.dst, `,"tool_calls":[`...)
		e.toolCalls(items)
		e.dst = append(e.dst, ']')
	}
	e.dst = append(e.dst, '}')
}

// content appends an answer's text, as a list where reasoning is a part of it.
func (e *chatEncoder) content(thinking, text string) {
	switch {
	case thinking == "" && text == "":
		e.dst = append(e.dst, `,"content":null`...)
	case thinking == "":
		e.dst = appendMember(e.dst, "content", text)
	default:
		e.dst = append(append(e.dst, `,"content":[`...), thinking...)
		if text != "" {
			e.dst = append(e.dst, `,{"type":"text"`...)
			e.dst = append(appendMember(e.dst, "text", text), '}')
		}
		e.dst = append(e.dst, ']')
	}
}

// contentParts splits the members of reasoning that goes back: those of the message, or
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
			e.dst = append(e.dst, ',')
		}
		n++
		e.dst = append(e.dst, `{"id":`...)
		e.dst = appendString(e.dst, call.CallID)
		e.dst = append(e.dst, `,"type":"function","function":{"name":`...)
		e.dst = appendString(e.dst, sentName(call.Name))
		e.dst = appendMember(e.dst, "arguments", sentArguments(call.Arguments))
		e.dst = append(e.dst, '}')
		m := opaqueMembers(call.Opaque, APIChat, e.model)
		if isForeign(call.Opaque, e.model) {
			m = e.quirks.unsigned
		}
		if m != "" {
			e.dst = append(append(e.dst, ','), m...)
		}
		e.dst = append(e.dst, '}')
	}
}
