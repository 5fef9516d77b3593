package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// The methods of version 2 that version 1 has not.
const (
	methodLogin  = "auth/login"
	methodLogout = "auth/logout"
)

// secondMethods are the methods of version 2 of the protocol. A request becomes what version 1 has for it where it has something.
func (a *agent) secondMethods() map[string]handler {
	return map[string]handler{
		acp.AgentMethodInitialize:             a.initialize,
		methodLogin:                           on(a.authenticate),
		methodLogout:                          func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil },
		acp.AgentMethodSessionNew:             on(a.newSecond),
		acp.AgentMethodSessionResume:          on(a.resumeSecond),
		acp.AgentMethodSessionFork:            on(a.forkSession),
		acp.AgentMethodSessionList:            on(a.listSessions),
		acp.AgentMethodSessionClose:           on(a.closeSecond),
		methodDelete:                          on(a.deleteSession),
		acp.AgentMethodSessionSetConfigOption: on(a.setSecond),
		acp.AgentMethodSessionPrompt:          a.ordered,
		acp.AgentMethodSessionCancel:          on(a.cancelSecond),
	}
}

// secondHello is what initialize says to an editor that speaks version 2.
type secondHello struct {
	ClientInfo   acp.Implementation `json:"info"`
	Capabilities struct {
		Elicitation *acp.ElicitationCapabilities `json:"elicitation"`
	} `json:"capabilities"`
}

// initializeSecond reports what podd can do, in version 2.
func (a *agent) initializeSecond(params json.RawMessage) (any, error) {
	var p secondHello
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, item.Errorf(item.KindInvalid, "PARAMS", "cannot read the parameters: %v", err)
	}
	a.meet(p.ClientInfo.Name, p.Capabilities.Elicitation)
	type can = map[string]any
	return can{
		"protocolVersion": secondVersion,
		"info":            can{"name": "podd", "title": "podd", "version": a.Version},
		"authMethods":     []any{can{"type": "agent", "methodId": loginMethod, "name": "podd", "description": loginHint}},
		"capabilities": can{"session": can{
			"prompt": can{"image": can{}, "embeddedContext": can{}}, "delete": can{}, "additionalDirectories": can{}, "fork": can{},
		}},
	}, nil
}

// workspaceRequest begins or resumes a session in version 2.
type workspaceRequest struct {
	SessionID   acp.SessionId           `json:"sessionId"`
	Cwd         string                  `json:"cwd"`
	Directories []string                `json:"additionalDirectories"`
	Servers     []struct{ Name string } `json:"mcpServers"`
	ReplayFrom  *struct{ Type string }  `json:"replayFrom"`
}

// Validate refuses a request without a directory.
func (r *workspaceRequest) Validate() error {
	if r.Cwd == "" {
		return item.Errorf(item.KindInvalid, "PARAMS", "cwd is required")
	}
	return nil
}

func (r *workspaceRequest) servers() (list []acp.McpServer) {
	for _, s := range r.Servers {
		list = append(list, acp.McpServer{Stdio: &acp.McpServerStdio{Name: s.Name}})
	}
	return list
}

func (a *agent) newSecond(ctx context.Context, p workspaceRequest) (any, error) {
	resp, err := a.newSession(ctx, acp.NewSessionRequest{Cwd: p.Cwd, AdditionalDirectories: p.Directories, McpServers: p.servers()})
	if err != nil {
		return nil, err
	}
	return secondSession(resp), nil
}

// secondSession is a new session in version 2.
func secondSession(resp acp.NewSessionResponse) any {
	return map[string]any{"sessionId": resp.SessionId, "configOptions": secondOptions(resp.ConfigOptions)}
}

// resumeSecond opens a pod, and replays its history if the editor wants it.
func (a *agent) resumeSecond(ctx context.Context, p workspaceRequest) (any, error) {
	from := fromNow
	if p.ReplayFrom != nil {
		if p.ReplayFrom.Type != "start" {
			return nil, item.Errorf(item.KindInvalid, "CURSOR", "podd replays from the start only, not from %q", p.ReplayFrom.Type)
		}
		from = wholeLog
	}
	s, _, err := a.reopen(ctx, p.SessionID, from, p.Cwd, p.servers())
	if err != nil {
		return nil, err
	}
	return map[string]any{"configOptions": secondOptions(s.options(ctx))}, nil
}

// setSecond changes an option.
func (a *agent) setSecond(ctx context.Context, p secondOption) (any, error) {
	resp, err := a.setOption(ctx, acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: p.SessionID, ConfigId: p.ConfigID, Value: p.Value}})
	if err != nil {
		return nil, err
	}
	return map[string]any{"configOptions": secondOptions(resp.ConfigOptions)}, nil
}

// secondOption chooses a value of an option.
type secondOption struct {
	SessionID acp.SessionId            `json:"sessionId"`
	ConfigID  acp.SessionConfigId      `json:"configId"`
	Type      string                   `json:"type"`
	Value     acp.SessionConfigValueId `json:"value"`
}

// Validate refuses a value that is not in a list.
func (r *secondOption) Validate() error {
	if r.Type != "id" {
		return item.Errorf(item.KindInvalid, "OPTION", "the options of a session have values from a list: send the id of a value")
	}
	return nil
}

// inserted is the answer to a prompt in version 2: the model's next request has it.
type inserted struct {
	MessageID string `json:"messageId"`
}

// insert submits a prompt, to the running turn if there is one, and answers when a turn has taken it.
func (a *agent) insert(ctx context.Context, p acp.PromptRequest, waits func()) (inserted, error) {
	id := client.NewRequestID()
	resp, err := a.prompt(ctx, id, p, waits)
	if err == nil && resp.StopReason == acp.StopReasonCancelled {
		err = context.Canceled
	}
	return inserted{MessageID: id}, err
}

// cancelSecond ends what the pod does, and removes the session's prompts that no turn has taken.
func (a *agent) cancelSecond(ctx context.Context, p acp.CancelNotification) (struct{}, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return struct{}{}, err
	}
	turns, _ := s.turning()
	if all := s.unqueue(ctx, s.stopWaiting()); turns || !all {
		s.stop(ctx, nil)
	}
	return struct{}{}, nil
}

// closeSecond closes a session after the turn that took its prompts has ended. A turn of others goes on.
func (a *agent) closeSecond(ctx context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return acp.CloseSessionResponse{}, nil //nolint:nilerr // What is not open is closed.
	}
	all := s.unqueue(ctx, s.stopWaiting())
	_, mine := s.turning()
	if mine != nil || !all {
		s.stop(ctx, nil)
	}
	if mine != nil {
		select {
		case <-mine:
		case <-s.over:
		case <-ctx.Done():
			return acp.CloseSessionResponse{}, ctx.Err()
		}
	}
	a.shut(s)
	return acp.CloseSessionResponse{}, nil
}

// unqueue removes submits that no turn has taken. all says whether it removed each.
func (s *session) unqueue(ctx context.Context, ids []string) (all bool) {
	all = true
	for _, id := range ids {
		_, err := s.Client.Pods().CancelInboxItem(ctx, &poddv1.CancelInboxItemRequest{Pod: s.pod, RequestId: id})
		all = all && err == nil
	}
	return all
}

// phase is what version 2 tells of the work in a session.
type phase struct {
	turns bool
	// mine is closed when the turn ends that took a prompt of this session.
	mine chan struct{}
	// local counts what podd does itself for a prompt.
	local int
	// asks says that the turn waits for a person.
	asks bool
	// stop is how the last work ended.
	stop map[string]any
	// told is the state that the editor has; nil before it has any.
	told []byte
}

// turning says whether a turn runs, and returns what is closed when it ends if it took a prompt of this session.
func (s *session) turning() (turns bool, mine <-chan struct{}) {
	s.sender.out.Lock()
	defer s.sender.out.Unlock()
	return s.phase.turns, s.phase.mine
}

// worked changes the phase and, in version 2, tells the editor if it follows the work by now.
func (s *session) worked(change func(p *phase)) {
	s.sender.out.Lock()
	defer s.sender.out.Unlock()
	p := &s.phase
	change(p)
	if !s.agent.second.Load() || p.told == nil {
		return
	}
	s.tellPhase()
}

// tellPhase sends the state of the work unless the editor has it.
func (s *session) tellPhase() {
	p, u := &s.phase, map[string]any{"sessionUpdate": "state_update"}
	switch {
	case p.turns && p.asks && p.local == 0:
		u["state"] = "requires_action"
	case p.turns || p.local > 0:
		u["state"] = "running"
	default:
		u["state"] = "idle"
		for k, v := range p.stop {
			u[k] = v
		}
	}
	told, _ := json.Marshal(u) // It has strings and a number.
	if !bytes.Equal(told, p.told) {
		p.told = told
		s.write2(u)
	}
}

// follow begins to tell the editor of the work.
func (s *session) follow() {
	if s.agent.second.Load() {
		s.sender.out.Lock()
		defer s.sender.out.Unlock()
		s.tellPhase()
	}
}

// began notes that a turn has taken submits.
func (s *session) began(ids []string) {
	mine := false
	for _, id := range ids {
		mine = mine || s.said(id)
	}
	s.worked(func(p *phase) {
		p.turns, p.stop = true, nil
		if mine && p.mine == nil {
			p.mine = make(chan struct{})
		}
	})
	if s.agent.second.Load() {
		s.resolve(ids, outcome{end: item.TurnEnded{Outcome: item.OutcomeFinished}})
	}
}

// stopped is why work ended, as version 2 says it.
func stopped(reason acp.StopReason, err error) map[string]any {
	if err != nil {
		return map[string]any{"stopReason": "error", "error": map[string]any{"code": internalCode, "message": sanitize.Line(err.Error())}}
	}
	return map[string]any{"stopReason": reason}
}

// finished notes how a turn ended, or that its end will not be known.
func (s *session) finished(reason acp.StopReason, err error) {
	s.worked(func(p *phase) {
		if p.mine != nil {
			close(p.mine)
		}
		if p.turns {
			p.turns, p.mine, p.stop = false, nil, stopped(reason, err)
		}
	})
}

// internalCode is the protocol's code for an internal error.
const internalCode = -32603

// itself runs what podd does itself for a prompt, which version 2 shows as work.
func (s *session) itself(id string, blocks []acp.ContentBlock, f func() (acp.StopReason, error)) (acp.StopReason, error) {
	s.worked(func(p *phase) { p.local++ })
	reason, err := f()
	if err == nil && reason != acp.StopReasonCancelled {
		s.echo(id, blocks)
	}
	s.worked(func(p *phase) {
		p.local--
		p.stop = stopped(reason, err)
	})
	return reason, err
}

// echo shows a prompt that no turn takes, which version 2 asks for.
func (s *session) echo(id string, blocks []acp.ContentBlock) {
	if !s.agent.second.Load() {
		return
	}
	s.sender.out.Lock()
	defer s.sender.out.Unlock()
	s.write2(map[string]any{"sessionUpdate": "user_message", "messageId": id, "content": blocks})
}

// message shows a whole message, in place of what it had. Without a text it is empty.
func (s *session) message(kind, id, text string) {
	content := []acp.ContentBlock{}
	if text != "" {
		content = append(content, acp.TextBlock(text))
	}
	s.sender.out.Lock()
	defer s.sender.out.Unlock()
	s.write2(map[string]any{"sessionUpdate": kind, "messageId": id, "content": content})
}

// spoken shows a text of the model: what is new of it, or all of it if the editor lacks the rest.
func (s *session) spoken(as spokenAs, id, whole, more string, begins bool) {
	kind := "agent_message"
	if as == spokenThought {
		kind = "agent_thought"
	}
	switch {
	case begins || !s.shown[id]:
		s.shown[id] = true
		s.message(kind, id, whole)
	case more != "":
		s.sender.out.Lock()
		defer s.sender.out.Unlock()
		s.write2(map[string]any{"sessionUpdate": kind + "_chunk", "messageId": id, "content": acp.TextBlock(more)})
	}
}

// write2 sends an update of version 2.
func (o *sender) write2(u any) {
	err := o.agent.conn.SendNotification(o.agent.ctx, acp.ClientMethodSessionUpdate, map[string]any{"sessionId": o.id, "update": u})
	if err != nil {
		o.agent.Log.Debug("update not sent", "err", err)
	}
}

// announce sends a message of podd itself in version 2: a notice, or, if the answer to it depends on it, a message.
func (o *sender) announce(text string, below []string, keep bool) {
	text = sanitize.Line(text)
	if !keep && len(below) == 0 {
		o.write2(map[string]any{"sessionUpdate": "notice", "severity": "info", "title": cmp.Or(text, "podd")})
		return
	}
	text = quoted(text, below)
	o.write2(map[string]any{"sessionUpdate": "agent_message", "messageId": client.NewRequestID(), "content": []acp.ContentBlock{acp.TextBlock(text)}})
}
