package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"

	"podd/pkg/item"
)

// opencodeInfo is what opencode says of a session, and of a message.
type opencodeInfo struct {
	ID, Directory, Title, ParentID, Role string
	Summary                              json.RawMessage
	Time                                 struct{ Created float64 }
	Revert                               struct{ MessageID string }
}

// opencodePart is a part of a message.
type opencodePart struct {
	ID, Type, Text, CallID, Tool string
	Mime, URL, Filename          string
	Synthetic, Ignored           bool
	State                        struct {
		Status, Output, Error string
		Input                 json.RawMessage
		Attachments           []struct{ URL string }
	}
}

// opencodeMessage is a message with its parts.
type opencodeMessage struct {
	Info  opencodeInfo
	Parts []opencodePart
}

// readOpencode reads what opencode export writes.
func readOpencode(f *file, s *Session) error {
	var session struct {
		Info     opencodeInfo
		Messages []opencodeMessage
	}
	if err := json.NewDecoder(f).Decode(&session); err != nil && !isType(err) {
		return fmt.Errorf("%s is not what opencode export writes, or is cut: %w", f.Name(), err)
	}
	info := session.Info
	s.ID, s.Dir, s.Title, s.Sub = cmp.Or(info.ID, s.ID), info.Directory, info.Title, info.ParentID != ""
	for i := range session.Messages {
		m := &session.Messages[i]
		if m.Info.ID != "" && m.Info.ID == info.Revert.MessageID {
			break // The person took the rest back.
		}
		s.opencode(m)
	}
	return nil
}

// opencode adds what a message says.
func (s *Session) opencode(m *opencodeMessage) {
	user := Item{Record: m.Info.ID, Time: millis(m.Info.Time.Created)}
	text, more := "", []Item(nil)
	for _, p := range m.Parts {
		it := Item{Record: p.ID, Time: user.Time}
		switch {
		case p.Ignored || p.Type != "text" && p.Type != "tool" && p.Type != "file":
		case p.Type == "tool":
			s.opencodeCall(&p, it)
		case m.Info.Role == "user" && p.Type == "file":
			if data := dataURL(p.URL); data != nil && p.Mime != "text/plain" {
				user.Images = append(user.Images, data)
			}
		case p.Type == "file":
		case m.Info.Role == "user" && p.Synthetic:
			it.Item, it.Synthetic = item.UserMessage{Text: p.Text}, true
			more = append(more, it)
		case m.Info.Role == "user":
			text += p.Text
		case string(m.Info.Summary) == "true":
			it.Item = summary(p.Text)
			s.add(it)
		default:
			it.Item = item.AssistantMessage{Text: p.Text}
			s.add(it)
		}
	}
	if m.Info.Role == "user" {
		user.Item = item.UserMessage{Text: text}
		s.add(user)
	}
	for _, it := range more {
		s.add(it)
	}
}

// opencodeCall adds a call, and its result if it has one.
func (s *Session) opencodeCall(p *opencodePart, it Item) {
	it.Item = item.ToolCall{CallID: p.CallID, Name: p.Tool, Arguments: string(p.State.Input)}
	s.add(it)
	if p.State.Status != "completed" && p.State.Status != "error" {
		return
	}
	out := item.Output{Content: p.State.Output, IsError: p.State.Status == "error"}
	if out.IsError {
		out.Content = p.State.Error
	}
	for _, a := range p.State.Attachments {
		if data := dataURL(a.URL); data != nil {
			it.Images = append(it.Images, data)
		}
	}
	it.Item = item.ToolResult{CallID: p.CallID, Output: out}
	s.add(it)
}
