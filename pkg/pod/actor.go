package pod

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/live"
	"podd/pkg/worker"
)

// actor is a loaded pod: one goroutine, and its state. Others use mailbox and presence.
type actor struct {
	host *Host
	id   string
	log  *slog.Logger
	// users counts the users that keep the pod loaded; loaded.mu guards it.
	users    int
	mailbox  *mailbox
	presence *presence
	journal  *journal
	site     *site
	backlog  *backlog
	// life ends, with the reason, when the goroutine has ended.
	life context.Context
	end  context.CancelCauseFunc

	// The fields below belong to the goroutine.

	inbox inbox
	gate  gate
	task  task
	turns turns
	// folded are the settings under which the journal's folds were made; based is the last
	// entry of the base that goes with them, 0 without one. refused is the rule of the
	// settings under which folding last failed because of damage.
	folded  *settings
	based   item.Seq
	refused *fold.Rules
	// left is what the last podd left, since the pod was loaded.
	left left
	// wake fires when a note may start a turn; late, when a pod that ends stops waiting for what it runs.
	wake, late <-chan time.Time
	// closing is why the pod has to end; nil if it does not. Anyone may read it once the pod's
	// life is over.
	closing error
}

// ReasonFailed is the reason of calls to a pod that had an internal error and is
// reloaded.
const ReasonFailed = "POD_FAILED"

// Stopping says that an error is that of a stopping host or store.
func Stopping(err error) bool {
	return item.KindOf(err) == item.KindUnavailable && item.ReasonOf(err) != ReasonFailed
}

func newActor(h *Host, rec item.Pod) *actor {
	log := h.Logger.With("pod", rec.ID, "name", rec.Name)
	a := &actor{
		host: h, id: rec.ID, log: log, presence: new(presence), task: taskOf(rec.Spec),
		inbox: inbox{taken: make(map[item.Seq]bool)}, turns: turns{ended: make(chan error, 1)},
	}
	a.mailbox = &mailbox{actor: a, messages: make(chan message), loaded: make(chan struct{})}
	a.life, a.end = context.WithCancelCause(h.base)
	a.journal = &journal{
		store: h.Store, listeners: h.listeners, log: log, now: h.Now, base: h.base, live: live.New(rec.Last), presence: a.presence,
		id: rec.ID, rec: rec, waiters: make(map[question]chan struct{}),
	}
	a.site = &site{host: h, journal: a.journal}
	a.site.lanes.turn, a.site.lanes.clients = make(chan struct{}, 1), make(chan struct{}, maxLooks)
	a.backlog = &backlog{journal: a.journal, full: newFull()}
	return a
}

// run is the pod's goroutine: it loads the pod, then serves the mailbox until the pod has
// been idle for long or has to end.
func (a *actor) run() {
	defer a.close()
	_ = a.guard(func() { a.mailbox.loadErr = a.load() })
	if a.journal.broken != nil {
		a.mailbox.loadErr = a.journal.broken
	}
	if a.mailbox.loadErr != nil {
		// The next caller gets a new try, not this error.
		a.host.pods.drop(a)
		close(a.mailbox.loaded)
		return
	}
	_ = a.guard(a.settled)
	close(a.mailbox.loaded)
	a.journal.changed(hook.PodLoaded)
	defer a.journal.changed(hook.PodUnloaded)
	idle := time.NewTimer(a.host.Idle)
	defer idle.Stop()
	if a.inbox.index(a.task.id) >= 0 || a.task.worksOn(&a.journal.state.Turn, 0) {
		a.task.unsure = true
		spec := a.journal.rec.Spec
		a.host.pods.work.Go(func() { a.mailbox.askParent(spec) })
	}
	defer func() { _ = a.guard(a.emptyInbox) }()
	_ = a.guard(a.next)
	for a.closing == nil || a.turns.now != nil || a.lingers() {
		if a.closing != nil {
			a.backlog.giveUp(a.closing)
		}
		idle.Reset(a.turns.patience(a.host.Idle))
		select {
		case m := <-a.mailbox.messages:
			m.done <- a.guard(m.run)
		case err := <-a.turns.ended:
			_ = a.guard(func() { a.turnEnded(err) })
		case <-a.backlog.timer():
			_ = a.guard(a.retry)
		case <-a.wake:
			_ = a.guard(a.next)
		case <-a.late:
			return
		case <-idle.C:
			if a.turns.rest() {
				continue
			}
			if a.turns.now == nil && !a.backlog.waits() && len(a.journal.state.Jobs.Running()) == 0 && a.wake == nil && !a.task.unsure && a.host.pods.forget(a) {
				a.log.Debug("pod passivated")
				return
			}
		}
	}
}

// endPatience limits how long a pod that ends waits for the end of what it runs.
const endPatience = 5 * time.Second

// lingers says whether a pod that ends waits for the end of what it runs, and that to be stored. What a pod runs that
// failed because of a defect goes on, and while podd restarts what a pod runs that no other node takes over.
func (a *actor) lingers() bool {
	if errors.Is(a.closing, errRestarting) && !a.journal.rec.Movable {
		return false
	}
	if len(a.journal.state.Jobs.Running()) == 0 || item.ReasonOf(a.closing) == ReasonFailed || item.KindOf(a.closing) == item.KindDataLoss {
		return false
	}
	if a.late == nil {
		a.late = time.After(endPatience)
		for _, w := range a.host.wings {
			w.Ending(a.id, a.closing)
		}
	}
	return true
}

// wakes says whether a note starts a turn now. If one may do so later, the pod checks
// again then.
func (a *actor) wakes() bool {
	a.wake = nil
	from, wakes := a.journal.state.Wakes()
	if wait := from.Sub(a.host.Now()); wakes && wait > 0 {
		a.wake = time.After(wait)
		return false
	}
	return wakes
}

// close ends streams and releases what the pod uses.
func (a *actor) close() {
	cause := a.closing
	if cause == nil {
		cause = errStopping
	}
	defer a.end(cause)
	a.backlog.close()
	a.host.pods.drop(a)
	a.journal.live.Close(cause)
	if a.site.workspace != nil {
		a.site.workspace.Close(cause)
	}
}

// guard keeps a panic of the pod from ending the daemon. The pod ends instead: it is
// reloaded from its log when it is next needed.
func (a *actor) guard(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("pod panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = item.Errorf(item.KindUnavailable, ReasonFailed, "internal error in podd: the pod was reloaded; try again")
			a.journal.broken, a.closing = err, err
			if a.turns.now != nil {
				a.turns.now.cancel(worker.ErrShutdown)
			}
		}
	}()
	f()
	return nil
}
