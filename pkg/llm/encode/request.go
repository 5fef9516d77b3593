package encode

import (
	"fmt"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// CheckSetup refuses a setup that no request can have.
func CheckSetup(s item.Setup) error {
	if s.Model == "" {
		return &llm.Error{Class: llm.ClassNoModel, Message: "the request names no model; set model in the configuration"}
	}
	for _, t := range s.Tools {
		if t.Schema != "" && !IsObject(t.Schema) {
			return &llm.Error{
				Class:   llm.ClassInvalid,
				Message: fmt.Sprintf("the schema of tool %q is not a JSON object; correct the tool or remove it", t.Name),
			}
		}
	}
	return nil
}

// sizeHint saves most requests a second allocation.
func sizeHint(r llm.Request) int {
	n := 1024 + len(r.Setup.System()) + len(r.Setup.ProjectInstructions)
	for _, t := range r.Setup.Tools {
		n += 128 + len(t.Description) + len(t.Schema)
	}
	for _, it := range r.Items {
		n += 128
		for _, image := range item.ImagesOf(it) {
			n += 128 + int(image.Bytes)*4/3
		}
		switch v := it.(type) {
		case item.UserMessage:
			n += len(v.Text)
		case item.SystemMessage:
			n += len(v.Text)
		case item.AssistantMessage:
			n += len(v.Text) + len(v.Opaque.JSON)
		case item.Reasoning:
			n += len(v.Opaque.JSON)
		case item.ToolCall:
			n += len(v.Arguments) + len(v.Opaque.JSON)
		case item.ToolResult:
			n += len(v.Summary) + len(v.Content)
		}
	}
	return n + n/16
}

// Schema appends a tool's schema; a tool without one takes no arguments.
func Schema(dst []byte, t item.ToolSpec) []byte {
	if t.Schema == "" {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return append(dst, t.Schema...)
}
