package crash

import (
	"hash/fnv"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// serveApprovals answers calls that ask, if this podd serves approvals: yes to most, no
// to some.
func (r *round) serveApprovals() {
	_, err := r.client.Approvals().ListApprovals(r.ctx, &poddv1.ListApprovalsRequest{})
	if item.KindOf(err) == item.KindUnimplemented {
		return
	}
	// A call may ask although no job does: in a podd without a sandbox.
	r.answers = r.asks
	r.tasks.Go(func() {
		for pause(r.ctx, 30*time.Millisecond) {
			list, err := r.client.Approvals().ListApprovals(r.ctx, &poddv1.ListApprovalsRequest{})
			if err != nil {
				continue
			}
			for _, a := range list.GetApprovals() {
				r.answer(a)
			}
		}
	})
}

// answer decides on a call by its id. It repeats a lost answer until the call does not
// wait any more.
func (r *round) answer(a *poddv1.Approval) {
	sum := fnv.New32()
	_, _ = sum.Write([]byte(a.GetCallId()))
	_, err := r.client.Approvals().ResolveApproval(r.ctx, &poddv1.ResolveApprovalRequest{
		Pod: a.GetPod(), CallSeq: a.GetCallSeq(), Approve: sum.Sum32()%4 != 0, Client: "crash", Digest: a.GetDigest(),
	})
	if k := item.KindOf(err); err != nil && k != item.KindUnavailable && k != item.KindPrecondition && k != item.KindExhausted && r.ctx.Err() == nil {
		r.pods[0].submits.complain("the approval of %s: %v", a.GetCallId(), err)
	}
}
