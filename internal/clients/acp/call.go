package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

// begin is the update that shows a call for the first time.
func (s *session) begin(b transcript.Block) acp.SessionUpdate {
	l, status := s.looks(b), acp.ToolCallStatusPending
	if b.State == transcript.Running {
		status = acp.ToolCallStatusInProgress
	}
	return acp.StartToolCall(acp.ToolCallId(b.Call.ID), l.title,
		acp.WithStartKind(l.kind), acp.WithStartStatus(status), acp.WithStartLocations(l.places),
		acp.WithStartContent(l.content), acp.WithStartRawInput(l.input))
}

// diffs says how to show a diff.
func (s *session) diffs() showDiff {
	if s.agent.second.Load() {
		return patchContent
	}
	return diffContent
}

func (s *session) looks(b transcript.Block) looks {
	return looksOf(b.Call.Tool, b.Call.Arguments, s.dir)
}

// call shows the current state of a call.
func (s *session) call(b transcript.Block) {
	id, was := acp.ToolCallId(b.Call.ID), s.calls[b.Call.ID]
	s.calls[b.Call.ID] = b.State
	switch {
	case b.State == transcript.Done || b.State == transcript.Failed:
		delete(s.calls, b.Call.ID)
		s.withdraw(b.Call.ID)
		if was != "" && !s.muted {
			s.ended(id, b)
		}
	case s.muted:
	case was == "":
		s.send(s.begin(b))
	case b.State == transcript.Running && was != transcript.Running:
		l := s.looks(b)
		s.send(acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusInProgress), acp.WithUpdateTitle(l.title),
			acp.WithUpdateContent(l.content), acp.WithUpdateRawInput(l.input)))
	case b.State == transcript.Running && b.Detail != "":
		s.send(acp.UpdateToolCall(id, acp.WithUpdateContent([]acp.ToolCallContent{textContent(end(b.Detail))})))
	}
}

// ended shows how a call ended.
func (s *session) ended(id acp.ToolCallId, b transcript.Block) {
	l, status := s.looks(b), acp.ToolCallStatusCompleted
	if b.State == transcript.Failed {
		status = acp.ToolCallStatusFailed
	}
	s.send(acp.UpdateToolCall(id, acp.WithUpdateStatus(status), acp.WithUpdateContent(ended(b, s.dir, s.diffs()))))
	if l.plan != nil && b.State == transcript.Done {
		s.send(acp.UpdatePlan(l.plan...))
	}
}

// mostOutput bounds the output of a running call that is sent, in bytes: each update sends
// all of it again.
const mostOutput = 8 << 10

// end is the end of an output, cut after a line break if it has one.
func end(text string) string {
	over := len(text) - mostOutput
	if over <= 0 {
		return text
	}
	if i := strings.IndexByte(text[over:], '\n'); i >= 0 && i < mostOutput/2 {
		over += i + 1
	}
	return strings.ToValidUTF8(text[over:], "")
}

// textContent is verbatim text: a fence keeps editors from rendering it as Markdown.
func textContent(text string) acp.ToolCallContent {
	return acp.ToolContent(acp.TextBlock(fenced(sanitize.Terminal(text))))
}

// fenced puts text into a fence that is longer than any in the text.
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
