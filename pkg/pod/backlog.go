package pod

import (
	"context"
	"fmt"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Bounds of the wait before a log that could not be written is tried again.
var stuckFirst = 250 * time.Millisecond

const stuckMost = 30 * time.Second

// backlog is what a pod has to do and can't: its disk is full, its workspace is gone. It is
// tried again until it can be done; meanwhile the pod's state says why it waits. It belongs
// to the pod's goroutine.
type backlog struct {
	journal *journal
	// stuck is set while there is work to do that can't be done.
	stuck *stuck
	// unstored is what the running turn could not store yet, oldest first; full is closed
	// while that is anything.
	unstored []*unstored
	full     chan struct{}
}

// stuck says why nothing goes on, and when that is tried again.
type stuck struct {
	// cause is what it was stuck by first; told says that the alert about that is stored.
	cause error
	told  bool
	wait  time.Duration
	timer *time.Timer
}

// unstored is what the running turn has to store while the disk is full. It waits in
// memory, so that nothing that a model or a tool gave has to be paid or done again.
type unstored struct {
	// ctx ends the wait.
	ctx context.Context
	// try stores it, in the pod's goroutine.
	try func() error
	// outcome gets what came of it, once.
	outcome chan error
}

// noSpace says whether what could not be stored can be once there is space.
func noSpace(err error) bool { return item.ReasonOf(err) == store.ReasonNoSpace }

// cantGoOn is what a pod that waits shows.
func cantGoOn(cause error) string { return fmt.Sprintf("can't go on: %v", cause) }

// waits says whether there is work to do that can't be done.
func (b *backlog) waits() bool { return b.stuck != nil }

// timer fires when it is time to try again; never for a pod that is not stuck.
func (b *backlog) timer() <-chan time.Time {
	if b.stuck == nil {
		return nil
	}
	return b.stuck.timer.C
}

// hold makes the pod try again later. Until then its state says why it waits; the log
// says so at once, and the alert is stored as soon as the log can be written.
func (b *backlog) hold(cause error) {
	if b.stuck == nil {
		b.stuck = &stuck{cause: cause, wait: stuckFirst, timer: time.NewTimer(stuckFirst)}
		b.journal.log.Error("pod can't go on and tries again", "error", cause)
		b.tell()
	} else {
		b.stuck.wait = min(2*b.stuck.wait, stuckMost)
		b.stuck.timer.Reset(b.stuck.wait)
	}
	status := b.journal.rec.Status
	status.State, status.Reason = item.StateWaiting, cantGoOn(cause)
	b.journal.presence.shown.Store(&status)
}

// tell raises the alert about what holds the pod, once.
func (b *backlog) tell() {
	if !b.stuck.told {
		b.stuck.told = b.journal.alert(item.LevelError, "turn", fmt.Sprintf("the pod can't go on and tries again: %v", b.stuck.cause)) == nil
	}
}

// release ends the waiting.
func (b *backlog) release() {
	if b.stuck == nil {
		return
	}
	b.tell()
	b.journal.log.Info("pod goes on")
	b.close()
	b.stuck = nil
	b.journal.presence.shown.Store(nil)
}

// close stops the timer.
func (b *backlog) close() {
	if b.stuck != nil {
		b.stuck.timer.Stop()
	}
}

// attempt tries u and keeps what finds no space, when that may wait and the pod is not to
// end.
func (b *backlog) attempt(u *unstored, mayWait bool) {
	err := u.try()
	switch {
	case !mayWait || !noSpace(err):
		u.outcome <- err
		return
	case u.ctx.Err() != nil:
		u.outcome <- context.Cause(u.ctx)
		return
	}
	if len(b.unstored) == 0 {
		close(b.full)
	}
	b.unstored = append(b.unstored, u)
	b.hold(err)
}

// flush stores what waits, the oldest first, as far as there is space.
func (b *backlog) flush() {
	for len(b.unstored) > 0 {
		err := b.unstored[0].try()
		if noSpace(err) {
			b.hold(err)
			return
		}
		b.unstored[0].outcome <- err
		b.unstored = b.unstored[1:]
	}
	b.full = make(chan struct{})
	b.release()
}

// giveUp ends the wait of what nobody wants to be stored any more; all of it when the
// pod is to end, for the reason closing.
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
		b.full = make(chan struct{})
	}
}
