package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// waiting is a prompt that podd has not answered yet.
type waiting struct {
	done chan outcome
	// submitted says that podd has it, stopped that the editor cancelled it.
	submitted, stopped bool
}

// prompts are those of a session that wait for their end. A session that is opened again keeps
// them.
type prompts struct {
	mu      sync.Mutex
	waiting map[string]*waiting
	// mine are all prompts of the session, by request id.
	mine map[string]bool
	// plan says whether turns only plan; nil until the editor chooses a mode.
	plan *bool
	// failed is why the session is over.
	failed error
	// stopping says that the editor cancelled the running turn.
	stopping bool
	// forms are what running calls ask, the oldest first; the next prompt answers the first of them.
	forms []*poddv1.Approval
	// first are notices to send with the next prompt, when the editor knows the session.
	first []string
}

// outcome is the outcome of a prompt.
type outcome struct {
	turn int64
	end  item.TurnEnded
	// withdrawn says that it was removed from the queue.
	withdrawn bool
	err       error
}

// ordered answers a prompt. What the editor sends behind it is read once it waits, or is refused.
func (a *agent) ordered(ctx context.Context, params json.RawMessage) (any, error) {
	waits := sync.OnceFunc(a.in.next)
	defer waits()
	if a.second.Load() {
		return on(func(ctx context.Context, p acp.PromptRequest) (inserted, error) { return a.insert(ctx, p, waits) })(ctx, params)
	}
	return on(func(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
		return a.prompt(ctx, client.NewRequestID(), p, waits)
	})(ctx, params)
}

// prompt submits a prompt and answers when the turn that took it has ended, in version 2 when a turn has taken it. A pod
// that is busy takes it afterwards, in version 2 at its next step. It calls waits as soon as a cancel finds the prompt.
func (a *agent) prompt(ctx context.Context, id string, p acp.PromptRequest, waits func()) (acp.PromptResponse, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	w, err := s.await(id)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	defer s.forget(id)
	waits()
	for err := s.ready(ctx); err != nil; err = s.ready(ctx) {
		if s.cancelled(id) {
			return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
		}
		if !errors.Is(err, errReplaced) {
			return acp.PromptResponse{}, err
		}
		if s, err = a.session(p.SessionId); err != nil {
			return acp.PromptResponse{}, err
		}
	}
	if compacts(p.Prompt) {
		ended, err := s.itself(id, p.Prompt, func() (acp.StopReason, error) { return s.compact(ctx, id) })
		return acp.PromptResponse{StopReason: ended}, err
	}
	list, err := s.segments(p.Prompt)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	for _, text := range s.takeFirst() {
		s.notice(text)
	}
	if s.cancelled(id) {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	if s.answers(ctx, p.Prompt) {
		s.echo(id, p.Prompt)
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	_, err = a.Client.Submit(a.ctx, s.mode(&poddv1.SubmitRequest{Pod: s.pod, RequestId: id, Segments: wire.SegmentsToProto(list), ParseRefs: commands(p.Prompt)}))
	if err != nil {
		return acp.PromptResponse{}, err
	}
	if s.submitted(id) {
		s.stop(a.ctx, []string{id})
	}
	defer s.noticeServers(ctx)
	return s.answer(ctx, id, w)
}

// mode says how a prompt is taken. In version 2 it joins the turn that runs, and follows that turn's mode.
func (s *session) mode(req *poddv1.SubmitRequest) *poddv1.SubmitRequest {
	plan := s.plans()
	if turns, _ := s.turning(); s.agent.second.Load() && (turns || plan == nil) {
		req.Mode = poddv1.SubmitMode_SUBMIT_MODE_STEER
		return req
	}
	return wire.SetPlan(req, plan)
}

// noticeServers says which MCP servers failed since it did so last: such an alert is podd's own
// and in no pod's log.
func (s *session) noticeServers(ctx context.Context) {
	for a, err := range s.Client.ListAlerts(ctx, client.AlertOptions{After: s.alerted.Load(), Unacked: true}) {
		if err != nil {
			return // The person asked for an answer, not for this.
		}
		if s.alerted.Swap(a.GetSeq()) < a.GetSeq() && a.GetPod() == "" && a.GetSource() == "mcp" {
			s.notice(a.GetText())
		}
	}
}

// segments reads a prompt; @path in it is looked for in the workspace.
func (s *session) segments(blocks []acp.ContentBlock) ([]item.Segment, error) {
	exists := func(string) bool { return false }
	if files, err := scopefs.Open(scopefs.Config{Dir: s.dir}); err == nil && !commands(blocks) {
		defer files.Close()
		exists = files.ExistsRef
	}
	return segments(blocks, s.dir, exists)
}

// answer waits for the outcome of a prompt. If ctx ends while the connection is open, the
// editor has cancelled the prompt.
func (s *session) answer(ctx context.Context, id string, w *waiting) (acp.PromptResponse, error) {
	cancelled := ctx.Done()
	for {
		select {
		case o := <-w.done:
			return o.response()
		case <-cancelled:
			if s.agent.ctx.Err() != nil {
				return acp.PromptResponse{}, context.Canceled
			}
			cancelled = nil
			if s.agent.second.Load() {
				s.unqueue(s.agent.ctx, []string{id})
				continue
			}
			s.stop(s.agent.ctx, []string{id})
		}
	}
}

func (o outcome) response() (acp.PromptResponse, error) {
	switch {
	case o.err != nil:
		return acp.PromptResponse{}, o.err
	case o.withdrawn:
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	reason, err := stopReason(o.turn, o.end)
	return acp.PromptResponse{StopReason: reason, Usage: turnUsage(o.end.Usage)}, err
}

// cancel ends the session's prompts; without one, it cancels the running turn.
func (a *agent) cancel(ctx context.Context, p acp.CancelNotification) (struct{}, error) {
	s, err := a.session(p.SessionId)
	if err != nil {
		return struct{}{}, err
	}
	idle := !s.anyWaits()
	if ids := s.stopWaiting(); idle || len(ids) > 0 {
		s.stop(ctx, ids)
	}
	return struct{}{}, nil
}

// stopWaiting marks all prompts that wait as cancelled, and returns those that podd has.
func (p *prompts) stopWaiting() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, w := range p.waiting {
		w.stopped = true
		if w.submitted {
			ids = append(ids, id)
		}
	}
	return ids
}

// stop removes queued submits, and cancels the turn if one of them runs or if there are
// no submits.
func (s *session) stop(ctx context.Context, ids []string) {
	s.prompts.mu.Lock()
	s.stopping = true
	s.prompts.mu.Unlock()
	if len(ids) > 0 && s.unqueue(ctx, ids) {
		return
	}
	_, err := s.Client.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: s.pod, Reason: "cancelled in the editor (" + s.client() + ")"})
	if err != nil && ctx.Err() == nil {
		s.notice("cannot cancel the turn: " + err.Error())
	}
}

// await adds a prompt to the waiting ones.
func (p *prompts) await(id string) (*waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return nil, p.failed
	}
	w := &waiting{done: make(chan outcome, 1)}
	p.waiting[id], p.mine[id] = w, true
	return w, nil
}

// submitted records that podd has a prompt. stopped says whether the editor cancelled it
// meanwhile.
func (p *prompts) submitted(id string) (stopped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[id]
	w.submitted = true
	return w.stopped
}

// cancelled says whether the editor cancelled a prompt that podd does not have yet.
func (p *prompts) cancelled(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[id].stopped
}

func (p *prompts) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// reopened are the prompts once the editor has opened the session again: they wait on, and more
// notices come with the next one.
func (p *prompts) reopened(first []string) *prompts {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed, p.first = nil, append(p.first, first...)
	return p
}

func (p *prompts) anyWaits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) > 0
}

// waits says whether one of these submits is a waiting prompt.
func (p *prompts) waits(ids []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(ids, func(id string) bool { return p.waiting[id] != nil })
}

// said says whether a submit came from this session.
func (p *prompts) said(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mine[id]
}

// resolve delivers their outcome to prompts.
func (p *prompts) resolve(ids []string, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = false
	for _, id := range ids {
		if w := p.waiting[id]; w != nil {
			select {
			case w.done <- o:
			default: // It knows.
			}
		}
	}
}

// end ends all waiting prompts.
func (p *prompts) end(o outcome) {
	p.mu.Lock()
	var ids []string
	for id := range p.waiting {
		ids = append(ids, id)
	}
	p.mu.Unlock()
	p.resolve(ids, o)
}

// takeFirst returns the notices that wait for the first prompt.
func (p *prompts) takeFirst() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.first
	p.first = nil
	return first
}

// failure is why the session ended.
func (p *prompts) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		return context.Canceled
	}
	return p.failed
}
