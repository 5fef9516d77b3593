package acp

import (
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"podd/internal/clients/view"
	"podd/pkg/item"
	"podd/pkg/transcript"
)

// entry handles an entry's effects other than being shown.
func (s *session) entry(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		s.claimed = k.RequestIDs
		s.began(k.RequestIDs)
	case item.Promoted:
		s.claimed = append(slices.Clip(s.claimed), k.RequestIDs...)
		s.began(k.RequestIDs)
	case item.Withdrawn:
		s.resolve(k.RequestIDs, outcome{withdrawn: true})
	case item.ApprovalRequested:
		if s.live {
			s.askPending()
		}
	case item.Setup:
		if s.live {
			s.work.Go(s.offer)
		}
	case item.ApprovalResolved:
		s.withdraw(k.CallID)
	case item.TurnEnded:
		s.turnEnded(e.Turn, k)
	}
}

// put shows the current state of a block.
func (s *session) put(p transcript.Put) {
	b := p.Block
	switch b.Kind {
	case transcript.User:
		// In version 1 the editor itself shows this session's prompts.
		id := strings.TrimPrefix(b.ID, "s:")
		if b.State == transcript.Done && !s.muted && (s.agent.second.Load() || !s.said(id)) {
			text := b.Text
			for _, i := range b.Images {
				text += "\n" + view.Picture(i)
			}
			text = strings.TrimPrefix(text, "\n")
			if s.agent.second.Load() {
				s.message("user_message", id, text)
				return
			}
			s.send(acp.UpdateUserMessageText(text))
		}
	case transcript.Answer:
		s.sendText(&s.text, spokenText, p)
	case transcript.Thought:
		s.sendText(&s.thought, spokenThought, p)
	case transcript.Tool:
		if b.State != transcript.Writing && b.State != transcript.Lost {
			s.call(b)
		}
	case transcript.Alert:
		s.notify(view.AlertText(item.Alert{Level: b.Alert.Level, Text: b.Text, Count: b.Alert.Count}))
	case transcript.Notice:
		switch b.Code {
		case item.OriginNote, item.OriginLetter, item.OriginInterceptor:
			s.notify(b.Code + ": " + b.Text)
		case transcript.CodeCompaction, transcript.CodeRewind, transcript.CodeRecovered, transcript.CodeWing:
			s.notify(b.Text)
		}
	}
}

// turnEnded reports how a turn ended, to the prompts that it took and in the transcript.
func (s *session) turnEnded(turn int64, end item.TurnEnded) {
	for id := range s.questions {
		s.withdraw(id)
	}
	claimed := s.claimed
	s.claimed = nil
	mine := s.waits(claimed) || s.agent.second.Load() && s.live
	reason, err := stopReason(turn, end)
	// A failed prompt is answered with the cause, and the client that cancels a turn knows
	// it.
	if end.Outcome != item.OutcomeFinished && !(mine && (err != nil || end.Reason == "CANCELLED")) {
		s.notify(ending(turn, end))
	}
	if s.live {
		s.usage()
	}
	s.resolve(claimed, outcome{turn: turn, end: end})
	s.finished(reason, err)
}
