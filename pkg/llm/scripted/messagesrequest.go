package scripted

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/lazy"
)

// messagesRequest has the members of a request of the Messages API. Others are refused.
type messagesRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int64           `json:"max_tokens"`
	Stream      bool            `json:"stream"`
	Cache       *cacheControl   `json:"cache_control"`
	System      []messagesBlock `json:"system"`
	Tools       []messagesTool  `json:"tools"`
	Thinking    *thinkingMode   `json:"thinking"`
	Output      *outputConfig   `json:"output_config"`
	Temperature *float64        `json:"temperature"`
	Tier        string          `json:"service_tier"`
	Messages    []struct {
		Role    string          `json:"role"`
		Content []messagesBlock `json:"content"`
	} `json:"messages"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type thinkingMode struct {
	Type    string `json:"type"`
	Budget  int64  `json:"budget_tokens"`
	Display string `json:"display"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type messagesTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      struct {
		Type string `json:"type"`
	} `json:"input_schema"`
	Cache *cacheControl `json:"cache_control"`
}

// messagesBlock is a block of any type.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   resultContent   `json:"content"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	Cache *cacheControl `json:"cache_control"`
}

// resultContent is text, or a list of blocks.
type resultContent []messagesBlock

// UnmarshalJSON reads either form.
func (c *resultContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = resultContent{{Type: "text", Text: &text}}
		return nil
	}
	return json.Unmarshal(data, (*[]messagesBlock)(c))
}

var (
	blockID  = lazy.Regexp(`^[a-zA-Z0-9_-]+$`)
	toolName = lazy.Regexp(`^[a-zA-Z0-9_-]{1,128}$`)
	// half finds the halves of surrogate pairs, which the API refuses alone.
	half = lazy.Regexp(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)
)

// parseMessages reads a body and refuses what the Messages API refuses.
func parseMessages(body []byte) (Request, error) {
	var w messagesRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("the body cannot be read: %w", err)
	}
	r := Request{API: "messages", Model: w.Model, Body: body}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, b := range w.System {
		r.Instructions += text(b)
	}
	if err := w.check(body); err != nil {
		return r, err
	}
	c := conversation{model: w.Model, open: map[string]bool{}, used: map[string]bool{}}
	for i, m := range w.Messages {
		if err := c.message(&r, m.Role, m.Content); err != nil {
			return r, fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	if len(c.open) > 0 || c.role != "user" {
		return r, errors.New("messages: the conversation must end with a user message, and with the results of all calls")
	}
	if w.Thinking != nil && w.Thinking.Type == "enabled" && c.unsigned != "" {
		return r, fmt.Errorf("messages: Expected `thinking` or `redacted_thinking`, but found `%s`: when `thinking` is enabled, a final `assistant` message must start with a thinking block", c.unsigned)
	}
	return r, nil
}

// check refuses what is wrong outside of the messages.
func (w *messagesRequest) check(body []byte) error {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(body, &members)
	for name := range members {
		switch name {
		case "model", "max_tokens", "stream", "cache_control", "system", "tools", "thinking", "output_config", "temperature", "service_tier", "messages":
		default:
			return fmt.Errorf("%s: Extra inputs are not permitted", name)
		}
	}
	for _, found := range half().FindAll(body, -1) {
		if len(found) == 6 {
			return errors.New("the request body is not valid JSON: no low surrogate in string")
		}
	}
	switch {
	case w.Model == "":
		return errors.New("model: Field required")
	case w.MaxTokens < 1:
		return errors.New("max_tokens: Field required")
	case !w.Stream:
		return errors.New("this server only streams; set stream to true")
	case len(w.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case marks(body) > 4:
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", marks(body))
	}
	if err := errors.Join(w.Cache.check(), w.checkReasoning()); err != nil {
		return err
	}
	for i, b := range w.System {
		if b.Type != "text" || strings.TrimSpace(text(b)) == "" {
			return fmt.Errorf("system.%d: text content blocks must be non-empty", i)
		}
		if err := b.Cache.check(); err != nil {
			return err
		}
	}
	for i, t := range w.Tools {
		if !toolName().MatchString(t.Name) || t.Schema.Type != "object" {
			return fmt.Errorf("tools.%d: name or input_schema is not valid", i)
		}
	}
	return nil
}

// marks counts the cache marks of a request.
func marks(body []byte) int { return bytes.Count(body, []byte(`"cache_control":{`)) }

func text(b messagesBlock) string {
	if b.Text == nil {
		return ""
	}
	return *b.Text
}

// conversation checks messages one after the other.
type conversation struct {
	model, role string
	// open are the calls without a result, used all ids.
	open, used map[string]bool
	// loops says that the last answer made calls; unsigned is the type of the first block of
	// the loop of calls that it belongs to, if that is not thinking.
	loops    bool
	unsigned string
}

// message checks a message and adds it to the request.
func (c *conversation) message(r *Request, role string, blocks []messagesBlock) error {
	switch {
	case role != "user" && role != "assistant":
		return fmt.Errorf("role: Input should be 'user' or 'assistant', not %q", role)
	case role == c.role || c.role == "" && role != "user":
		return errors.New("roles must alternate between user and assistant, beginning with user")
	case len(blocks) == 0:
		return errors.New("content must be non-empty")
	}
	c.role = role
	if role == "assistant" {
		return c.answer(r, blocks)
	}
	return c.user(r, blocks)
}

func (c *conversation) answer(r *Request, blocks []messagesBlock) error {
	m := Message{Role: "assistant"}
	for i, b := range blocks {
		var err error
		switch b.Type {
		case "text":
			err = spoken(b)
			m.Text += text(b)
		case "thinking":
			if b.Thinking == nil || b.Signature != sign(c.model, *b.Thinking) {
				err = errors.New("Invalid `signature` in `thinking` block") //nolint:staticcheck // the API's own words
			}
		case "redacted_thinking":
			if b.Data != sign(c.model, "") {
				err = errors.New("Invalid `data` in `redacted_thinking` block") //nolint:staticcheck // the API's own words
			}
		case "tool_use":
			err = c.call(b)
			m.Calls = append(m.Calls, Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		default:
			err = fmt.Errorf("an assistant cannot say a block of type %q", b.Type)
		}
		if err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
	}
	switch last := blocks[len(blocks)-1].Type; {
	case strings.HasSuffix(last, "thinking"):
		return errors.New("the final block in an assistant message cannot be `thinking`")
	case last == "text" && len(m.Calls) > 0:
		return errors.New("`tool_use` ids were found without `tool_result` blocks immediately after: the final block is `text`")
	}
	if first := blocks[0].Type; len(m.Calls) == 0 || !c.loops {
		c.unsigned = ""
		if len(m.Calls) > 0 && !strings.HasSuffix(first, "thinking") {
			c.unsigned = first
		}
	}
	c.loops = len(m.Calls) > 0
	r.Messages = append(r.Messages, m)
	return nil
}

func (c *conversation) call(b messagesBlock) error {
	var input map[string]json.RawMessage
	switch {
	case !blockID().MatchString(b.ID):
		return fmt.Errorf("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$', not %q", b.ID)
	case c.used[b.ID]:
		return fmt.Errorf("tool_use.id: %q is used twice", b.ID)
	case !toolName().MatchString(b.Name):
		return fmt.Errorf("tool_use.name: %q is no name", b.Name)
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return errors.New("tool_use.input: Input should be a valid dictionary")
	}
	c.used[b.ID], c.open[b.ID] = true, true
	return nil
}

func (c *conversation) user(r *Request, blocks []messagesBlock) error {
	var said []string
	m := Message{Role: "user"}
	others := false
	for i, b := range blocks {
		var err error
		switch {
		case b.Type == "tool_result" && (others || !c.open[b.ToolUseID]):
			err = fmt.Errorf("unexpected tool_use_id %q: results stand first, one for each call of the previous message", b.ToolUseID)
		case b.Type == "tool_result":
			delete(c.open, b.ToolUseID)
			result := Message{Role: "tool", CallID: b.ToolUseID}
			for _, part := range b.Content {
				if part.Type == "image" {
					err = errors.Join(err, pictured(part, &result.Images))
				}
				result.Text += text(part)
			}
			r.Messages = append(r.Messages, result)
		case b.Type == "text":
			err, others = spoken(b), true
			said = append(said, text(b))
		case b.Type == "image":
			err, others = pictured(b, &m.Images), true
		default:
			err = fmt.Errorf("a user cannot say a block of type %q", b.Type)
		}
		if err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
	}
	if len(c.open) > 0 {
		return fmt.Errorf("%d `tool_use` ids were found without `tool_result` blocks immediately after", len(c.open))
	}
	if others {
		m.Text = strings.Join(said, "\n\n")
		r.Messages = append(r.Messages, m)
	}
	return nil
}

// spoken refuses text that says nothing.
func spoken(b messagesBlock) error {
	if strings.TrimSpace(text(b)) == "" {
		return errors.New("text content blocks must contain non-whitespace text")
	}
	return nil
}

// pictured adds an image as a data URL.
func pictured(b messagesBlock, images *[]string) error {
	s := b.Source
	if s == nil || s.Type != "base64" || s.MediaType != "image/png" && s.MediaType != "image/jpeg" {
		return errors.New("image.source is not an image in base64")
	}
	if _, err := base64.StdEncoding.DecodeString(s.Data); err != nil {
		return errors.New("image.source.base64: invalid base64 data")
	}
	*images = append(*images, "data:"+s.MediaType+";base64,"+s.Data)
	return nil
}
