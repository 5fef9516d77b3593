package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"podd/pkg/item"
)

// codexRecord is a line. Old versions have the payload itself.
type codexRecord struct {
	Type, Timestamp string
	Payload         json.RawMessage
}

// codexPayload is what a line says.
type codexPayload struct {
	Type, ID, Cwd, Role, Name string
	// Message is the summary of a compaction.
	Message         json.RawMessage
	Source          json.RawMessage
	CallID          string `json:"call_id"`
	Content, Output json.RawMessage
	Arguments       json.RawMessage
	Input           string
	Action          json.RawMessage
	Tools           json.RawMessage
	NumTurns        int `json:"num_turns"`
}

func readCodex(f *file, s *Session) error {
	first := true
	return lines(f, func(n int, raw *json.RawMessage) {
		var r codexRecord
		_ = json.Unmarshal(*raw, &r)
		if len(r.Payload) == 0 {
			r.Payload = *raw
		}
		var p codexPayload
		_ = json.Unmarshal(r.Payload, &p)
		at := Item{Record: fmt.Sprintf("line %d", n), Time: parsed(r.Timestamp)}
		switch {
		case r.Type == "session_meta" || first && r.Type == "" && p.ID != "":
			if first { // A session that goes on with another has that one's too.
				first, s.ID, s.Dir = false, p.ID, p.Cwd
				s.Sub = strings.HasPrefix(string(p.Source), "{")
			}
		case r.Type == "turn_context":
			s.Dir = cmp.Or(s.Dir, p.Cwd)
		case r.Type == "compacted":
			var text string
			_ = json.Unmarshal(p.Message, &text)
			at.Item = summary(text)
			s.add(at)
		case r.Type == "event_msg":
			if p.Type == "thread_rolled_back" {
				s.rollBack(p.NumTurns)
			}
		default:
			s.codex(&p, at)
		}
	})
}

// rollBack takes the last turns away.
func (s *Session) rollBack(turns int) {
	for i := len(s.Items) - 1; i >= 0 && turns > 0; i-- {
		if _, ok := s.Items[i].Item.(item.UserMessage); ok && !s.Items[i].Synthetic {
			s.Items = s.Items[:i]
			turns--
		}
	}
}

// codex adds what a payload says.
func (s *Session) codex(p *codexPayload, it Item) {
	switch {
	case p.Type == "message":
		text, images := texts(p.Content)
		switch {
		case p.Role == "assistant":
			it.Item = item.AssistantMessage{Text: text}
		case p.Role != "user" || isSetup(text):
			return
		default:
			it.Item, it.Images, it.Synthetic = item.UserMessage{Text: text}, images, strings.HasPrefix(text, "<")
		}
	case p.CallID == "":
		return
	case p.Type == "function_call":
		var arguments string
		_ = json.Unmarshal(p.Arguments, &arguments)
		it.Item = item.ToolCall{CallID: p.CallID, Name: p.Name, Arguments: arguments}
	case p.Type == "custom_tool_call":
		arguments, _ := json.Marshal(map[string]string{"input": p.Input})
		it.Item = item.ToolCall{CallID: p.CallID, Name: p.Name, Arguments: string(arguments)}
	case strings.HasSuffix(p.Type, "_call"): // local_shell_call, tool_search_call.
		it.Item = item.ToolCall{CallID: p.CallID, Name: strings.TrimSuffix(p.Type, "_call"), Arguments: string(p.Action) + string(p.Arguments)}
	case strings.HasSuffix(p.Type, "_output"):
		out := item.Output{}
		out.Content, out.IsError, it.Images = codexOutput(p.Output)
		if len(p.Output) == 0 {
			out.Content = string(p.Tools)
		}
		it.Item = item.ToolResult{CallID: p.CallID, Output: out}
	default:
		return
	}
	s.add(it)
}

// isSetup says whether a text is of what podd says itself: instructions, and where the agent works.
func isSetup(text string) bool {
	for _, head := range []string{"# AGENTS.md instructions", "<user_instructions>", "<environment_context>"} {
		if strings.HasPrefix(text, head) {
			return true
		}
	}
	return false
}

// codexOutput is the output of a call: a text, perhaps of JSON, a list of parts, or an object.
func codexOutput(raw json.RawMessage) (text string, failed bool, images [][]byte) {
	var object struct {
		Output   *string
		Metadata struct {
			ExitCode int `json:"exit_code"`
		}
		Content *string
		Success *bool
	}
	inner := raw
	if json.Unmarshal(raw, &text) == nil {
		inner = []byte(text)
	}
	if strings.HasPrefix(strings.TrimSpace(string(inner)), "{") && json.Unmarshal(inner, &object) == nil {
		switch {
		case object.Output != nil:
			return *object.Output, object.Metadata.ExitCode != 0, nil
		case object.Content != nil:
			return *object.Content, object.Success != nil && !*object.Success, nil
		}
	}
	text, images = texts(raw)
	return text, false, images
}
