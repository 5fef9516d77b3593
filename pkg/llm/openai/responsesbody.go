package openai

import "podd/pkg/item"

// newInputEncoder begins a body for the Responses API with what stands before the items.
func newInputEncoder(dst []byte, setup item.Setup) *inputEncoder {
	dst = append(dst, `{"model":`...)
	dst = appendString(dst, setup.Model)
	dst = append(dst, `,"stream":true,"store":false`...)
	if wantsEncryptedReasoning(setup.Model) {
		dst = append(dst, `,"include":["reasoning.encrypted_content"]`...)
	}
	if setup.Instructions != "" {
		dst = appendMember(dst, "instructions", setup.Instructions)
	}
	dst = appendResponsesTools(dst, setup.Tools)
	dst = append(dst, `,"input":[`...)
	e := &inputEncoder{written: written{dst: dst}, fileRefRole: setup.FileRefRole, model: setup.Model}
	if setup.ProjectInstructions != "" {
		e.message("user", framedProject(setup.ProjectInstructions), "")
	}
	return e
}

func appendResponsesTools(dst []byte, tools []item.ToolSpec) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function"`...)
		dst = appendMember(dst, "name", t.Name)
		dst = appendMember(dst, "description", t.Description)
		dst = append(dst, `,"strict":false,"parameters":`...)
		dst = appendSchema(dst, t)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// inputEncoder appends input items, each of which is a unit.
type inputEncoder struct {
	written
	fileRefRole, model string
}

func (e *inputEncoder) next(items []item.Item) int {
	e.item(items[0])
	return 1
}

func (e *inputEncoder) end() []byte { return append(e.dst, "]}"...) }

func (e *inputEncoder) item(it item.Item) {
	switch v := it.(type) {
	case item.UserMessage:
		e.message("user", v.Text, "")
	case item.SystemMessage:
		switch {
		case !v.FromFiles():
			e.message("developer", v.Text, "")
		case e.fileRefRole == "system":
			e.message("system", v.Text, "")
		default:
			e.message("user", framedFile(v.Text), "")
		}
	case item.AssistantMessage:
		if v.Text != "" {
			e.message("assistant", v.Text, opaqueMembers(v.Opaque, APIResponses, e.model))
		}
	case item.Reasoning:
		if v.Opaque.API == APIResponses && !isForeign(v.Opaque, e.model) && isObject(v.Opaque.JSON) {
			e.open()
			e.dst = append(e.dst, v.Opaque.JSON...)
		}
	case item.ToolCall:
		e.open()
		e.dst = append(e.dst, `{"type":"function_call"`...)
		e.dst = appendMember(e.dst, "call_id", v.CallID)
		e.dst = appendMember(e.dst, "name", sentName(v.Name))
		e.dst = appendMember(e.dst, "arguments", sentArguments(v.Arguments))
		e.dst = append(e.dst, '}')
	case item.ToolResult:
		e.open()
		e.dst = append(e.dst, `{"type":"function_call_output"`...)
		e.dst = appendMember(e.dst, "call_id", v.CallID)
		e.dst = append(e.dst, `,"output":`...)
		e.dst = appendOutput(e.dst, v.Output)
		e.dst = append(e.dst, '}')
	}
}

func (e *inputEncoder) open() {
	if e.begun {
		e.dst = append(e.dst, ',')
	}
	e.begun = true
}

// message appends a message; members are further ones, already encoded.
func (e *inputEncoder) message(role, text, members string) {
	e.open()
	e.dst = append(e.dst, `{"role":"`...)
	e.dst = append(e.dst, role...)
	e.dst = append(e.dst, '"')
	e.dst = appendMember(e.dst, "content", text)
	if members != "" {
		e.dst = append(append(e.dst, ','), members...)
	}
	e.dst = append(e.dst, '}')
}
