package acp

import (
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// spokenAs is the kind of the last text sent, which decides how to separate the next one.
type spokenAs int

const (
	spokenNot spokenAs = iota
	spokenText
	spokenThought
	spokenNotice
)

// sender is the way of a session to the editor.
type sender struct {
	agent *agent
	id    acp.SessionId
	// out guards updates: their order and the last one.
	out  sync.Mutex
	last spokenAs
	// phase is guarded by out too.
	phase phase
}

// send sends the editor an update, in the order of the calls. An update that cannot be
// written is lost with the connection.
func (o *sender) send(u acp.SessionUpdate) {
	o.out.Lock()
	defer o.out.Unlock()
	o.last = spokenNot
	o.write(u)
}

// tell sends an update that shows nothing in the conversation.
func (o *sender) tell(u acp.SessionUpdate) {
	o.out.Lock()
	defer o.out.Unlock()
	o.write(u)
}

func (o *sender) write(u acp.SessionUpdate) {
	if o.agent.second.Load() {
		o.write2(secondUpdate(u))
		return
	}
	err := o.agent.conn.SendNotification(o.agent.ctx, acp.ClientMethodSessionUpdate, acp.SessionNotification{SessionId: o.id, Update: u})
	if err != nil {
		o.agent.Log.Debug("update not sent", "err", err)
	}
}

// chunk sends a piece of the model's text or reasoning. begins says that it is the first
// of its block.
func (o *sender) chunk(as spokenAs, text string, begins bool) {
	if text == "" {
		return
	}
	o.out.Lock()
	defer o.out.Unlock()
	if begins && o.last == as {
		text = "\n\n" + text
	}
	o.last = as
	if as == spokenThought {
		o.write(acp.UpdateAgentThoughtText(text))
		return
	}
	o.write(acp.UpdateAgentMessageText(text))
}

// notice sends a message from podd itself as part of the agent's text: version 1 of the
// protocol has no other place for it. It is formatted as a quotation, which the model's
// text rarely is. Safe lines may stand below it, as they are.
func (o *sender) notice(text string, below ...string) {
	o.out.Lock()
	defer o.out.Unlock()
	if o.agent.second.Load() {
		o.announce(text, below, false)
		return
	}
	lead := ""
	if o.last == spokenText {
		lead = "\n\n"
	}
	o.last = spokenNotice
	o.write(acp.UpdateAgentMessageText(lead + quoted(sanitize.Line(text), below)))
}

// quoted is a message of podd itself.
func quoted(text string, below []string) string {
	text = "> podd: " + text + "\n\n"
	if len(below) > 0 {
		text += fenced(strings.Join(below, "\n")) + "\n\n"
	}
	return text
}

// notify is a notice from the reader: it is suppressed while muted, and never interrupts a
// text.
func (s *session) notify(text string) {
	if s.muted {
		return
	}
	s.held = append(s.held, text)
	s.flushHeld()
}

// flushHeld sends the held notices, unless a text is unfinished.
func (s *session) flushHeld() {
	if !s.text.Open() {
		s.flushAll()
	}
}

func (s *session) flushAll() {
	for _, text := range s.held {
		if s.agent.second.Load() && !s.live { // A notice is no history.
			s.sender.out.Lock()
			s.announce(text, nil, true)
			s.sender.out.Unlock()
			continue
		}
		s.notice(text)
	}
	s.held = nil
}

// sendText shows the part of a text that has not been shown.
func (s *session) sendText(a *transcript.Appender, as spokenAs, p transcript.Put) {
	text, begins, cut := a.Put(p)
	if s.agent.second.Load() {
		if !s.muted {
			s.spoken(as, p.Block.ID, p.Block.Text, text, begins)
		}
		s.flushHeld()
		return
	}
	if cut && as == spokenText {
		s.cut()
	}
	if !s.muted {
		s.chunk(as, text, begins)
	}
	s.flushHeld()
}

// unsay empties messages that were discarded, which version 1 cannot.
func (s *session) unsay(ids []string) {
	for _, id := range ids {
		if s.agent.second.Load() && s.shown[id] {
			delete(s.shown, id)
			s.message("agent_message", id, "")
			s.message("agent_thought", id, "")
		}
	}
}

// cut says that the previous text was discarded.
func (s *session) cut() {
	s.flushAll()
	if !s.muted {
		s.notice("the answer was cut off; asking the model again")
	}
}

// usage reports how full the context is, if the model's window is known.
func (s *session) usage() {
	context, err := s.Client.Pods().GetContext(s.ctx, &poddv1.GetContextRequest{Pod: s.pod})
	if err != nil || context.GetWindow() == 0 {
		return // It is reported again after the next turn.
	}
	u := acp.SessionUsageUpdate{Used: int(context.GetTokens()), Size: int(context.GetWindow())}
	if stats, err := s.Client.Pods().GetStats(s.ctx, &poddv1.GetStatsRequest{Pod: s.pod}); err == nil && stats.GetCostUsd() > 0 {
		u.Cost = &acp.Cost{Amount: stats.GetCostUsd(), Currency: "USD"}
	}
	s.tell(acp.SessionUpdate{UsageUpdate: &u})
}
