package pod

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"podd/internal/live"
	"podd/pkg/item"
	"podd/pkg/projection"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// actor is a loaded pod: one goroutine and the state that it owns.
type actor struct {
	host *Host
	id   string
	log  *slog.Logger
	live *live.Broadcast

	// loaded is closed once the log has been read; loadErr is set before.
	loaded  chan struct{}
	loadErr error
	mailbox chan func()
	// done is closed when the goroutine has ended.
	done chan struct{}
	// users counts who keeps the pod loaded; guarded by Host.mu.
	users int
	// running mirrors turn != nil for whoever counts.
	running atomic.Bool

	// What follows belongs to the goroutine, and state to the turn while one runs.

	rec     item.Pod
	epoch   store.Epoch
	journal journal
	state   *projection.State
	inbox   []worker.Submit
	work    *workspace
	turn    *turn
	// turnDone receives the error of a turn that ended.
	turnDone chan error
	// closing is why the pod is to end; nil while it is not.
	closing error
}

func newActor(h *Host, rec item.Pod) *actor {
	return &actor{
		host:     h,
		id:       rec.ID,
		rec:      rec,
		log:      h.Logger.With("pod", rec.ID, "name", rec.Name),
		live:     live.New(rec.Last),
		loaded:   make(chan struct{}),
		mailbox:  make(chan func()),
		done:     make(chan struct{}),
		turnDone: make(chan error, 1),
	}
}

// run is the pod's goroutine: load, then serve the mailbox until the pod is idle
// for long or told to end.
func (a *actor) run() {
	defer close(a.done)
	defer a.close()
	a.loadErr = a.load()
	close(a.loaded)
	if a.loadErr != nil {
		return
	}
	idle := time.NewTimer(a.host.Idle)
	defer idle.Stop()
	a.next()
	for a.closing == nil || a.turn != nil {
		idle.Reset(a.host.Idle)
		select {
		case f := <-a.mailbox:
			a.guard(f)
		case err := <-a.turnDone:
			a.guard(func() { a.turnEnded(err) })
		case <-idle.C:
			if a.turn == nil && a.host.forget(a) {
				a.log.Debug("pod passivated")
				return
			}
		}
	}
}

// close ends streams and gives back what the pod holds.
func (a *actor) close() {
	cause := a.closing
	if cause == nil {
		cause = errStopping
	}
	a.host.drop(a)
	a.live.Close(cause)
	if a.work != nil {
		a.work.close()
	}
}

// guard keeps a panic in the mailbox from ending the daemon.
func (a *actor) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("pod panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}

// do runs f in the pod's goroutine and waits for it. Once f is taken it is waited
// for whatever happens to ctx: the caller has to know what came of it.
func (a *actor) do(ctx context.Context, f func()) error {
	finished := make(chan struct{})
	message := func() {
		defer close(finished)
		f()
	}
	select {
	case a.mailbox <- message:
		<-finished
		return nil
	case <-a.done:
		return errStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end tells the pod to end and waits for it: a running turn ends at its next step
// boundary, or at once when ctx ends first. closing is what streams are told,
// cause why a running turn that outlives ctx is
// cancelled.
func (a *actor) end(ctx context.Context, closing, cause error) {
	told := a.do(context.WithoutCancel(ctx), func() {
		a.closing = closing
		if a.turn != nil {
			a.turn.stop()
		}
	})
	if told == nil {
		select {
		case <-a.done:
		case <-ctx.Done():
			_ = a.do(context.WithoutCancel(ctx), func() {
				if a.turn != nil {
					a.turn.cancel(cause)
				}
			})
		}
	}
	<-a.done
}
