package crash

import (
	"hash/fnv"
	"slices"
	"time"

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
	_, err := s.client.Approvals().ResolveApproval(s.ctx, &poddv1.ResolveApprovalRequest{
		Pod: a.GetPod(), CallSeq: a.GetCallSeq(), Approve: sum.Sum32()%4 != 0, Client: "crash", Digest: a.GetDigest(),
	})
	// The turn may have ended, and the next one begun, since the list was made. And of several podd, one may list a
	// question of a pod that was just moved away.
	if item.KindOf(err) == item.KindNotFound && (s.several || !s.stillAsks(a)) {
		return
	}
	if k := item.KindOf(err); err != nil && k != item.KindUnavailable && k != item.KindPrecondition && k != item.KindExhausted && s.ctx.Err() == nil {
		s.pods[0].submits.complain("the approval of %s: %v", a.GetCallId(), err)
	}
}

// stillAsks says whether a call is still in the list of those that wait.
func (s *scene) stillAsks(a *poddv1.Approval) bool {
	list, _ := s.client.Approvals().ListApprovals(s.ctx, &poddv1.ListApprovalsRequest{})
	return slices.ContainsFunc(list.GetApprovals(), func(b *poddv1.Approval) bool {
		return b.GetPod() == a.GetPod() && b.GetCallSeq() == a.GetCallSeq()
	})
}
