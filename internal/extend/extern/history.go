package extern

import (
	"bytes"
	"encoding/json"
	"slices"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// History says which items of the conversation a command gets. The empty History is
// HistoryNone.
type History string

// HistoryTurn is the items of the running turn, HistoryAll those of the whole log.
const (
	HistoryNone History = "none"
	HistoryTurn History = "turn"
	HistoryAll  History = "all"
)

// maxHistory bounds the history in one event, in bytes of JSON.
const maxHistory = 8 << 20

// hasHistory are the events that have a history.
func hasHistory() []string {
	return []string{string(hook.EdgePromptSubmit), string(hook.EdgeBeforeRequest), string(hook.EdgeTurnEnd)}
}

func (c Command) checkHistory() error {
	switch c.History {
	case "", HistoryNone:
		return nil
	case HistoryTurn, HistoryAll:
	default:
		return bad("%s: history is %q: it must be \"none\", \"turn\" or \"all\"", c.Name, c.History)
	}
	if !slices.ContainsFunc(hasHistory(), func(edge string) bool { return slices.Contains(c.On, edge) }) {
		return bad("%s: history is %q, but none of its events has a history: add prompt_submit, before_request or turn_end to on, or remove history",
			c.Name, c.History)
	}
	return nil
}

// pastInfo is an item of the history.
type pastInfo struct {
	Seq  int64 `json:"seq"`
	Turn int64 `json:"turn"`
	// Type is user, system, assistant, reasoning, tool_call, tool_result or unknown.
	Type string `json:"type"`
	// Origin is for system.
	Origin string `json:"origin,omitempty"`
	Text   string `json:"text,omitempty"`
	// These are for tool_call and tool_result.
	CallID    string          `json:"call_id,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Kind and Path are those of the output.
	Kind   string      `json:"kind,omitempty"`
	Path   string      `json:"path,omitempty"`
	Output *outputInfo `json:"output,omitempty"`
}

// recall puts the history that a command asks for into the event: at most maxHistory bytes,
// plus one item.
func (e *event) recall(h History) error {
	if e.past == nil || h == "" || h == HistoryNone {
		return nil
	}
	read := e.past.ThisTurn
	if h == HistoryAll {
		read = e.past.History
	}
	var kept [][]byte
	size, leftOut := 0, 0
	for p, err := range read() {
		if err != nil {
			return err
		}
		line, err := encodeLine(describePast(p))
		if err != nil {
			return err
		}
		kept = append(kept, bytes.TrimSuffix(line, []byte("\n")))
		for size += len(line); size > maxHistory; leftOut++ {
			// The list has a comma in place of the line's newline.
			size -= len(kept[0]) + 1
			kept[0], kept = nil, kept[1:]
		}
	}
	e.History = slices.Concat([]byte("["), bytes.Join(kept, []byte(",")), []byte("]"))
	e.HistoryLeftOut = &leftOut
	return nil
}

func describePast(p interceptor.Past) pastInfo {
	info := pastInfo{Seq: int64(p.Seq), Turn: p.Turn, Type: "unknown"}
	switch it := p.Item.(type) {
	case item.UserMessage:
		info.Type, info.Text = "user", it.Text
	case item.SystemMessage:
		info.Type, info.Origin, info.Text = "system", it.Origin, it.Text
	case item.AssistantMessage:
		info.Type, info.Text = "assistant", it.Text
	case item.Reasoning:
		info.Type, info.Text = "reasoning", it.Text
	case item.ToolCall:
		info.Type, info.CallID, info.Tool, info.Arguments = "tool_call", it.CallID, it.Name, describeArguments(it.Arguments)
	case item.ToolResult:
		info.Type, info.CallID, info.Tool, info.Kind, info.Path = "tool_result", it.CallID, it.Tool, string(it.Kind), it.Path
		info.Output = describeOutput(it.Output)
	}
	return info
}
