package acp

import (
	"fmt"
	"slices"

	"github.com/coder/acp-go-sdk"

	"podd/internal/view"
	"podd/pkg/item"
)

// entry shows an entry of the log.
func (s *session) entry(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Submitted:
		s.submits[k.RequestID] = k.Text
	case item.TurnStarted:
		s.claimed, s.unheard = k.RequestIDs, slices.Clone(k.RequestIDs)
	case item.Promoted:
		s.claimed = append(slices.Clip(s.claimed), k.RequestIDs...)
		s.unheard = append(s.unheard, k.RequestIDs...)
	case item.Withdrawn:
		s.drop(k.RequestIDs)
		s.resolve(k.RequestIDs, outcome{withdrawn: true})
	case item.ItemAdded:
		s.item(e.Turn, k.Item)
	case item.ToolStarted:
		s.started(k)
	case item.ApprovalRequested:
		if s.live {
			s.look()
		}
	case item.ApprovalResolved:
		s.withdraw(k.CallID)
	case item.AlertRaised:
		if !k.Alert.Repeats() {
			s.tell(view.AlertText(k.Alert))
		}
	case item.Compaction:
		s.tell("what came before is sent to the model as a summary from now on")
	case item.Rewind:
		s.tell(fmt.Sprintf("history goes on from entry %d; what came after it counts no more", k.To))
	case item.TurnEnded:
		s.turnEnded(e.Turn, k)
	}
}

// item shows an item of the conversation.
func (s *session) item(turn int64, it item.Item) {
	switch it := it.(type) {
	case item.UserMessage:
		s.user(it.Text)
	case item.AssistantMessage:
		s.message(&s.text, spokenText, it.Text)
	case item.Reasoning:
		if it.Text != "" {
			s.message(&s.thought, spokenThought, it.Text)
		}
	case item.SystemMessage:
		if it.Origin == item.OriginNote || it.Origin == item.OriginInterceptor {
			s.tell(it.Origin + ": " + it.Text)
		}
	case item.ToolCall:
		s.called(it)
	case item.ToolResult:
		s.result(it)
	}
}

// user shows what was said, save what this session's prompts said: the editor shows
// those itself.
func (s *session) user(text string) {
	id := ""
	if len(s.unheard) > 0 {
		id, s.unheard = s.unheard[0], s.unheard[1:]
	}
	s.says(id, text)
}

// says shows what a submit said, once.
func (s *session) says(id, text string) {
	delete(s.submits, id)
	if !s.muted && !s.said(id) {
		s.send(acp.UpdateUserMessageText(text))
	}
}

// drop forgets submits that no turn will say.
func (s *session) drop(ids []string) {
	for _, id := range ids {
		delete(s.submits, id)
	}
}

// turnEnded says how a turn ended, to the prompts that it took and to whoever reads.
func (s *session) turnEnded(turn int64, end item.TurnEnded) {
	for id := range s.questions {
		s.withdraw(id)
	}
	s.text, s.thought = voice{}, voice{}
	// A turn that ends before its first request leaves no message of the user.
	for _, id := range s.unheard {
		if text, ok := s.submits[id]; ok {
			s.says(id, text)
		}
	}
	s.tellHeld()
	s.calls, s.order = make(map[string]*call), nil
	claimed := s.claimed
	s.claimed, s.unheard = nil, nil
	mine := s.waits(claimed)
	_, err := stopReason(turn, end)
	// A prompt that fails is answered with the cause, and who cancels knows it.
	if end.Outcome != item.OutcomeFinished && !(mine && (err != nil || end.Reason == "CANCELLED")) {
		s.tell(ending(turn, end))
	}
	if s.live {
		s.usage()
	}
	s.resolve(claimed, outcome{turn: turn, end: end})
}
