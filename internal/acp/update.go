package acp

import (
	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// spokenAs is what was sent last, as far as what follows must be set apart from it.
type spokenAs int

const (
	spokenNot spokenAs = iota
	spokenText
	spokenThought
	spokenNotice
)

// send gives the editor an update, in the order of the calls. What cannot be written is
// lost with the connection.
func (s *session) send(u acp.SessionUpdate) {
	s.out.Lock()
	defer s.out.Unlock()
	s.last = spokenNot
	s.write(u)
}

func (s *session) write(u acp.SessionUpdate) {
	err := s.conn.SendNotification(s.agent.ctx, acp.ClientMethodSessionUpdate, acp.SessionNotification{SessionId: s.id, Update: u})
	if err != nil {
		s.Log.Debug("update not sent", "err", err)
	}
}

// chunk sends a piece of the model's text or of its thoughts. begins says that it is the
// first of its block.
func (s *session) chunk(as spokenAs, text string, begins bool) {
	if text == "" || s.muted {
		return
	}
	s.out.Lock()
	defer s.out.Unlock()
	if begins && s.last == as {
		text = "\n\n" + text
	}
	s.last = as
	if as == spokenThought {
		s.write(acp.UpdateAgentThoughtText(text))
		return
	}
	s.write(acp.UpdateAgentMessageText(text))
}

// notice says something in podd's own name, where a person reads: the protocol's first
// version has no other place. It is a quotation, which the model's text rarely is.
func (s *session) notice(text string) {
	s.out.Lock()
	defer s.out.Unlock()
	lead := ""
	if s.last == spokenText {
		lead = "\n\n"
	}
	s.last = spokenNotice
	s.write(acp.UpdateAgentMessageText(lead + "> podd: " + sanitize.Line(text) + "\n\n"))
}

// tell is a notice of the reader's: it is kept back with what is muted, and does not
// come in the middle of a text.
func (s *session) tell(text string) {
	if s.muted {
		return
	}
	s.held = append(s.held, text)
	s.tellHeld()
}

// tellHeld tells what was held back, unless a text is being made.
func (s *session) tellHeld() {
	if s.text.Begun() {
		return
	}
	for _, text := range s.held {
		s.notice(text)
	}
	s.held = nil
}

const cutNote = "the answer was cut and begins again"

func (s *session) voiceOf(kind item.DeltaKind) (*voice, spokenAs) {
	switch kind {
	case item.DeltaText:
		return &s.text, spokenText
	case item.DeltaReasoning:
		return &s.thought, spokenThought
	}
	return nil, spokenNot
}

// delta shows a live fragment.
func (s *session) delta(d item.Delta) {
	if d.Restarted {
		s.restart()
		return
	}
	if d.Kind == item.DeltaToolOutput {
		s.output(d.CallID, d.Text, false)
		return
	}
	v, as := s.voiceOf(d.Kind)
	if v == nil {
		return
	}
	if v.lost {
		// podd did not tell what became of the text before: it came to nothing.
		s.restart()
	}
	s.fragment(v, as, d.Block, d.Text)
}

func (s *session) fragment(v *voice, as spokenAs, block, text string) {
	if text != "" {
		s.chunk(as, text, v.Fragment(block, text))
	}
}

// inFlight shows what of all text so far has not been shown.
func (s *session) inFlight(blocks []item.Delta) {
	for _, d := range blocks {
		if d.Kind == item.DeltaToolOutput {
			s.output(d.CallID, d.Text, true)
		}
		v, as := s.voiceOf(d.Kind)
		if v == nil {
			continue
		}
		if v.lost && !v.Shows(d.Block) {
			s.restart()
		}
		v.lost = false
		rest, ok := v.Whole(d.Block, d.Text)
		if !ok {
			s.restart()
			rest = d.Text
		}
		s.fragment(v, as, d.Block, rest)
	}
}

// restart says that the text before came to nothing.
func (s *session) restart() {
	told := s.text.Begun()
	s.text, s.thought = voice{}, voice{}
	s.tellHeld()
	if told {
		s.tell(cutNote)
	}
}

// message shows what of an entry's text the fragments have not shown.
func (s *session) message(v *voice, as spokenAs, text string) {
	begins := !v.Begun()
	rest, ok := v.Entry(text)
	if !ok {
		if as == spokenText {
			s.tell(cutNote)
		}
		rest, begins = text, true
	}
	v.lost = false
	s.chunk(as, rest, begins)
	s.tellHeld()
}

// usage tells how full the context is, where the model's window is known.
func (s *session) usage() {
	context, err := s.Client.Pods().GetContext(s.ctx, &poddv1.GetContextRequest{Pod: s.pod})
	if err != nil || context.GetWindow() == 0 {
		return // It is said again after the next turn.
	}
	u := acp.SessionUsageUpdate{Used: int(context.GetTokens()), Size: int(context.GetWindow())}
	if stats, err := s.Client.Pods().GetStats(s.ctx, &poddv1.GetStatsRequest{Pod: s.pod}); err == nil && stats.GetCostUsd() > 0 {
		u.Cost = &acp.Cost{Amount: stats.GetCostUsd(), Currency: "USD"}
	}
	s.send(acp.SessionUpdate{UsageUpdate: &u})
}
