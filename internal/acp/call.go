package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// call is a tool call that has no result yet, as the editor shows it.
type call struct {
	id     acp.ToolCallId
	looks  looks
	status acp.ToolCallStatus
	output tail
}

// begin is the update that shows a call for the first time.
func (c *call) begin() acp.SessionUpdate {
	return acp.StartToolCall(c.id, c.looks.title,
		acp.WithStartKind(c.looks.kind), acp.WithStartStatus(c.status), acp.WithStartLocations(c.looks.places),
		acp.WithStartContent(c.looks.content), acp.WithStartRawInput(c.looks.input))
}

// called shows a call that the model asked for.
func (s *session) called(it item.ToolCall) {
	c := &call{id: acp.ToolCallId(it.CallID), looks: looksOf(it.Name, it.Arguments, s.dir), status: acp.ToolCallStatusPending}
	s.calls[it.CallID] = c
	s.order = append(s.order, it.CallID)
	if !s.muted {
		s.send(c.begin())
	}
}

// started shows that a call runs, with the arguments that it runs with.
func (s *session) started(k item.ToolStarted) {
	c := s.calls[k.CallID]
	if c == nil {
		return
	}
	c.status, c.looks = acp.ToolCallStatusInProgress, looksOf(k.Tool, k.Arguments, s.dir)
	if !s.muted {
		s.send(acp.UpdateToolCall(c.id, acp.WithUpdateStatus(c.status), acp.WithUpdateTitle(c.looks.title),
			acp.WithUpdateContent(c.looks.content), acp.WithUpdateRawInput(c.looks.input)))
	}
}

// output shows what a running call has printed: its end.
func (s *session) output(callID, text string, whole bool) {
	c := s.calls[callID]
	if c == nil || text == "" {
		return
	}
	if whole {
		c.output = tail{}
	}
	c.output.add(text)
	if !s.muted {
		s.send(acp.UpdateToolCall(c.id, acp.WithUpdateContent([]acp.ToolCallContent{textContent(c.output.text)})))
	}
}

// result shows how a call ended.
func (s *session) result(it item.ToolResult) {
	c := s.calls[it.CallID]
	if c == nil {
		return
	}
	delete(s.calls, it.CallID)
	for i, id := range s.order {
		if id == it.CallID {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
	s.withdraw(it.CallID)
	if s.muted {
		return
	}
	status := acp.ToolCallStatusCompleted
	if it.IsError {
		status = acp.ToolCallStatusFailed
	}
	s.send(acp.UpdateToolCall(c.id, acp.WithUpdateStatus(status), acp.WithUpdateContent(c.looks.ended(it))))
	if plan := c.looks.plan; plan != nil && !it.IsError {
		s.send(acp.UpdatePlan(plan...))
	}
}

// mostOutput is how much of a call's output is sent while it runs, in bytes: each update
// brings all of it again.
const mostOutput = 8 << 10

// tail is the end of a text.
type tail struct {
	text string
}

// add adds to the text. What is cut off ends with a line, where there is one.
func (t *tail) add(text string) {
	t.text += text
	if over := len(t.text) - mostOutput; over > 0 {
		if i := strings.IndexByte(t.text[over:], '\n'); i >= 0 && i < mostOutput/2 {
			over += i + 1
		}
		t.text = strings.ToValidUTF8(t.text[over:], "")
	}
}

// textContent is text as it stands: a fence keeps editors from reading it as Markdown.
func textContent(text string) acp.ToolCallContent {
	return acp.ToolContent(acp.TextBlock(fenced(sanitize.Terminal(text))))
}

// fenced puts text into a fence that nothing in it ends.
func fenced(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
