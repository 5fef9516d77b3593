package openai

import (
	"fmt"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Body encodes a request. Package documentation says how; an error is an
// *llm.Error of class ClassInvalid or ClassNoModel.
func (c *Client) Body(r llm.Request) ([]byte, error) {
	if err := checkSetup(r.Setup); err != nil {
		return nil, err
	}
	e := c.newEncoder(make([]byte, 0, sizeHint(r)), r.Setup)
	for rest := r.Items; len(rest) > 0; {
		rest = rest[e.next(rest):]
	}
	return e.end(), nil
}

// newEncoder begins a body.
func (c *Client) newEncoder(dst []byte, s item.Setup) encoder {
	if c.endpoint.API == APIResponses {
		return newInputEncoder(dst, s)
	}
	return newChatEncoder(dst, s, c.endpoint.quirks)
}

// checkSetup refuses a setup that no request can have.
func checkSetup(s item.Setup) error {
	if s.Model == "" {
		return &llm.Error{Class: llm.ClassNoModel, Message: "the request names no model; set model in the configuration"}
	}
	for _, t := range s.Tools {
		if t.Schema != "" && !isObject(t.Schema) {
			return &llm.Error{
				Class:   llm.ClassInvalid,
				Message: fmt.Sprintf("the schema of tool %q is not a JSON object; correct the tool or remove it", t.Name),
			}
		}
	}
	return nil
}

// sizeHint spares most requests a second allocation.
func sizeHint(r llm.Request) int {
	n := 1024 + len(r.Setup.Instructions) + len(r.Setup.ProjectInstructions)
	for _, t := range r.Setup.Tools {
		n += 128 + len(t.Description) + len(t.Schema)
	}
	for _, it := range r.Items {
		n += 128
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

// appendSchema appends a tool's schema; a tool without one takes no arguments.
func appendSchema(dst []byte, t item.ToolSpec) []byte {
	if t.Schema == "" {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return append(dst, t.Schema...)
}
