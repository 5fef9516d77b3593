package pod

import (
	"fmt"
	"time"

	"podd/pkg/item"
)

// Bounds of the wait before a log that could not be written is tried again.
var stuckFirst = 250 * time.Millisecond

const stuckMost = 30 * time.Second

// stuck is a pod that has work to do and can't: its disk is full, its workspace is
// gone. It tries again until it can.
type stuck struct {
	// cause is what it was stuck by first; told says that the alert about that is stored.
	cause error
	told  bool
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

// hold makes the pod try again later. Until then its state says why it waits; the log
// says so at once, and the alert is stored as soon as the log can be written.
func (a *actor) hold(cause error) {
	if a.stuck == nil {
		a.stuck = &stuck{cause: cause, wait: stuckFirst, timer: time.NewTimer(stuckFirst)}
		a.log.Error("pod can't go on and tries again", "error", cause)
		a.tell()
	} else {
		a.stuck.wait = min(2*a.stuck.wait, stuckMost)
		a.stuck.timer.Reset(a.stuck.wait)
	}
	status := a.rec.Status
	status.State, status.Reason = item.StateWaiting, cantGoOn(cause)
	a.shown.Store(&status)
}

// cantGoOn is what a pod that waits shows.
func cantGoOn(cause error) string { return fmt.Sprintf("can't go on: %v", cause) }

// tell raises the alert about what holds the pod, once.
func (a *actor) tell() {
	if !a.stuck.told {
		a.stuck.told = a.alert(item.LevelError, "turn", fmt.Sprintf("the pod can't go on and tries again: %v", a.stuck.cause)) == nil
	}
}

// again tries what could not be done before: to store what the turn gave, else to begin
// a turn. The alert comes first, so that it stands in the log before what it held up.
func (a *actor) again() {
	a.tell()
	if len(a.unstored) == 0 {
		a.next()
		return
	}
	for len(a.unstored) > 0 {
		err := a.unstored[0].try()
		if noSpace(err) {
			a.hold(err)
			return
		}
		a.unstored[0].outcome <- err
		a.unstored = a.unstored[1:]
	}
	a.turn.full = make(chan struct{})
	a.release()
}

// release ends the waiting.
func (a *actor) release() {
	if a.stuck == nil {
		return
	}
	a.tell()
	a.log.Info("pod goes on")
	a.stuck.timer.Stop()
	a.stuck = nil
	a.shown.Store(nil)
}
