package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/tool"
)

// output is a result as text: text as it is, and a sentence for what is none.
func output(r *sdk.CallToolResult) tool.Output {
	var parts []string
	var whole any
	given := r.StructuredContent == nil
	if !given {
		// As other JSON is decoded here.
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			_ = json.Unmarshal(text, &whole)
		}
	}
	for _, c := range r.Content {
		parts = append(parts, contentText(c))
		if t, ok := c.(*sdk.TextContent); ok && !given {
			// The protocol wants structured content to be there as text too.
			var same any
			given = json.Unmarshal([]byte(t.Text), &same) == nil && reflect.DeepEqual(same, whole)
		}
	}
	if !given {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	text := strings.Join(parts, "\n")
	if strings.TrimSpace(text) == "" {
		text = "done, with no output"
		if r.IsError {
			text = "failed, and does not say why"
		}
	}
	out := tool.FromString(text)
	out.IsError = r.IsError
	return out
}

// contentText is one block of content.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return notShown("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return notShown("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		link := fmt.Sprintf("[resource %s", word(c.URI))
		if name := word(firstOf(c.Title, c.Name)); name != "" {
			link += ": " + name
		}
		return link + "; read_resource of this server reads it]"
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "[an empty resource]"
		}
		return resourceText(c.Resource)
	}
	return fmt.Sprintf("[content of another kind, which is not shown: %T]", c)
}

// resourceText is a resource, or a part of one, under its address.
func resourceText(r *sdk.ResourceContents) string {
	if len(r.Blob) > 0 {
		return notShown("resource "+word(r.URI), r.MIMEType, len(r.Blob))
	}
	return fmt.Sprintf("[resource %s]\n%s", word(r.URI), r.Text)
}

func notShown(what, mimeType string, size int) string {
	if mimeType == "" {
		mimeType = "of no stated type"
	}
	return fmt.Sprintf("[%s, %s, %d bytes: not shown, as only text is]", what, word(mimeType), size)
}
