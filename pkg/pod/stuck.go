package pod

import (
	"fmt"
	"time"

	"podd/pkg/item"
)

// Bounds of the wait before a log that could not be written is tried again.
const (
	stuckFirst = 250 * time.Millisecond
	stuckMost  = 30 * time.Second
)

// stuck is a pod that has work to do and can't: its disk is full, its workspace is
// gone. It tries again until it can.
type stuck struct {
	// told says that the alert about it is stored.
	told  bool
	cause error
	wait  time.Duration
	timer *time.Timer
}

// again fires when it is time to try again; never for a pod that is not stuck.
func (s *stuck) again() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.timer.C
}

// hold makes the pod try again later. Until then its state says why it waits; the
// alert is stored now, or when the log can be written.
func (a *actor) hold(cause error) {
	if a.stuck == nil {
		a.stuck = &stuck{wait: stuckFirst}
	} else {
		a.stuck.timer.Stop()
		a.stuck.wait = min(2*a.stuck.wait, stuckMost)
	}
	a.stuck.cause = cause
	a.tell()
	a.stuck.timer = time.NewTimer(a.stuck.wait)
	status := a.rec.Status
	status.State, status.Reason = item.StateWaiting, fmt.Sprintf("can't go on: %v", cause)
	a.shown.Store(&status)
}

// tell raises the alert about what holds the pod, once.
func (a *actor) tell() {
	if !a.stuck.told {
		a.stuck.told = a.raise(item.LevelError, "turn", fmt.Sprintf("the pod can't go on and tries again: %v", a.stuck.cause))
	}
}

// release ends the waiting.
func (a *actor) release() {
	if a.stuck == nil {
		return
	}
	a.tell()
	a.stuck.timer.Stop()
	a.stuck = nil
	a.shown.Store(nil)
}
