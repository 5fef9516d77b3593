package crash

import (
	"encoding/json"
	"errors"
	"fmt"
)

// apis are the APIs that podd is ended over.
var apis = []string{"chat", "responses", "messages"}

// part is an element of a conversation as any API writes it.
type part struct {
	// role is system, user, assistant or tool.
	role string
	// calls are those of an answer; answers is the call of a tool message.
	calls   []requestCall
	answers string
	// bare says that it has neither text nor a call.
	bare bool
}

type requestCall struct{ id, tool, arguments string }

// checkRequest says what is wrong with a request: each call has exactly one result, right
// after its answer; ids are used once and known to the model; roles are valid; and the
// last part leaves something to answer.
func checkRequest(api string, body []byte, known func(id, tool, arguments string) error) error {
	read := map[string]func([]byte) ([]part, error){"chat": readChat, "responses": readResponses, "messages": readMessages}[api]
	parts, err := read(body)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("the conversation is empty")
	}
	c := conversation{api: api, known: known, open: map[string]bool{}, used: map[string]bool{}}
	for i, p := range parts {
		if err := c.add(p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	switch {
	case len(c.open) > 0:
		return fmt.Errorf("%d calls have no result", len(c.open))
	case c.before == "assistant":
		return errors.New("the last word is the assistant's")
	}
	return nil
}

// conversation is what checkRequest knows of a conversation.
type conversation struct {
	api   string
	known func(id, tool, arguments string) error
	// open are the calls without a result, used all ids.
	open, used map[string]bool
	// before is the role of the previous part.
	before string
}

func (c *conversation) add(p part) error {
	before := c.before
	c.before = p.role
	switch p.role {
	case "tool":
		if !c.open[p.answers] {
			return fmt.Errorf("a result for %q, which waits for none", p.answers)
		}
		delete(c.open, p.answers)
		return nil
	case "system", "developer", "user", "assistant":
	default:
		return fmt.Errorf("there is no role %q", p.role)
	}
	// The parts of one answer follow each other in the Responses API.
	sameAnswer := c.api == "responses" && p.role == "assistant" && before == "assistant"
	if len(c.open) > 0 && !sameAnswer {
		return fmt.Errorf("%s speaks while %d calls have no result", p.role, len(c.open))
	}
	if p.bare && p.role != "system" && p.role != "developer" {
		return fmt.Errorf("%s says nothing", p.role)
	}
	for _, call := range p.calls {
		if c.used[call.id] {
			return fmt.Errorf("the call id %q is used twice", call.id)
		}
		if err := c.known(call.id, call.tool, call.arguments); err != nil {
			return err
		}
		c.used[call.id], c.open[call.id] = true, true
	}
	return nil
}

func readChat(body []byte) ([]part, error) {
	var r struct {
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	var parts []part
	for _, m := range r.Messages {
		p := part{role: m.Role, answers: m.ToolCallID, bare: empty(m.Content) && len(m.ToolCalls) == 0}
		for _, c := range m.ToolCalls {
			p.calls = append(p.calls, requestCall{c.ID, c.Function.Name, c.Function.Arguments})
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func readResponses(body []byte) ([]part, error) {
	var r struct {
		Input []struct {
			Type      string          `json:"type"`
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			CallID    string          `json:"call_id"`
			Name      string          `json:"name"`
			Arguments string          `json:"arguments"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	var parts []part
	for _, it := range r.Input {
		switch it.Type {
		case "reasoning":
			parts = append(parts, part{role: "assistant"})
		case "function_call":
			parts = append(parts, part{role: "assistant", calls: []requestCall{{it.CallID, it.Name, it.Arguments}}})
		case "function_call_output":
			parts = append(parts, part{role: "tool", answers: it.CallID})
		default:
			parts = append(parts, part{role: it.Role, bare: empty(it.Content)})
		}
	}
	return parts, nil
}

// readMessages reads a block of a message as a part, and an answer as one.
func readMessages(body []byte) ([]part, error) {
	var r struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				Type      string          `json:"type"`
				Text      string          `json:"text"`
				ID        string          `json:"id"`
				Name      string          `json:"name"`
				Input     json.RawMessage `json:"input"`
				ToolUseID string          `json:"tool_use_id"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	var parts []part
	for _, m := range r.Messages {
		answer := part{role: "assistant", bare: true}
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_result":
				parts = append(parts, part{role: "tool", answers: b.ToolUseID})
			case m.Role != "assistant":
				parts = append(parts, part{role: m.Role, bare: b.Text == "" && b.Type == "text"})
			case b.Type == "tool_use":
				answer.bare = false
				answer.calls = append(answer.calls, requestCall{b.ID, b.Name, string(b.Input)})
			default:
				answer.bare = answer.bare && b.Text == ""
			}
		}
		if m.Role == "assistant" {
			parts = append(parts, answer)
		}
	}
	return parts, nil
}

func empty(content json.RawMessage) bool {
	return len(content) == 0 || string(content) == "null" || string(content) == `""` || string(content) == "[]"
}
