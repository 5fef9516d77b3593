package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"podd/pkg/item"
)

// piRecord is a line. The records are a tree: each names its parent.
type piRecord struct {
	Type, ID, ParentID, Timestamp, Cwd, Name string
	Summary, FirstKeptEntryID                string
	Content                                  json.RawMessage
	Message                                  struct {
		Role, Content json.RawMessage
		ToolCallID    string
		IsError       bool
		// A command that the person ran.
		Command, Output string
	}
}

func readPi(f *file, s *Session) error {
	at := make(map[string]int)
	var records []piRecord
	err := lines(f, func(n int, r *piRecord) {
		switch r.Type {
		case "session":
			s.ID, s.Dir = cmp.Or(r.ID, s.ID), cmp.Or(r.Cwd, s.Dir)
			return
		case "session_info":
			s.Title = r.Name
		}
		if r.ID == "" { // The first version is a list.
			r.ID = fmt.Sprintf("line %d", n)
			if len(records) > 0 {
				r.ParentID = records[len(records)-1].ID
			}
		}
		if _, known := at[r.ID]; !known {
			at[r.ID], records = len(records), append(records, *r)
		}
	})
	if err != nil {
		return err
	}
	chosen := make(map[int]bool)
	for i, ok := len(records)-1, len(records) > 0; ok && !chosen[i]; i, ok = at[records[i].ParentID] {
		chosen[i] = true
	}
	for i := range records {
		if chosen[i] {
			s.pi(&records[i])
		}
	}
	return nil
}

// pi adds what a record says.
func (s *Session) pi(r *piRecord) {
	it := Item{Record: r.ID, Time: parsed(r.Timestamp)}
	switch r.Type {
	case "compaction":
		it.Item, it.Keeps = summary(r.Summary), r.FirstKeptEntryID
		s.add(it)
	case "branch_summary", "custom_message":
		text, images := texts(r.Content)
		it.Item, it.Images, it.Synthetic = item.UserMessage{Text: r.Summary + text}, images, true
		s.add(it)
	case "message":
		s.piMessage(r, it)
	}
}

func (s *Session) piMessage(r *piRecord, it Item) {
	m := &r.Message
	text, images := texts(m.Content)
	switch role := strings.Trim(string(m.Role), `"`); role {
	case "user", "custom", "hookMessage":
		it.Item, it.Images, it.Synthetic = item.UserMessage{Text: text}, images, role != "user"
	case "bashExecution":
		it.Item, it.Synthetic = item.UserMessage{Text: "Ran " + m.Command + "\n" + m.Output}, true
	case "toolResult":
		it.Item, it.Images = item.ToolResult{CallID: m.ToolCallID, Output: item.Output{Content: text, IsError: m.IsError}}, images
	case "assistant":
		for _, p := range parts(m.Content) {
			switch p.Type {
			case "text":
				it.Item = item.AssistantMessage{Text: p.Text}
				s.add(it)
			case "toolCall":
				it.Item = item.ToolCall{CallID: p.ID, Name: p.Name, Arguments: string(p.Arguments)}
				s.add(it)
			}
		}
		return
	default:
		return
	}
	s.add(it)
}
