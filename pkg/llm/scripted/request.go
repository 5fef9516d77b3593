package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Request is a model request as received, in one form for all APIs.
type Request struct {
	// API is "responses", "chat" or "messages".
	API   string
	Model string
	// Instructions are the system messages before the conversation.
	Instructions string
	// Tools are the names of the offered tools.
	Tools []string
	// Messages are the conversation. A model's answer of one step is one message.
	Messages []Message
	// Body is the request as received.
	Body []byte
	// Attempt counts how often exactly this body arrived, from 1.
	Attempt int
}

// Message is one element of a conversation.
type Message struct {
	// Role is system, developer, user, assistant or tool.
	Role string
	Text string
	// Images are the data URLs of images.
	Images []string
	// Calls are an assistant's.
	Calls []Call
	// CallID is the call that a tool message answers.
	CallID string
}

// Steps counts the answers in the conversation.
func (r Request) Steps() int { return steps(r.Messages) }

// stateNote begins the text that podd appends to a user's message, such as the current
// day, if it is not a message of its own.
const stateNote = "\n\n[podd note: state]\n"

// LastUser is the text of the last user message, without podd's own text such as the
// current day.
func (r Request) LastUser() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			text, behind, _ := strings.Cut(m.Text, stateNote)
			if _, more, ok := strings.Cut(behind, "\n\n"); ok {
				text += "\n\n" + strings.TrimLeft(more, "\n")
			}
			return text
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

// content is text, or a list of parts with text and images.
type content struct {
	text   string
	images []string
}

// UnmarshalJSON reads either form, and null.
func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Text     string          `json:"text"`
		ImageURL json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content is neither text nor a list of parts")
	}
	for _, p := range parts {
		c.text += p.Text
		if p.ImageURL == nil {
			continue
		}
		// Responses has the URL itself, Chat Completions an object with it.
		var url string
		var object struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(p.ImageURL, &url) != nil && json.Unmarshal(p.ImageURL, &object) == nil {
			url = object.URL
		}
		if !strings.HasPrefix(url, "data:image/") {
			return fmt.Errorf("an image part has the URL %.40q, not data", url)
		}
		c.images = append(c.images, url)
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
		Encrypted string  `json:"encrypted_content"`
		Role      string  `json:"role"`
		Content   content `json:"content"`
		CallID    string  `json:"call_id"`
		Name      string  `json:"name"`
		Arguments string  `json:"arguments"`
		Output    content `json:"output"`
	} `json:"input"`
}

// parseRequest reads a body. The endpoint answers with its errors.
func parseRequest(api string, body []byte) (Request, error) {
	if api == "messages" {
		return parseMessages(body)
	}
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("the body cannot be read: %w", err)
	}
	r := Request{API: api, Model: w.Model, Instructions: w.Instructions, Body: body}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name+t.Function.Name)
	}
	if api == "responses" {
		if err := r.fromInput(w); err != nil {
			return r, err
		}
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
		msg := Message{Role: m.Role, Text: m.Content.text, Images: m.Content.images, CallID: m.ToolCallID}
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

// fromInput joins the items of one answer into one message.
func (r *Request) fromInput(w wireRequest) error {
	answer := func() *Message {
		if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != "assistant" {
			r.Messages = append(r.Messages, Message{Role: "assistant"})
		}
		return &r.Messages[len(r.Messages)-1]
	}
	for i, it := range w.Input {
		switch {
		case it.Type == "reasoning" && !w.follows(i+1):
			return errors.New("an item of type 'reasoning' was provided without its required following item")
		case it.Type == "reasoning" && !strings.HasPrefix(it.Encrypted, sealed(r.Model)):
			return errors.New("the encrypted content of a reasoning item could not be verified")
		case it.Type == "reasoning":
			answer()
		case it.Type == "function_call":
			m := answer()
			m.Calls = append(m.Calls, Call{ID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		case it.Type == "function_call_output":
			r.Messages = append(r.Messages, Message{Role: "tool", CallID: it.CallID, Text: it.Output.text, Images: it.Output.images})
		case it.Role == "assistant":
			answer().Text += it.Content.text
		default:
			r.Messages = append(r.Messages, Message{Role: it.Role, Text: it.Content.text, Images: it.Content.images})
		}
	}
	return nil
}

// follows says whether an item of input belongs to the answer that the one before is from.
func (w wireRequest) follows(i int) bool {
	if i == len(w.Input) {
		return false
	}
	it := w.Input[i]
	return it.Type == "reasoning" || it.Type == "function_call" || it.Role == "assistant" && strings.TrimSpace(it.Content.text) != ""
}

// sealed begins what the server encrypts for a model.
func sealed(model string) string { return "scripted-" + model + "-" }

// checkPaired refuses a conversation in which a call does not have exactly one result,
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
