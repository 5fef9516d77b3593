package server

import (
	"context"
	"os/user"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/fleet"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// approvals serves ApprovalService.
type approvals struct {
	poddv1.UnimplementedApprovalServiceServer
	host *pod.Host
	// user is the name of the one user who is served; "" if the system does not know it.
	user string
}

// ListApprovals lists the calls that wait for a person.
func (s *approvals) ListApprovals(ctx context.Context, r *poddv1.ListApprovalsRequest) (*poddv1.ListApprovalsResponse, error) {
	list, err := s.host.Approvals(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListApprovalsResponse{Approvals: make([]*poddv1.Approval, len(list))}
	for i, a := range list {
		answer.Approvals[i] = approval(a)
	}
	return answer, nil
}

func approval(a pod.Approval) *poddv1.Approval {
	p := &poddv1.Approval{
		Pod: a.Pod, PodName: a.PodName, Turn: a.Turn, CallSeq: int64(a.CallSeq), CallId: a.CallID,
		Tool: a.Tool, Arguments: a.Arguments, Question: a.Question, Digest: []byte(a.Digest), Time: timestamppb.New(a.Time),
		Previews: wire.PreviewsToProto(a.Previews), Form: wire.FormToProto(a.Form),
	}
	if !a.Expires.IsZero() {
		p.Expires = timestamppb.New(a.Expires)
	}
	return p
}

// ResolveApproval approves or denies one, or answers its form.
func (s *approvals) ResolveApproval(ctx context.Context, r *poddv1.ResolveApprovalRequest) (*poddv1.ResolveApprovalResponse, error) {
	rule, err := s.host.Resolve(ctx, pod.Resolution{
		Pod: r.GetPod(), CallSeq: item.Seq(r.GetCallSeq()), Approve: r.GetApprove(), Always: r.GetAlways(),
		Reason: r.GetReason(), By: answeredBy(r.GetClient(), fleet.UserOf(ctx, s.user)), Digest: string(r.GetDigest()),
		Replies: wire.RepliesFromProto(r.GetReplies()), Dismiss: r.GetDismiss(),
	})
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ResolveApprovalResponse{}
	if rule != nil {
		answer.Rule = wire.RulesToProto([]item.Rule{*rule})[0]
	}
	return answer, nil
}

// GetApprovalRule shows the rule that an answer would add.
func (s *approvals) GetApprovalRule(ctx context.Context, r *poddv1.GetApprovalRuleRequest) (*poddv1.GetApprovalRuleResponse, error) {
	rule, err := s.host.RuleFor(ctx, r.GetPod(), item.Seq(r.GetCallSeq()))
	if err != nil {
		return nil, err
	}
	return &poddv1.GetApprovalRuleResponse{Rule: wire.RulesToProto([]item.Rule{*rule})[0]}, nil
}

// ListRules lists the rules of pods.
func (s *approvals) ListRules(ctx context.Context, r *poddv1.ListRulesRequest) (*poddv1.ListRulesResponse, error) {
	pods, err := s.host.SelectPods(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := new(poddv1.ListRulesResponse)
	for _, p := range pods {
		for _, rule := range p.Spec.Rules {
			answer.Rules = append(answer.Rules, podRule(p, rule))
		}
	}
	return answer, nil
}

// RemoveRule removes one.
func (s *approvals) RemoveRule(ctx context.Context, r *poddv1.RemoveRuleRequest) (*poddv1.RemoveRuleResponse, error) {
	p, rule, err := s.host.RemoveRule(ctx, r.GetPod(), r.GetId())
	if err != nil {
		return nil, err
	}
	return &poddv1.RemoveRuleResponse{Rule: podRule(p, rule)}, nil
}

func podRule(p item.Pod, r item.Rule) *poddv1.PodRule {
	return &poddv1.PodRule{Id: r.ID(), Pod: p.ID, PodName: p.Name, Rule: wire.RulesToProto([]item.Rule{r})[0]}
}

// maxClient bounds the name of a client, in bytes.
const maxClient = 64

// answeredBy says who answered: the client's name and its user.
func answeredBy(client, user string) string {
	client = sanitize.Line(client)
	if len(client) > maxClient {
		client = strings.ToValidUTF8(client[:maxClient], "") + "…"
	}
	if client == "" {
		client = "a client"
	}
	if user == "" {
		return client
	}
	return client + " (" + user + ")"
}

// LocalUser is the name of the user who runs this process, the only one who is served.
func LocalUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return sanitize.Line(u.Username)
}
