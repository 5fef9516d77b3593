package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Request is a model request as it arrived, in one form for both APIs.
type Request struct {
	// API is "responses" or "chat".
	API   string
	Model string
	// Instructions are the system messages before the conversation.
	Instructions string
	// Tools are the names of the tools that are offered.
	Tools []string
	// Messages are the conversation. What a model answered in one step is one
	// message.
	Messages []Message
	// Body is the request as it came.
	Body []byte
	// Attempt counts how often exactly this body came, from 1.
	Attempt int
}

// Message is one element of a conversation.
type Message struct {
	// Role is system, developer, user, assistant or tool.
	Role string
	Text string
	// Calls are an assistant's.
	Calls []Call
	// CallID is the call that a tool message answers.
	CallID string
}

// Steps counts the answers in the conversation.
func (r Request) Steps() int { return steps(r.Messages) }

// LastUser is the text of the last user message.
func (r Request) LastUser() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.Text
		}
	}
	return ""
}

// Results are the tool results since the last answer.
func (r Request) Results() []Message {
	var out []Message
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "assistant" {
			break
		}
		if m.Role == "tool" {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

func steps(messages []Message) int {
	n := 0
	for _, m := range messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// content is text, or a list of parts with text.
type content string

// UnmarshalJSON reads either form, and null.
func (c *content) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*c = content(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content is neither text nor a list of parts")
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// wireRequest has the members of both APIs.
type wireRequest struct {
	Model        string `json:"model"`
	Stream       bool   `json:"stream"`
	Instructions string `json:"instructions"`
	Tools        []struct {
		Name     string   `json:"name"`
		Function function `json:"function"`
	} `json:"tools"`
	Messages []struct {
		Role       string  `json:"role"`
		Content    content `json:"content"`
		ToolCallID string  `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string   `json:"id"`
			Function function `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Input []struct {
		Type      string  `json:"type"`
		Role      string  `json:"role"`
		Content   content `json:"content"`
		CallID    string  `json:"call_id"`
		Name      string  `json:"name"`
		Arguments string  `json:"arguments"`
		Output    content `json:"output"`
	} `json:"input"`
}

// parseRequest reads a body. Its errors are what the endpoint answers.
func parseRequest(api string, body []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("the body cannot be read: %w", err)
	}
	r := Request{API: api, Model: w.Model, Instructions: w.Instructions, Body: body}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name+t.Function.Name)
	}
	if api == "responses" {
		r.fromInput(w)
	} else {
		r.fromMessages(w)
	}
	switch {
	case !w.Stream:
		return r, errors.New("this server only streams; set stream to true")
	case w.Model == "":
		return r, errors.New("you must provide a model parameter")
	}
	return r, checkPaired(r.Messages)
}

func (r *Request) fromMessages(w wireRequest) {
	for _, m := range w.Messages {
		msg := Message{Role: m.Role, Text: string(m.Content), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == "system" && len(r.Messages) == 0 {
			r.Instructions += msg.Text
			continue
		}
		r.Messages = append(r.Messages, msg)
	}
}

// fromInput joins the items of one answer to one message.
func (r *Request) fromInput(w wireRequest) {
	answer := func() *Message {
		if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != "assistant" {
			r.Messages = append(r.Messages, Message{Role: "assistant"})
		}
		return &r.Messages[len(r.Messages)-1]
	}
	for _, it := range w.Input {
		switch {
		case it.Type == "reasoning":
			answer()
		case it.Type == "function_call":
			m := answer()
			m.Calls = append(m.Calls, Call{ID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		case it.Type == "function_call_output":
			r.Messages = append(r.Messages, Message{Role: "tool", CallID: it.CallID, Text: string(it.Output)})
		case it.Role == "assistant":
			answer().Text += string(it.Content)
		default:
			r.Messages = append(r.Messages, Message{Role: it.Role, Text: string(it.Content)})
		}
	}
}

// checkPaired refuses a conversation in which a call has not exactly one result,
// right after the answer that made it.
func checkPaired(messages []Message) error {
	open := map[string]bool{}
	for _, m := range messages {
		if m.Role == "tool" {
			if !open[m.CallID] {
				return fmt.Errorf("the tool message for %q answers no call of the assistant message before it", m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			break
		}
		for _, c := range m.Calls {
			if open[c.ID] {
				return fmt.Errorf("the call id %q is used twice", c.ID)
			}
			open[c.ID] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	ids := make([]string, 0, len(open))
	for id := range open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return fmt.Errorf("an assistant message with tool calls must be followed by a tool message for each; missing: %s", strings.Join(ids, ", "))
}
