package pod

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"podd/internal/live"
	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// actor is a loaded pod: one goroutine and the state that it owns.
type actor struct {
	host *Host
	id   string
	// parent is the id of the pod that spawned it, task the request id of what it was
	// spawned for; empty for most.
	parent, task string
	log          *slog.Logger
	live         *live.Broadcast

	// activity says whether its turn works.
	activity activity
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
	// shown is the pod's status while it differs from the stored one, which can't be
	// written; else nil.
	shown atomic.Pointer[item.PodStatus]
	// asking are the calls that wait for a person; nil until the log is read.
	asking atomic.Pointer[[]Approval]
	// workspace is where the pod works; nil until the log is read.
	workspace Workspace
	// lanes have an element for each goroutine that asks the workspace.
	lanes struct{ turn, clients chan struct{} }

	// What follows belongs to the goroutine.

	rec       item.Pod
	epoch     store.Epoch
	state     fold.State
	situation situation
	inbox     []worker.Submit
	// taken are the submits of the inbox that the running turn is about to claim.
	taken map[item.Seq]bool
	// gate is closed when what holds the pod is lifted; lifted is what that was, until
	// the turn has heard of it.
	gate   chan struct{}
	lifted *item.Pause
	// unsure is set until a spawned pod that was loaded with its task knows whether somebody
	// waits for it; recalled once the task is taken back.
	unsure, recalled bool
	// resume says why an open turn is taken up again, waited that it did no work of its
	// own when it was left.
	resume string
	waited bool
	// told is the last alert about what of the workspace's configuration is not followed.
	told string
	turn *turn
	// waiters are closed once the question about a call, named by its id, is closed.
	waiters map[string]chan struct{}
	carried
	// folded are the settings under which context was made; based is the last entry of the
	// base that goes with them, 0 for none. refused are the rules of others under which the
	// log could not be folded, for damage.
	folded  *settings
	based   item.Seq
	refused *fold.Rules
	// turnDone receives the error of a turn that ended.
	turnDone chan error
	// closing is why the pod is to end; nil while it is not. It may be read by
	// anyone once done is closed.
	closing error
	// broken is set when a message panicked: what the pod holds in memory may not be
	// what is stored, so nothing more is.
	broken error
	// stuck is set while there is work to do that can't be done.
	stuck *stuck
	// unstored is what the running turn could not store yet, oldest first.
	unstored []*unstored
}

// carried is what the next request carries, and how the last one was encoded. It belongs to
// the turn while one runs.
type carried struct {
	context *fold.Context
	encoder worker.Encoder
}

// ReasonFailed is that of calls to a pod which met a defect of podd and is loaded again.
const ReasonFailed = "POD_FAILED"

// Stopping says that an error is that of a host or a store that stops.
func Stopping(err error) bool {
	return item.KindOf(err) == item.KindUnavailable && item.ReasonOf(err) != ReasonFailed
}

func newActor(h *Host, rec item.Pod) *actor {
	task := ""
	if rec.Spec.Parent != "" {
		task = TaskID(rec.Spec)
	}
	a := &actor{
		host:     h,
		id:       rec.ID,
		parent:   rec.Spec.Parent,
		task:     task,
		rec:      rec,
		log:      h.Logger.With("pod", rec.ID, "name", rec.Name),
		live:     live.New(rec.Last),
		loaded:   make(chan struct{}),
		mailbox:  make(chan func()),
		done:     make(chan struct{}),
		turnDone: make(chan error, 1),
		waiters:  make(map[string]chan struct{}),
		taken:    make(map[item.Seq]bool),
	}
	a.lanes.turn, a.lanes.clients = make(chan struct{}, 1), make(chan struct{}, maxLooks)
	return a
}

// run is the pod's goroutine: load, then serve the mailbox until the pod is idle
// for long or told to end.
func (a *actor) run() {
	defer close(a.done)
	defer a.close()
	_ = a.guard(func() { a.loadErr = a.load() })
	if a.broken != nil {
		a.loadErr = a.broken
	}
	if a.loadErr != nil {
		// Who comes next gets a new try, not this error.
		a.host.drop(a)
		close(a.loaded)
		return
	}
	close(a.loaded)
	a.tellHooks(hook.PodLoaded)
	defer a.tellHooks(hook.PodUnloaded)
	idle := time.NewTimer(a.host.Idle)
	defer idle.Stop()
	if a.waits(a.task) >= 0 || a.works(a.task, 0) {
		a.unsure = true
		spec := a.rec.Spec
		a.host.wg.Go(func() { a.askParent(spec) })
	}
	_ = a.guard(a.next)
	for a.closing == nil || a.turn != nil {
		if a.closing != nil {
			a.giveUp()
		}
		idle.Reset(a.host.Idle)
		select {
		case f := <-a.mailbox:
			f()
		case err := <-a.turnDone:
			_ = a.guard(func() { a.turnEnded(err) })
		case <-a.stuck.again():
			_ = a.guard(a.again)
		case <-idle.C:
			if a.turn == nil && a.stuck == nil && !a.unsure && a.host.forget(a) {
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
	if a.stuck != nil {
		a.stuck.timer.Stop()
	}
	a.host.drop(a)
	a.live.Close(cause)
	if a.workspace != nil {
		a.workspace.Close(cause)
	}
}

// guard keeps a panic of the pod from ending the daemon. The pod ends instead: it is
// loaded anew from its log when it is needed next.
func (a *actor) guard(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("pod panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = item.Errorf(item.KindUnavailable, ReasonFailed, "the pod met a defect of podd and is loaded anew: try again")
			a.broken, a.closing = err, err
			if a.turn != nil {
				a.turn.cancel(worker.ErrShutdown)
			}
		}
	}()
	f()
	return nil
}

// do runs f in the pod's goroutine and waits for it. Once f is taken it is waited
// for whatever happens to ctx: the caller has to know what came of it. An error says
// that f did not run, or not to its end.
func (a *actor) do(ctx context.Context, f func()) error {
	done := make(chan error, 1)
	select {
	case a.mailbox <- func() { done <- a.guard(f) }:
		return <-done
	case <-a.done:
		if a.closing != nil {
			return a.closing
		}
		return errStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end tells the pod to end: a running turn ends at its next step boundary, or at once when
// hurry is closed first. closing is what streams are told, cause why a running turn that
// outlives hurry is cancelled. The pod has ended when done is closed.
func (a *actor) end(hurry <-chan struct{}, closing, cause error) {
	told := a.do(a.host.base, func() {
		a.closing = closing
		if a.turn != nil {
			a.turn.stop()
		}
	})
	if told != nil {
		return
	}
	select {
	case <-a.done:
	case <-hurry:
		_ = a.do(a.host.base, func() {
			if a.turn != nil {
				a.turn.cancel(cause)
			}
		})
	}
}
