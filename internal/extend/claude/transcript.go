package claude

import (
	"bufio"
	"encoding/json"
	"os"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// line is a line of a transcript as Claude Code writes it.
type line struct {
	Type      string  `json:"type"`
	SessionID string  `json:"sessionId"`
	Cwd       string  `json:"cwd"`
	Message   message `json:"message"`
}

type message struct {
	Role string `json:"role"`
	// Content is a text, or a list of blocks.
	Content any `json:"content"`
}

// write writes the conversation of a pod where its hooks look for it. A hook without it does
// what it does without a transcript.
func (h *Hooks) write(pod, dir string, past interceptor.Conversation) {
	file, err := os.OpenFile(h.transcript(pod)+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		h.Logger.Warn("no transcript for hooks", "error", err)
		return
	}
	out := bufio.NewWriter(file)
	encode := json.NewEncoder(out)
	for p, err := range past.History() {
		if m, ok := messageOf(p.Item, dir); ok && err == nil {
			_ = encode.Encode(line{Type: m.Role, SessionID: pod, Cwd: dir, Message: m}) // The flush has its error.
		}
	}
	err = out.Flush()
	_ = file.Close()
	if err == nil {
		err = os.Rename(file.Name(), h.transcript(pod))
	}
	if err != nil {
		h.Logger.Warn("no transcript for hooks", "error", err)
	}
}

// messageOf is an item as Claude Code writes it. It has no system messages.
func messageOf(it item.Item, dir string) (message, bool) {
	const user, assistant = "user", "assistant"
	blocks := func(b map[string]any) []any { return []any{b} }
	switch it := it.(type) {
	case item.UserMessage:
		return message{user, it.Text}, true
	case item.AssistantMessage:
		return message{assistant, blocks(map[string]any{"type": "text", "text": it.Text})}, true
	case item.ToolCall:
		c := call{names: []string{it.Name}, input: object(it.Arguments)}
		if all := callsOf(it.Name, it.Arguments, dir); len(all) == 1 {
			c = all[0]
		}
		return message{assistant, blocks(map[string]any{"type": "tool_use", "id": it.CallID, "name": c.names[0], "input": c.input})}, true
	case item.ToolResult:
		return message{user, blocks(map[string]any{"type": "tool_result", "tool_use_id": it.CallID, "content": it.Output.Content, "is_error": it.Output.IsError})}, true
	}
	return message{}, false
}
