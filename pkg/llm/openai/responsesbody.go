package openai

import (
	"strconv"

	"podd/pkg/item"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// newInputEncoder begins a body for the Responses API with everything before the items.
func newInputEncoder(w encode.Written, setup item.Setup, q exchange.Quirks) *inputEncoder {
	dst := append(w.Dst, `{"model":`...)
	dst = encode.String(dst, setup.Model)
	dst = append(dst, `,"stream":true,"store":false`...)
	if !q.NoEncryptedReasoning {
		dst = append(dst, `,"include":["reasoning.encrypted_content"]`...)
	}
	dst = responsesHead(setup, q).Append(dst, setup.Body)
	system, project := setup.System(), setup.ProjectInstructions
	marked := q.CacheBreakpoint && !encode.Adds(setup.Body, "prompt_cache_options")
	if system != "" && (!marked || project != "") {
		dst = encode.Member(dst, "instructions", system)
	}
	dst = appendResponsesTools(dst, setup.Tools)
	dst = append(dst, `,"input":[`...)
	w.Dst = dst
	e := &inputEncoder{Written: w, setup: setup}
	switch {
	case marked && project != "":
		e.marked("user", encode.FramedProject(project))
	case marked && system != "":
		e.marked("developer", system)
	case project != "":
		e.message("user", encode.FramedProject(project), "")
	}
	return e
}

// responsesHead is the options of a setup.
func responsesHead(setup item.Setup, q exchange.Quirks) *encode.Head {
	o, h := setup.Options, new(encode.Head)
	nested := func(name, member, value string) {
		if value != "" {
			h.Raw(name, append(encode.String(append(encode.String([]byte{'{'}, member), ':'), value), '}'))
		}
	}
	nested("reasoning", "effort", o.Effort)
	nested("text", "verbosity", o.Verbosity)
	h.Raw("temperature", []byte(o.Temperature))
	if o.MaxOutput > 0 {
		h.Raw("max_output_tokens", strconv.AppendInt(nil, o.MaxOutput, 10))
	}
	h.Text("service_tier", o.ServiceTier)
	if q.CacheKey && !encode.Adds(setup.Body, "prompt_cache_key") {
		h.Text("prompt_cache_key", setup.CacheKey)
	}
	return h
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
		dst = encode.Member(dst, "name", t.Name)
		dst = encode.Member(dst, "description", t.Description)
		dst = append(dst, `,"strict":false,"parameters":`...)
		dst = encode.Schema(dst, t)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// inputEncoder appends input items. A unit is an answer of the model, or another item.
type inputEncoder struct {
	encode.Written
	setup item.Setup
}

func (e *inputEncoder) Next(items []item.Item) int {
	n := encode.StepLen(items)
	for _, it := range encode.Spoken(items[:n]) {
		e.item(it)
	}
	if n == 0 {
		e.item(items[0])
		return 1
	}
	return n
}

func (e *inputEncoder) End() []byte { return append(e.Dst, "]}"...) }

func (e *inputEncoder) item(it item.Item) {
	switch v := it.(type) {
	case item.UserMessage:
		e.pictured(v.Text, v.Images)
	case item.SystemMessage:
		switch {
		case len(e.Sent(v.Images)) > 0:
			e.pictured(encode.FramedFile(v.Text), v.Images)
		case !v.FromFiles():
			e.message("developer", v.Text, "")
		case e.setup.FileRefRole == "system":
			e.message("system", e.Text(v.Text, v.Images), "")
		default:
			e.message("user", e.Text(encode.FramedFile(v.Text), v.Images), "")
		}
	case item.AssistantMessage:
		if encode.Speaks(v) {
			e.message("assistant", v.Text, encode.OpaqueMembers(v.Opaque, APIResponses, e.setup))
		}
	case item.Reasoning:
		if v.Opaque.Fits(APIResponses, e.setup) && encode.IsObject(v.Opaque.JSON) {
			e.open()
			e.Dst = append(e.Dst, v.Opaque.JSON...)
		}
	case item.ToolCall:
		e.open()
		e.Dst = append(e.Dst, `{"type":"function_call"`...)
		e.Dst = encode.Member(e.Dst, "call_id", v.CallID)
		name, arguments := v.Sent()
		e.Dst = encode.Member(e.Dst, "name", encode.ToolName(name))
		e.Dst = encode.Member(e.Dst, "arguments", encode.Arguments(arguments))
		e.Dst = append(e.Dst, '}')
	case item.ToolResult:
		e.open()
		e.Dst = append(e.Dst, `{"type":"function_call_output"`...)
		e.Dst = encode.Member(e.Dst, "call_id", v.CallID)
		e.Dst = append(e.Dst, `,"output":`...)
		if images := e.Sent(v.Images); len(images) > 0 {
			e.parts(v.Text(), images)
		} else {
			e.Dst = encode.Output(e.Dst, e.Told(v.Output))
		}
		e.Dst = append(e.Dst, '}')
	}
}

func (e *inputEncoder) open() {
	if e.Begun {
		e.Dst = append(e.Dst, ',')
	}
	e.Begun = true
}

// message appends a message; members are further ones, already encoded.
func (e *inputEncoder) message(role, text, members string) {
	e.open()
	e.Dst = append(e.Dst, `{"role":"`...)
	e.Dst = append(e.Dst, role...)
	e.Dst = append(e.Dst, '"')
	e.Dst = encode.Member(e.Dst, "content", text)
	if members != "" {
		e.Dst = append(append(e.Dst, ','), members...)
	}
	e.Dst = append(e.Dst, '}')
}

// marked appends a message up to whose end the endpoint caches: what a compaction, a rewind or a fork leaves of an earlier request.
func (e *inputEncoder) marked(role, text string) {
	e.open()
	e.Dst = append(e.Dst, `{"role":"`...)
	e.Dst = append(e.Dst, role...)
	e.Dst = append(e.Dst, `","content":[{"type":"input_text","prompt_cache_breakpoint":{"mode":"explicit"}`...)
	e.Dst = append(encode.Member(e.Dst, "text", text), "}]}"...)
}

// pictured appends a message of the user's with images.
func (e *inputEncoder) pictured(text string, all *item.Images) {
	images := e.Sent(all)
	if len(images) == 0 {
		e.message("user", e.Text(text, all), "")
		return
	}
	e.open()
	e.Dst = append(e.Dst, `{"role":"user","content":`...)
	e.parts(text, images)
	e.Dst = append(e.Dst, '}')
}

// parts appends a content of text and images.
func (e *inputEncoder) parts(text string, images []item.Image) {
	e.Dst = append(e.Dst, '[')
	if text != "" {
		e.Dst = append(encode.TextPart(e.Dst, "input_text", text), ',')
	}
	for i, image := range images {
		if i > 0 {
			e.Dst = append(e.Dst, ',')
		}
		e.Dst = append(e.Dst, `{"type":"input_image","detail":"auto","image_url":`...)
		e.Dst = append(e.DataURL(e.Dst, image), '}')
	}
	e.Dst = append(e.Dst, ']')
}
