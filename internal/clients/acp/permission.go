package acp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"podd/internal/clients/view"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// The options of a question.
const (
	allowOnce   acp.PermissionOptionId = "allow-once"
	allowAlways acp.PermissionOptionId = "allow-always"
	reject      acp.PermissionOptionId = "reject"
)

// askPending asks the editor about the calls that wait and that it has not asked about yet.
func (s *session) askPending() {
	resp, err := s.Client.Approvals().ListApprovals(s.ctx, &poddv1.ListApprovalsRequest{Pod: s.pod})
	if err != nil {
		if kind := item.KindOf(err); s.ctx.Err() == nil && kind != item.KindUnavailable && kind != item.KindUnimplemented {
			s.notice("cannot list pending approvals: " + err.Error())
		}
		return
	}
	for _, w := range resp.GetApprovals() {
		key := fmt.Sprintf("%d %s", w.GetCallSeq(), w.GetDigest())
		if s.asked[key] {
			continue
		}
		s.asked[key] = true
		s.withdraw(w.GetCallId())
		ctx, cancel := context.WithCancel(s.ctx)
		s.questions[w.GetCallId()] = cancel
		ask := s.ask
		if w.GetForm() != nil {
			ask = s.askForm
		}
		s.work.Go(func() { ask(ctx, w) })
	}
}

// withdraw withdraws the question about a call that no longer waits.
func (s *session) withdraw(callID string) {
	defer s.replied(callID)
	if cancel := s.questions[callID]; cancel != nil {
		cancel()
		delete(s.questions, callID)
	}
}

// ask asks the person at the editor about a call, until it is answered or ctx ends. The
// question says which rule always adds; if none can be added, ask repeats it without that choice.
func (s *session) ask(ctx context.Context, w *poddv1.Approval) {
	shown := view.ApprovalFromProto(w)
	options := []acp.PermissionOption{
		{OptionId: allowOnce, Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce},
		{OptionId: reject, Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		{OptionId: allowAlways, Name: "Always allow", Kind: acp.PermissionOptionKindAllowAlways},
	}
	rule := ""
	added, err := s.Client.Approvals().GetApprovalRule(ctx, &poddv1.GetApprovalRuleRequest{Pod: w.GetPod(), CallSeq: w.GetCallSeq()})
	switch {
	case err == nil:
		rule = "Always allow adds the rule: " + view.Rule(wire.RuleFromProto(added.GetRule()))
	case item.ReasonOf(err) == "NO_RULE":
		options = options[:2]
	}
	for {
		answer, ok := s.question(ctx, shown, rule, options)
		if ctx.Err() != nil {
			return
		}
		if !ok {
			s.left(shown)
			return
		}
		answer.Pod, answer.CallSeq, answer.Digest, answer.Client = w.GetPod(), w.GetCallSeq(), w.GetDigest(), s.client()
		_, err := s.Client.Approvals().ResolveApproval(ctx, answer)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.notice(err.Error())
		if !answer.GetAlways() || item.KindOf(err) == item.KindPrecondition && strings.HasPrefix(item.ReasonOf(err), "APPROVAL_") {
			return
		}
		rule, options = "", options[:2]
	}
}

// question asks and returns the answer; ok is false without one.
func (s *session) question(ctx context.Context, shown view.Approval, rule string, options []acp.PermissionOption) (answer *poddv1.ResolveApprovalRequest, ok bool) {
	l := looksOf(shown.Tool, shown.Arguments, s.dir)
	// First the diffs of an edit, then exactly what else will happen.
	content, places := previewContent(shown.Previews, s.dir, s.diffs())
	if len(places) > 0 {
		l.places = places
	}
	lines := shown.LinesBesideDiffs(0)
	if rule != "" {
		lines = append(lines, rule)
	}
	content = append(content, acp.ToolContent(acp.TextBlock(fenced(strings.Join(lines, "\n")))))
	request := acp.RequestPermissionRequest{
		SessionId: s.id, Options: options,
		ToolCall: acp.ToolCallUpdate{
			ToolCallId: acp.ToolCallId(shown.CallID), Title: acp.Ptr(l.title), Kind: acp.Ptr(l.kind),
			Status: acp.Ptr(acp.ToolCallStatusPending), Locations: l.places, Content: content, RawInput: l.input,
		},
	}
	var params any = request
	if s.agent.second.Load() {
		params = secondQuestion(request)
	}
	resp, err := acp.SendRequest[acp.RequestPermissionResponse](s.conn, ctx, acp.ClientMethodSessionRequestPermission, params)
	if err != nil || resp.Outcome.Selected == nil {
		return nil, false
	}
	switch resp.Outcome.Selected.OptionId {
	case allowOnce:
		return &poddv1.ResolveApprovalRequest{Approve: true}, true
	case allowAlways:
		return &poddv1.ResolveApprovalRequest{Approve: true, Always: true}, true
	case reject:
		return &poddv1.ResolveApprovalRequest{}, true
	}
	return nil, false
}

// left says how to answer a call that the editor left undecided, unless the editor
// cancelled the turn, which withdraws the call too.
func (s *session) left(shown view.Approval) {
	s.prompts.mu.Lock()
	stopping := s.stopping
	s.prompts.mu.Unlock()
	if !stopping {
		s.notice("the call still waits; " + shown.HowTo(time.Now()))
	}
}
