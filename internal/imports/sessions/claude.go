package sessions

import (
	"cmp"
	"encoding/json"
	"slices"

	"podd/pkg/item"
)

// claudeRecord is a line. The records are a tree: each names its parent.
type claudeRecord struct {
	Type, Subtype, UUID, ParentUUID, LogicalParentUUID string
	SessionID, Cwd, Timestamp                          string
	Summary, CustomTitle, AiTitle                      string
	IsSidechain, IsMeta, IsCompactSummary              bool
	Message                                            struct {
		ID, Role, Model string
		Content         json.RawMessage
	}
	Attachment struct {
		Type   string
		Prompt json.RawMessage
	}
}

// says says whether a record has something of the conversation.
func (r *claudeRecord) says() bool {
	return !r.IsSidechain && (r.Type == "user" || r.Type == "assistant" && r.Message.Model != "<synthetic>" ||
		r.Type == "attachment" && r.Attachment.Type == "queued_command")
}

// claude is the tree of a file.
type claude struct {
	records []claudeRecord
	at      map[string]int
	// chosen are the records of the newest branch.
	chosen map[int]bool
}

func readClaude(f *file, s *Session) error {
	c := claude{at: make(map[string]int), chosen: make(map[int]bool)}
	err := lines(f, func(_ int, r *claudeRecord) {
		s.Dir = cmp.Or(s.Dir, r.Cwd)
		switch r.Type {
		case "custom-title":
			s.Title = r.CustomTitle
		case "ai-title", "summary":
			s.Title = cmp.Or(s.Title, r.AiTitle, r.Summary)
		}
		if _, known := c.at[r.UUID]; r.UUID == "" || known {
			return
		}
		if !r.says() {
			r.Message.Content, r.Attachment.Prompt = nil, nil
		}
		c.at[r.UUID], c.records = len(c.records), append(c.records, *r)
	})
	if err != nil {
		return err
	}
	c.choose()
	for i := range c.records {
		if c.chosen[i] {
			s.claude(&c.records[i])
		}
	}
	return nil
}

// choose follows the newest branch from its end. An agent that calls several tools at once stores each call and each result as a
// branch of its own, so what belongs to the same answer, and the results of its calls, are chosen too.
func (c *claude) choose() {
	last := len(c.records) - 1
	for last >= 0 && !c.records[last].says() {
		last--
	}
	for i := last; i >= 0 && !c.chosen[i]; i = c.before(i) {
		c.chosen[i] = true
	}
	answers, calls := make(map[string]bool), make(map[string]bool)
	for i := range c.chosen {
		answers[c.records[i].Message.ID] = true
	}
	c.also("assistant", func(r *claudeRecord) bool { return r.Message.ID != "" && answers[r.Message.ID] })
	for i := range c.chosen {
		for _, p := range parts(c.records[i].Message.Content) {
			calls[p.ID] = true
		}
	}
	c.also("user", func(r *claudeRecord) bool {
		return slices.ContainsFunc(parts(r.Message.Content), func(p part) bool { return p.Type == "tool_result" && calls[p.ToolUseID] })
	})
}

// also chooses the records of a type that are so.
func (c *claude) also(kind string, is func(*claudeRecord) bool) {
	for i := range c.records {
		if r := &c.records[i]; r.Type == kind && r.says() && !c.chosen[i] && is(r) {
			c.chosen[i] = true
		}
	}
}

// before is the record before one; -1 for none. Where the file does not have that, because it begins in the middle of a
// conversation, or the agent was started again and noted that first, it is the one that was written before.
func (c *claude) before(i int) int {
	r := &c.records[i]
	at, known := c.at[cmp.Or(r.ParentUUID, r.LogicalParentUUID)]
	switch {
	case known:
		return at
	case r.ParentUUID == "" && r.says():
		return -1
	}
	for i--; i >= 0 && !c.records[i].says(); i-- {
	}
	return i
}

// claude adds what a record says.
func (s *Session) claude(r *claudeRecord) {
	it := Item{Record: r.UUID, Time: parsed(r.Timestamp), Synthetic: r.IsMeta}
	if !r.says() {
		return
	}
	if r.Type == "attachment" {
		it.Joined = true
		r.Message.Content = r.Attachment.Prompt
	}
	if r.Type == "assistant" {
		for _, p := range parts(r.Message.Content) {
			switch p.Type {
			case "text":
				it.Item = item.AssistantMessage{Text: p.Text}
				s.add(it)
			case "tool_use":
				it.Item = item.ToolCall{CallID: p.ID, Name: p.Name, Arguments: string(p.Input)}
				s.add(it)
			}
		}
		return
	}
	for _, p := range parts(r.Message.Content) {
		if p.Type == "tool_result" {
			result := it
			text, images := texts(p.Content)
			result.Item, result.Images = item.ToolResult{CallID: p.ToolUseID, Output: item.Output{Content: text, IsError: p.IsError}}, images
			s.add(result)
		}
	}
	text, images := texts(r.Message.Content)
	it.Item, it.Images = item.UserMessage{Text: text}, images
	if r.IsCompactSummary {
		it.Item = summary(text)
	}
	s.add(it)
}
