package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/workspace/picture"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// output is a result as text and images: text unchanged, and a sentence for anything else.
func output(r *sdk.CallToolResult) tool.Output {
	var parts []string
	var images []item.Image
	for _, c := range r.Content {
		data, ok := pictureOf(c)
		if !ok {
			parts = append(parts, contentText(c))
			continue
		}
		image, err := picture.Read(data, "")
		if err == nil && len(images) == item.MaxImages {
			err = fmt.Errorf("is beyond the %d that a result may have", item.MaxImages)
		}
		if err != nil {
			parts = append(parts, fmt.Sprintf("[image of %d bytes, not shown: it %v]", len(data), err))
			continue
		}
		images = append(images, image)
		parts = append(parts, "["+image.String()+"]")
	}
	text := strings.Join(parts, "\n")
	if r.StructuredContent != nil && !isJSON(r.Content, r.StructuredContent) && !covers(text, r.StructuredContent) {
		if form, err := json.Marshal(r.StructuredContent); err == nil {
			text = strings.TrimPrefix(text+"\n"+string(form), "\n")
		}
	}
	if strings.TrimSpace(text) == "" {
		text = "done, no output"
		if r.IsError {
			text = "failed without a reason"
		}
	}
	out := tool.FromString(text)
	out.IsError, out.Images = r.IsError, item.NewImages(images...)
	return out
}

// pictureOf gives the bytes of a block that may be an image.
func pictureOf(c sdk.Content) (data []byte, ok bool) {
	switch c := c.(type) {
	case *sdk.ImageContent:
		return c.Data, true
	case *sdk.EmbeddedResource:
		return blobOf(c.Resource)
	}
	return nil, false
}

// blobOf gives the bytes of a resource that is an image.
func blobOf(r *sdk.ResourceContents) (data []byte, ok bool) {
	if r == nil || picture.Kind(r.Blob) == "" {
		return nil, false
	}
	return r.Blob, true
}

// isJSON says whether a block repeats structured content as JSON, as the protocol recommends.
func isJSON(blocks []sdk.Content, content any) bool {
	return slices.ContainsFunc(blocks, func(c sdk.Content) bool {
		var same any
		t, ok := c.(*sdk.TextContent)
		return ok && json.Unmarshal([]byte(t.Text), &same) == nil && reflect.DeepEqual(same, content)
	})
}

// covers tells whether a text contains each value of structured content, as prose, as a table
// or in another form, so that the content adds nothing. A short value counts only together
// with its name.
func covers(text string, content any) bool {
	switch v := content.(type) {
	case nil:
		return true
	case map[string]any:
		for name, value := range v {
			if !covers(text, value) || short(value) && value != text && !strings.Contains(text, name) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(v, func(value any) bool { return !covers(text, value) })
	case string:
		quoted, err := json.Marshal(v)
		return strings.Contains(text, v) || err == nil && strings.Contains(text, string(quoted))
	}
	form, err := json.Marshal(content)
	return err == nil && hasWord(text, string(form))
}

// short says whether a value may occur in a text by chance.
func short(value any) bool {
	switch v := value.(type) {
	case string:
		return len(v) < 16
	case bool, float64:
		return true
	}
	return false
}

// hasWord says whether a text contains a number or a word that is not part of a longer one.
func hasWord(text, word string) bool {
	for {
		before, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !unicode.IsLetter(last) && !unicode.IsDigit(last) && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return true
		}
		text = after
	}
}

// contentText is one block of content.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.AudioContent:
		return notShown("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		link := fmt.Sprintf("[resource %s", word(c.URI))
		if name := word(cmp.Or(c.Title, c.Name)); name != "" {
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

// resourceText is a resource, or a part of one, with its URI.
func resourceText(r *sdk.ResourceContents) string {
	if len(r.Blob) > 0 {
		return notShown("resource "+word(r.URI), r.MIMEType, len(r.Blob))
	}
	return fmt.Sprintf("[resource %s]\n%s", word(r.URI), r.Text)
}

func notShown(what, mimeType string, size int) string {
	if mimeType == "" {
		mimeType = "of unknown type"
	}
	return fmt.Sprintf("[%s, %s, %d bytes: not shown, as only text and images are]", what, word(mimeType), size)
}
