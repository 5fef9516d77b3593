package pod

import (
	"context"
	"fmt"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Bounds of the pause before podd retries a log that could not be written.
var stuckFirst = 250 * time.Millisecond

const stuckMost = 30 * time.Second

// backlog is work that a pod can't do now, because its disk is full or its workspace is
// gone. It retries until it can; meanwhile the pod's state says why it waits. It belongs
// to the pod's goroutine.
type backlog struct {
	journal *journal
	// stuck is set while there is work that can't be done.
	stuck *stuck
	// unstored is what the running turn could not store yet, oldest first; full tells those
	// who wait for the turn.
	unstored []*unstored
	full     *full
}

// full is closed once something cannot be stored; reason, set before, is why.
type full struct {
	closed chan struct{}
	reason string
}

func newFull() *full { return &full{closed: make(chan struct{})} }

// stuck says why nothing can continue, and when the next try is.
type stuck struct {
	// cause is the first reason; told says that its alert is stored.
	cause error
	told  bool
	wait  time.Duration
	timer *time.Timer
}

// unstored is what the running turn has to store while the disk is full. It waits in
// memory, so that no answer of a model or a tool has to be paid for or made again.
type unstored struct {
	// ctx ends the wait.
	ctx context.Context
	// try stores it, in the pod's goroutine.
	try func() error
	// outcome receives the result, once.
	outcome chan error
}

// mayPass says whether nothing was stored for a reason that may pass: a lack of space, or a
// database that does not answer.
func mayPass(err error) bool {
	switch item.ReasonOf(err) {
	case store.ReasonNoSpace, store.ReasonAway:
		return true
	}
	return false
}

// cantGoOn is what a waiting pod shows.
func cantGoOn(cause error) string { return fmt.Sprintf("blocked: %v", cause) }

// waits says whether there is work that can't be done.
func (b *backlog) waits() bool { return b.stuck != nil }

// timer fires when the next try is due; never for a pod that is not stuck.
func (b *backlog) timer() <-chan time.Time {
	if b.stuck == nil {
		return nil
	}
	return b.stuck.timer.C
}

// hold makes the pod retry later. Until then its state says why it waits. The log says so
// at once, and the alert is stored as soon as the pod's log can be written.
func (b *backlog) hold(cause error) {
	first := b.stuck == nil
	if first {
		b.stuck = &stuck{cause: cause, wait: stuckFirst, timer: time.NewTimer(stuckFirst)}
		b.journal.log.Error("pod is blocked; retrying", "error", cause)
	} else {
		b.stuck.wait = min(2*b.stuck.wait, stuckMost)
		b.stuck.timer.Reset(b.stuck.wait)
	}
	status := b.journal.rec.Status
	status.State, status.Reason = item.StateWaiting, cantGoOn(cause)
	b.journal.presence.shown.Store(&status)
	b.journal.listeners.fleetChanged()
	if first { // Who sees the alert finds the state.
		b.raise()
	}
}

// raise raises the alert about the reason, once.
func (b *backlog) raise() {
	if !b.stuck.told {
		b.stuck.told = b.journal.alert(item.LevelError, "turn", fmt.Sprintf("the pod is blocked; retrying: %v", b.stuck.cause)) == nil
	}
}

// release ends the waiting.
func (b *backlog) release() {
	if b.stuck == nil {
		return
	}
	b.raise()
	b.journal.log.Info("pod goes on")
	b.close()
	b.stuck = nil
	b.journal.presence.shown.Store(nil)
	b.journal.listeners.fleetChanged()
}

// close stops the timer.
func (b *backlog) close() {
	if b.stuck != nil {
		b.stuck.timer.Stop()
	}
}

// attempt tries u. Without space it keeps u for later, if u may wait and the pod does not
// have to end.
func (b *backlog) attempt(u *unstored, mayWait bool) {
	err := u.try()
	switch {
	case !mayWait || !mayPass(err):
		u.outcome <- err
		return
	case u.ctx.Err() != nil:
		u.outcome <- context.Cause(u.ctx)
		return
	}
	if len(b.unstored) == 0 {
		b.full.reason = item.ReasonOf(err)
		close(b.full.closed)
	}
	b.unstored = append(b.unstored, u)
	b.hold(err)
}

// flush stores the waiting batches, the oldest first, as far as there is space.
func (b *backlog) flush() {
	for len(b.unstored) > 0 {
		err := b.unstored[0].try()
		if mayPass(err) {
			b.hold(err)
			return
		}
		b.unstored[0].outcome <- err
		b.unstored = b.unstored[1:]
	}
	b.full = newFull()
	b.release()
}

// giveUp ends the waits whose callers have given up; all of them when the pod has to end,
// for the reason closing.
func (b *backlog) giveUp(closing error) {
	if len(b.unstored) == 0 {
		return
	}
	b.unstored = slices.DeleteFunc(b.unstored, func(u *unstored) bool {
		switch {
		case u.ctx.Err() != nil:
			u.outcome <- context.Cause(u.ctx)
		case closing != nil:
			u.outcome <- closing
		default:
			return false
		}
		return true
	})
	if len(b.unstored) == 0 {
		b.full = newFull()
	}
}
