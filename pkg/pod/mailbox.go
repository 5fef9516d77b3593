package pod

import (
	"cmp"
	"context"
	"errors"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// mailbox is how others reach a loaded pod: its methods run in the caller's goroutine,
// and use the state of the pod's goroutine only inside do.
type mailbox struct {
	actor    *actor
	messages chan message
	// loaded is closed once the log has been read; loadErr is set before.
	loaded  chan struct{}
	loadErr error
}

// message is a function for the pod's goroutine. done gets an error if it did not run to
// its end.
type message struct {
	run  func()
	done chan error
}

// do runs f in the pod's goroutine and waits for it. Once f has started, do waits for it
// even if ctx ends: the caller has to know the result. An error says that f did not run,
// or not to its end.
func (m *mailbox) do(ctx context.Context, f func()) error {
	done := make(chan error, 1)
	select {
	case m.messages <- message{f, done}:
		return <-done
	case <-m.actor.life.Done():
		return context.Cause(m.actor.life)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end makes the pod end: a running turn ends at its next step boundary, or at once if
// hurry is closed first. closing is the error for streams, cause that for cancelling a
// turn that outlives hurry. The pod has ended when its life is over.
func (m *mailbox) end(hurry <-chan struct{}, closing, cause error) {
	a := m.actor
	told := m.do(a.host.base, func() {
		a.closing = closing
		if a.turns.now == nil {
			return
		}
		select {
		case <-hurry:
			// Before the turn stops: a waiting one would leave at once, and stay open.
			a.turns.now.cancel(cause)
		default:
		}
		a.turns.now.stop()
	})
	if told != nil {
		return
	}
	select {
	case <-a.life.Done():
	case <-hurry:
		_ = m.do(a.host.base, func() {
			if a.turns.now != nil {
				a.turns.now.cancel(cause)
			}
		})
	}
}

// recall withdraws the task from a sub-pod: from its inbox, or by cancelling the turn
// that works on it, which has this number if it is known, and waits for the turn's end. A
// task that can't be withdrawn now is withdrawn before it could begin.
func (m *mailbox) recall(ctx context.Context, turn int64, reason string) error {
	a := m.actor
	for {
		var err error
		var c cancelling
		doErr := m.do(ctx, func() { c, err = a.recallNow(turn, reason) })
		if err = cmp.Or(doErr, err); err == nil && c.turn != nil {
			err = c.wait(ctx)
		}
		switch {
		case mayPass(err):
			return errUnstored
		case ctx.Err() != nil:
			return errNotEnded
		case err != nil || c.turn == nil || c.turn.over:
			return err
		case c.turn.ending:
			return errNoEnd
		}
		// It has left the task where it was, or the turn open.
	}
}

// disowned ends the turn that a sub-pod was spawned for: that of its parent has ended.
func (m *mailbox) disowned() {
	a := m.actor
	err := m.recall(a.host.base, 0, "the parent's turn ended")
	if err != nil && !Stopping(err) && !errors.Is(err, errUnstored) {
		a.host.Logger.Warn("cannot cancel a sub-pod whose parent no longer waits", "pod", a.id, "error", err)
	}
}

// askParent lets a sub-pod that was loaded with its task continue if its parent waits for
// it, or can't say.
func (m *mailbox) askParent(spec item.PodSpec) {
	a := m.actor
	waits, err := a.host.Family.waitsFor(a.host.base, spec)
	switch {
	case Stopping(err):
		return
	case err == nil && !waits, item.ReasonOf(err) == store.ReasonPodNotFound:
		m.disowned()
	case err != nil:
		a.log.Warn("cannot find out whether a sub-pod's parent still waits for it", "error", err)
	}
	_ = m.do(a.host.base, func() {
		a.task.unsure = false
		a.next()
	})
}

func (m *mailbox) cancel(ctx context.Context, reason string) (turnNumber int64, cancelled bool, err error) {
	a := m.actor
	for {
		var c cancelling
		doErr := m.do(ctx, func() { c, err = a.cancelTurn(reason, false) })
		if err = cmp.Or(doErr, err); err != nil || c.turn == nil {
			return 0, false, err
		}
		t := c.turn
		if err := c.wait(ctx); err != nil || t.number == 0 || t.over {
			return t.number, true, err
		}
		begun, again := true, false
		err := m.do(ctx, func() { begun, again = a.journal.state.Turn.Number == t.number, a.closing == nil && !t.ending })
		switch {
		case err == nil && !begun:
			// Its submit waits as before.
			return 0, false, nil
		case err != nil || !again:
			return t.number, false, t.notCancelled()
		}
	}
}

// waitForLast waits for an ended turn that followers still wait for, and whose goroutine
// is still ending.
func (m *mailbox) waitForLast(ctx context.Context) error {
	a := m.actor
	var ended <-chan struct{}
	err := m.do(ctx, func() {
		if a.turns.now != nil && a.turns.now.over {
			ended = a.turns.now.ended
		}
	})
	if err != nil || ended == nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// admit stores a submit and starts a turn for it if the pod is free.
func (m *mailbox) admit(ctx context.Context, b store.Batch, plan *bool) (answer Submitted, err error) {
	a := m.actor
	doErr := m.do(ctx, func() {
		if a.closing != nil {
			err = a.closing
			return
		}
		entry, _ := b.Entries[0].Kind.(item.Submitted)
		if entry.Plan = a.journal.rec.Spec.Plan; plan != nil {
			entry.Plan = *plan
		}
		b.Entries[0].Kind, b.InboxLimit = entry, a.host.settings().MaxInbox
		b.Admit.Queued = a.turns.busy() || a.journal.state.Turn.Open || len(a.inbox.items) > 0 || a.journal.situation.pause != nil
		answer, err = a.store(ctx, b)
	})
	if doErr != nil {
		return Submitted{}, doErr
	}
	return answer, err
}

// ruleFor is the rule that lets calls like this one run without a question; nil if the
// call does not ask any more.
func (m *mailbox) ruleFor(ctx context.Context, call item.Seq) (*item.Rule, error) {
	a := m.actor
	var asked *fold.Question
	err := m.do(ctx, func() {
		if q := a.journal.state.Turn.QuestionAt(call); q != nil && q.IsOpen() {
			asked = q
		}
	})
	if err != nil || asked == nil {
		return nil, err
	}
	if asked.Form != nil {
		return nil, noRule(call)
	}
	return visit(ctx, a, func(ctx context.Context) (*item.Rule, error) {
		return a.site.workspace.RuleFor(ctx, asked.ApprovalRequested)
	})
}
