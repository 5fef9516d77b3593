package pod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// Approval is a tool call that waits for a person: for an approval, or with a form for an answer.
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
	// Reason is shown to the model when the call is denied, or its form is not answered.
	Reason string
	// Replies answer the form of the call; Dismiss leaves the answer to the model.
	Replies []item.FormReply
	Dismiss bool
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
	if err := r.fits(q, a.journal.rec.Name); err != nil {
		return err
	}
	if rule != nil {
		if err := a.addRule(ctx, *rule); err != nil {
			return err
		}
	}
	if q.Form != nil && r.Approve {
		r.Reason = q.Form.Said(r.Replies)
	}
	return a.journal.answer(ctx, q, item.ApprovalResolved{
		CallID: q.CallID, Key: q.Key, Approved: r.Approve, By: cmp.Or(r.By, "a client"), Reason: r.Reason, Replies: r.Replies, Dismissed: r.Dismiss,
	})
}

// noRule is the error for a rule that is to answer a form.
func noRule(call item.Seq) error {
	return item.Errorf(item.KindPrecondition, "NO_RULE", "call %d asks for an answer, so no rule can allow it: use podctl answer", call)
}

// fits refuses an answer of another kind than the question.
func (r *Resolution) fits(q *fold.Question, pod string) error {
	bad := func(format string, args ...any) error {
		return item.Errorf(item.KindPrecondition, "ANSWER_MISMATCH", format, args...)
	}
	switch {
	case q.Form == nil && (r.Dismiss || len(r.Replies) > 0):
		return bad("call %d needs an approval, not an answer: use podctl approve or podctl deny", q.CallSeq)
	case q.Form == nil:
		return nil
	case r.Approve && len(r.Replies) == 0 && len(q.Form.Questions) > 0:
		return bad("call %[1]d asks for an answer, not for an approval: use podctl answer %[2]s %[1]d", q.CallSeq, pod)
	case r.Approve && r.Dismiss, !r.Approve && len(r.Replies) > 0:
		return bad("an answer to call %d either has replies or dismisses it", q.CallSeq)
	case r.Approve:
		return q.Form.Check(r.Replies)
	}
	return nil
}

// tooLate says why the question accepts no answer any more: who answered before, and
// when.
func tooLate(q *fold.Question) error {
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }
	if q.Form != nil && q.Answer != nil {
		return item.Errorf(item.KindPrecondition, "ALREADY_ANSWERED", "the question was already %s at %s", q.Answer.How(), at(q.Closed))
	}
	switch {
	case q.IsOpen(), q.Answer != nil && !q.Answer.Approved && q.Expired(q.Closed):
		return item.Errorf(item.KindPrecondition, "APPROVAL_EXPIRED", "the question expired at %s, so nobody can answer it any more", at(q.Expires))
	case q.Answer == nil:
		return item.Errorf(item.KindPrecondition, "APPROVAL_WITHDRAWN", "the call ended at %s without an answer: nothing is left to decide", at(q.Closed))
	case q.Answer.Approved:
		return item.Errorf(item.KindPrecondition, "APPROVAL_RESOLVED", "the call was already approved by %s at %s", q.Answer.By, at(q.Closed))
	}
	return item.Errorf(item.KindPrecondition, "APPROVAL_RESOLVED", "the call was already denied by %s at %s", q.Answer.By, at(q.Closed))
}

// question names a question of an open turn: whether a call may run, or the form of a running call.
type question struct {
	callID, key string
	form        bool
}

// in is the last such question of a turn, or nil.
func (a question) in(t *fold.Turn) *fold.Question {
	if a.form {
		return t.Form(a.callID, a.key)
	}
	return t.Question(a.callID)
}

// Ask waits until a question is closed, after it has stored it if it is a form that the log does not have.
func (l *turnLog) Ask(ctx context.Context, asked item.ApprovalRequested, alert item.Alert) (r item.ApprovalResolved, err error) {
	if asked.Form == nil {
		return l.await(ctx, question{callID: asked.CallID})
	}
	is := question{asked.CallID, asked.Key, true}
	answered := false
	err = l.write(ctx, true, func(detached context.Context) error {
		q := is.in(&l.a.journal.state.Turn)
		switch {
		case q != nil && q.Digest == asked.Digest && q.Answer != nil:
			r, answered = *q.Answer, true
			return nil
		case q != nil && q.Digest == asked.Digest && q.IsOpen():
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		_, _, err := l.a.journal.commit(detached, store.Batch{Entries: []item.Entry{
			{Turn: l.number, Kind: asked}, {Turn: l.number, Kind: item.AlertRaised{Alert: alert}},
		}})
		return err
	})
	if err == nil && !answered {
		r, err = l.await(ctx, is)
	}
	if err == nil || ctx.Err() == nil || errors.Is(context.Cause(ctx), worker.ErrShutdown) {
		return r, err
	}
	return l.withdraw(ctx, is)
}

// withdraw closes a form that nobody waits for any more, once there is space, and returns why. An answer that came before counts.
func (l *turnLog) withdraw(ctx context.Context, is question) (r item.ApprovalResolved, err error) {
	r = item.ApprovalResolved{CallID: is.callID, Key: is.key, Withdrawn: true, By: "podd", Reason: "nobody waits for the answer any more"}
	if because, ok := errors.AsType[*tool.TookBack](context.Cause(ctx)); ok {
		r.Reason = because.Why
	}
	err = l.write(context.WithoutCancel(ctx), true, func(detached context.Context) error {
		switch q := is.in(&l.a.journal.state.Turn); {
		case q == nil:
		case q.IsOpen():
			return l.a.journal.answer(detached, q, r)
		case q.Answer != nil:
			r = *q.Answer
		}
		return nil
	})
	switch {
	case err != nil: // Podd ends: the question stays, or has an answer that nobody has looked at.
		return r, tool.ErrGoesOn
	case r.Withdrawn:
		return r, context.Cause(ctx)
	}
	return r, nil
}

// await waits until a question is closed, and closes it when it expires.
func (l *turnLog) await(ctx context.Context, is question) (r item.ApprovalResolved, err error) {
	var q *fold.Question
	var closed <-chan struct{}
	look := func() { q, closed = is.in(&l.a.journal.state.Turn), l.a.journal.closed(is) }
	if err := l.a.mailbox.do(ctx, look); err != nil {
		return r, err
	}
	if q == nil {
		return r, fmt.Errorf("the log has no question of call %s", is.callID)
	}
	if closed != nil {
		if waitUntil(ctx, l.a.host.Now, q.Expires, closed) {
			err = l.write(ctx, true, func(ctx context.Context) error {
				if now := is.in(&l.a.journal.state.Turn); now != nil && now.IsOpen() {
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
		return r, fmt.Errorf("the log has no question of call %s any more", is.callID)
	case q.Answer == nil:
		return r, tooLate(q)
	}
	return *q.Answer, nil
}

// clockLook is how often a wait checks the clock. Timers stop while the machine sleeps.
const clockLook = time.Minute

// waitUntil waits for a time of the clock, the zero time for ever. It returns false if done is closed or ctx ends
// first.
func waitUntil(ctx context.Context, now func() time.Time, until time.Time, done <-chan struct{}) bool {
	if until.IsZero() {
		return false // The caller waits for the rest.
	}
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
