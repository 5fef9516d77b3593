package crash

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"podd/internal/questions"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// serveApprovals answers calls that ask, if this podd serves approvals: yes to most, no
// to some.
func (s *scene) serveApprovals() {
	_, err := s.client.Approvals().ListApprovals(s.ctx, &poddv1.ListApprovalsRequest{})
	if item.KindOf(err) == item.KindUnimplemented {
		return
	}
	// A call may ask although no job does: in a podd without a sandbox.
	s.answers = s.asks
	s.tasks.Go(func() {
		for pause(s.ctx, 30*time.Millisecond) {
			list, err := s.client.Approvals().ListApprovals(s.ctx, &poddv1.ListApprovalsRequest{})
			if err != nil {
				continue
			}
			for _, a := range list.GetApprovals() {
				s.answer(a)
			}
		}
	})
}

// answer decides on a call by its id. It repeats a lost answer until the call does not
// wait any more.
func (s *scene) answer(a *poddv1.Approval) {
	sum := fnv.New32()
	_, _ = sum.Write([]byte(a.GetCallId()))
	req := &poddv1.ResolveApprovalRequest{
		Pod: a.GetPod(), CallSeq: a.GetCallSeq(), Approve: sum.Sum32()%4 != 0, Client: "crash", Digest: a.GetDigest(),
	}
	if a.GetForm() != nil && req.Approve {
		req.Replies = []*poddv1.FormReply{{Text: said(a.GetCallId())}}
	}
	_, err := s.client.Approvals().ResolveApproval(s.ctx, req)
	// The turn may have ended, and the next one begun, since the list was made. And of several podd, one may list a
	// question of a pod that was just moved away.
	if item.KindOf(err) == item.KindNotFound && (s.several || !s.stillAsks(a)) {
		return
	}
	if k := item.KindOf(err); err != nil && k != item.KindUnavailable && k != item.KindPrecondition && k != item.KindExhausted && s.ctx.Err() == nil {
		s.pods[0].submits.complain("the approval of %s: %v", a.GetCallId(), err)
	}
}

// said is what the harness answers to the question of a call.
func said(callID string) string { return "said-to-" + callID + "." }

// answeredOnce checks the result of a call that asked a question: it was asked one, and its answer is the one of the log.
func (c *checker) answeredOnce(e *poddv1.Entry, s *callState, r *poddv1.ToolResult) {
	if s.tool != questions.Name || s.asked == 0 || r.GetRecovery() == poddv1.Recovery_RECOVERY_UNKNOWN {
		return // A turn that was cancelled, or given up, ends its calls.
	}
	content := r.GetContent()
	switch {
	case s.asked > 1 || s.answers > 1:
		c.t.Repeated.add("%s: seq %d: call %s asked %d times and was answered %d times", c.pod, e.GetSeq(), r.GetCallId(), s.asked, s.answers)
	case s.answer.GetApproved() != strings.Contains(content, said(r.GetCallId())):
		c.t.Other.add("%s: seq %d: the answer %v to call %s gives the result %v", c.pod, e.GetSeq(), s.answer, r.GetCallId(), r)
	case s.answers == 0:
		c.t.Other.add("%s: seq %d: call %s ends with an open question", c.pod, e.GetSeq(), r.GetCallId())
	}
}

// question takes an entry about the question of a call; false if it is about an approval.
func (c *checker) question(e *poddv1.Entry) bool {
	asked, answer := e.GetApprovalRequested(), e.GetApprovalResolved()
	if asked.GetForm() == nil && answer.GetKey() == "" {
		return false
	}
	if s := c.calls[asked.GetCallId()+answer.GetCallId()]; s != nil && asked != nil {
		s.asked++
	} else if s != nil {
		s.answers++
		s.answer = answer
	}
	return true
}

// stillAsks says whether a call is still in the list of those that wait.
func (s *scene) stillAsks(a *poddv1.Approval) bool {
	list, _ := s.client.Approvals().ListApprovals(s.ctx, &poddv1.ListApprovalsRequest{})
	return slices.ContainsFunc(list.GetApprovals(), func(b *poddv1.Approval) bool {
		return b.GetPod() == a.GetPod() && b.GetCallSeq() == a.GetCallSeq()
	})
}
