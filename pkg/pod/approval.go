package pod

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Approval is a tool call that waits for a person.
type Approval struct {
	// Pod is the pod's id, PodName its name.
	Pod, PodName string
	Turn         int64
	// CallSeq is the sequence of the call's entry.
	CallSeq item.Seq
	// Time is when podd asked.
	Time time.Time
	item.ApprovalRequested
}

// Resolution is a person's answer.
type Resolution struct {
	// Pod is a name or an id, CallSeq the sequence of the call's entry.
	Pod     string
	CallSeq item.Seq
	Approve bool
	// Always adds a rule to the pod so that such calls don't ask again.
	Always bool
	// Reason is shown to the model when the call is denied.
	Reason string
	// By says who answers.
	By string
	// Digest, if set, is that of what the person saw; podd approves nothing else.
	Digest string
}

// Approvals are the waiting calls, of one pod or of all, the oldest first. It waits for
// no pod.
func (h *Host) Approvals(ctx context.Context, idOrName string) ([]Approval, error) {
	var ids []string
	if idOrName != "" {
		rec, err := h.Store.Pod(ctx, idOrName)
		if err != nil {
			return nil, err
		}
		ids = []string{rec.ID}
	} else {
		ids = h.pods.withOpenTurns()
	}
	var waiting []Approval
	for _, id := range ids {
		asking, err := h.asking(ctx, id)
		switch {
		case err == nil:
			waiting = append(waiting, asking...)
		case idOrName != "" || ctx.Err() != nil:
			return nil, err
		default:
			h.Logger.Warn("cannot read the pending approvals", "pod", id, "error", err)
		}
	}
	slices.SortFunc(waiting, func(x, y Approval) int {
		return cmp.Or(x.Time.Compare(y.Time), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.CallSeq, y.CallSeq))
	})
	return waiting, nil
}

// asking are the waiting calls of a pod: as it shows them, or as its log has them while it
// shows less. A client that saw the alert about a question finds the question.
func (h *Host) asking(ctx context.Context, id string) ([]Approval, error) {
	rec, err := h.Store.Pod(ctx, id)
	if err != nil {
		return nil, err
	}
	if a, _ := h.pods.find(id); a != nil {
		if now := a.presence.now.Load(); now != nil && now.last >= rec.Last {
			return now.asking, nil
		}
	}
	f, _, err := h.Logs.folded(ctx, id, h.settings())
	if err != nil {
		return nil, err
	}
	return waiting(&f.State.Turn, id, rec.Name), nil
}

// waiting are the calls of a pod that wait for a person.
func waiting(t *fold.Turn, id, name string) []Approval {
	var out []Approval
	for _, q := range t.Questions {
		if q.IsOpen() {
			out = append(out, Approval{
				Pod: id, PodName: name, Turn: q.Turn, CallSeq: q.CallSeq, Time: q.Asked, ApprovalRequested: q.ApprovalRequested,
			})
		}
	}
	return out
}

// Resolve stores a person's answer. The first one counts, and the error for a later one
// says who answered. With Always it returns the rule that was added to the pod.
func (h *Host) Resolve(ctx context.Context, r Resolution) (*item.Rule, error) {
	a, release, err := h.pods.acquire(ctx, r.Pod)
	if err != nil {
		return nil, err
	}
	defer release()
	var rule *item.Rule
	if r.Approve && r.Always {
		if rule, err = a.mailbox.ruleFor(ctx, r.CallSeq); err != nil {
			return nil, err
		}
	}
	doErr := a.mailbox.do(ctx, func() { err = a.resolve(ctx, r, rule) })
	return rule, cmp.Or(doErr, err)
}

// noQuestion is the error for a call that does not ask.
func noQuestion(call item.Seq, pod string) error {
	return item.Errorf(item.KindNotFound, "APPROVAL_NOT_FOUND",
		"pod %[2]s has no question about call #%[1]d: podctl approvals lists the pending calls", call, pod)
}

// resolve stores an answer, after the rule that it adds, if any.
func (a *actor) resolve(ctx context.Context, r Resolution, rule *item.Rule) error {
	q := a.journal.state.Turn.QuestionAt(r.CallSeq)
	switch {
	case q == nil:
		return noQuestion(r.CallSeq, a.journal.rec.Name)
	case !q.IsOpen():
		return tooLate(q)
	case q.Expired(a.journal.time()):
		if err := a.journal.expire(ctx, q); err != nil {
			a.log.Warn("cannot store that a question expired", "call", q.CallID, "error", err)
		}
		return tooLate(cmp.Or(a.journal.state.Turn.QuestionAt(r.CallSeq), q))
	case r.Digest != "" && r.Digest != q.Digest:
		return item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"the call changed since it was shown: look at it again with podctl approvals %s", a.journal.rec.Name)
	}
	if rule != nil {
		if err := a.addRule(ctx, *rule); err != nil {
			return err
		}
	}
	return a.journal.answer(ctx, q, item.ApprovalResolved{CallID: q.CallID, Approved: r.Approve, By: cmp.Or(r.By, "a client"), Reason: r.Reason})
}

// tooLate says why the question accepts no answer any more: who answered before, and
// when.
func tooLate(q *fold.Question) error {
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }
	switch {
	case q.IsOpen(), q.Answer != nil && !q.Answer.Approved && q.Expired(q.Closed):
		return item.Errorf(item.KindPrecondition, "APPROVAL_EXPIRED", "the question expired at %s, so the call is denied", at(q.Expires))
	case q.Answer == nil:
		return item.Errorf(item.KindPrecondition, "APPROVAL_WITHDRAWN", "the call ended at %s without an answer: nothing is left to decide", at(q.Closed))
	case q.Answer.Approved:
		return item.Errorf(item.KindPrecondition, "APPROVAL_RESOLVED", "the call was already approved by %s at %s", q.Answer.By, at(q.Closed))
	}
	return item.Errorf(item.KindPrecondition, "APPROVAL_RESOLVED", "the call was already denied by %s at %s", q.Answer.By, at(q.Closed))
}

// Approval waits until the question about a call is closed, and closes it when it
// expires.
func (l *turnLog) Approval(ctx context.Context, callID string) (r item.ApprovalResolved, err error) {
	var q *fold.Question
	var closed <-chan struct{}
	look := func() { q, closed = l.a.journal.state.Turn.Question(callID), l.a.journal.closed(callID) }
	if err := l.a.mailbox.do(ctx, look); err != nil {
		return r, err
	}
	if q == nil {
		return r, fmt.Errorf("the log has no question about call %s", callID)
	}
	if closed != nil {
		if waitUntil(ctx, l.a.host.Now, q.Expires, closed) {
			err = l.write(ctx, true, func(ctx context.Context) error {
				if now := l.a.journal.state.Turn.Question(callID); now != nil && now.IsOpen() {
					return l.a.journal.expire(ctx, now)
				}
				return nil
			})
			if err != nil {
				return r, err
			}
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
		if err := l.a.mailbox.do(ctx, look); err != nil {
			return r, err
		}
	}
	switch {
	case q == nil:
		return r, fmt.Errorf("the log has no question about call %s any more", callID)
	case q.Answer == nil:
		return r, tooLate(q)
	}
	return *q.Answer, nil
}

// clockLook is how often a wait checks the clock. Timers stop while the machine sleeps.
const clockLook = time.Minute

// waitUntil waits for a time of the clock. It returns false if done is closed or ctx ends
// first.
func waitUntil(ctx context.Context, now func() time.Time, until time.Time, done <-chan struct{}) bool {
	for {
		left := until.Sub(now())
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(min(left, clockLook))
		select {
		case <-timer.C:
			continue
		case <-done:
		case <-ctx.Done():
		}
		timer.Stop()
		return false
	}
}
