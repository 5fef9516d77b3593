package pod

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// turn is a turn under way.
type turn struct {
	number int64
	cancel context.CancelCauseFunc
	// stop asks the turn to end at its next step boundary: it closes stopped and ends
	// waiting, which ends with the turn, too.
	stop    func()
	stopped chan struct{}
	waiting context.Context
	// begun says that it has the pod's state, and so may have stored something. work is what
	// it does then.
	begun bool
	work  worker.Turn
	// now is where the pod stands when the turn begins.
	now fold.State
	// ended is closed once the turn has its terminal entry, or can't have one.
	ended chan struct{}
	// ending says that it only runs to end.
	ending bool
	// over says that the terminal entry is stored, while the turn's goroutine may
	// still be on its way out.
	over bool
	// leaves lets the workspace's directory be closed; nil when the turn does not use it.
	leaves func()
	// full is closed while what the turn has to store waits for space.
	full chan struct{}
}

// leave ends the turn's use of the workspace.
func (t *turn) leave() {
	if t.leaves != nil {
		t.leaves()
	}
}

// busy says whether a turn is under way that can still be cancelled or waited for.
func (a *actor) busy() bool { return a.turn != nil && !a.turn.over }

// next goes on with a turn that was left open, or starts the turn of the oldest submit
// that waits, or of a note that wants one, when the pod is free. What can't be done now
// is tried again.
func (a *actor) next() {
	if a.turn != nil || a.closing != nil || a.unsure {
		return
	}
	if err := a.takeBack(); err != nil {
		a.hold(err)
		return
	}
	if a.recalled && a.works(a.task, 0) {
		if err := a.endTurn(&worker.Cancelled{Reason: "the call that it works for has ended"}); err != nil {
			a.hold(err)
		}
		return
	}
	if t, ok := a.due(); ok {
		a.startTurn(t)
	} else {
		a.release()
	}
}

// due is the turn that a free pod has to run now, if any.
func (a *actor) due() (t worker.Turn, ok bool) {
	switch {
	case a.state.Turn.Open:
		return worker.Turn{
			Number: a.state.Turn.Number, Resume: a.resume, Waited: a.waited, NotBefore: a.rec.Status.WaitUntil, Held: a.situation.pause,
		}, true
	case a.situation.pause != nil:
		return t, false
	case len(a.inbox) > 0:
		return worker.Turn{Number: a.state.Turn.Number + 1, Submits: a.inbox[:1:1], Notes: a.pendingNotes()}, true
	case a.state.Wakes():
		return worker.Turn{Number: a.state.Turn.Number + 1, Notes: a.pendingNotes()}, true
	}
	return t, false
}

// errNotDue says that a turn has nothing to do by the time that it can begin.
var errNotDue = errors.New("the turn is not due any more")

// startTurn runs a turn on what its workspace has when it begins.
func (a *actor) startTurn(t worker.Turn) {
	s := a.host.settings()
	a.start(t.Number, func(ctx context.Context, under *turn) error {
		w, err := a.prepare(ctx, under, s)
		if errors.Is(err, errNotDue) {
			return nil
		}
		if err != nil {
			return err
		}
		t := under.work
		if cause, ok := errors.AsType[*worker.Cancelled](context.Cause(ctx)); ok && under.ending {
			return w.Cancel(ctx, &turnLog{a, t.Number}, a.context, under.now, t.Number, cause)
		}
		t.Stop, t.Encoder = under.stopped, &a.encoder
		return w.Run(ctx, &turnLog{a, t.Number}, a.context, under.now, t)
	})
	for _, s := range t.Submits {
		a.taken[s.Seq] = true
	}
}

// start runs work in a goroutine that has the pod's state, once it has begun, until it
// ends. number is the turn's, 0 for work that is no turn.
func (a *actor) start(number int64, work func(context.Context, *turn) error) {
	ctx, cancel := context.WithCancelCause(a.host.base)
	t := &turn{number: number, cancel: cancel, stopped: make(chan struct{}), ended: make(chan struct{}), full: make(chan struct{})}
	waiting, stopWaiting := context.WithCancelCause(ctx)
	t.waiting, t.stop = waiting, sync.OnceFunc(func() {
		close(t.stopped)
		stopWaiting(worker.ErrShutdown)
	})
	a.turn = t
	a.running.Store(true)
	go func() { a.turnDone <- a.contained(func() error { return work(ctx, t) }) }()
}

// worker is the pod's worker with settings that stay as long as it does. Without a ground
// it has no tools.
func (a *actor) worker(s *settings, g Ground) (*worker.Worker, error) {
	c := a.workerConfig(s)
	if g != nil {
		if err := g.Equip(&c); err != nil {
			return nil, err
		}
	}
	return worker.New(c)
}

// workerConfig is that of the pod's worker, as far as it does not depend on the workspace.
func (a *actor) workerConfig(s *settings) worker.Config {
	h, spec := a.host, a.rec.Spec
	return worker.Config{
		Pod:          a.id,
		Dir:          spec.Dir,
		Model:        s.Model,
		ModelName:    cmp.Or(spec.Model, s.ModelName),
		Instructions: cmp.Or(spec.Instructions, s.Instructions),
		FileRefRole:  s.FileRefRole,
		Tools:        new(tool.Registry),
		Chain:        s.chain,
		Policy:       a.workspace.Decide,
		Compaction:   s.Compaction,
		Summarize:    s.Summarize,
		Limits:       limitsOf(spec.Limits, s.Limits),
		ApprovalTime: h.ApprovalTime,
		Fallbacks:    s.Fallbacks,
		Working:      a.activity.set,
		Observe:      func(e hook.Edge) { h.hooks.Load().Edge(e) },
		Retry:        h.Retry,
		Logger:       h.Logger,
		Now:          h.Now,
	}
}

// turnEnded goes on after a turn: with the next submit, or with a log that could
// not be written.
func (a *actor) turnEnded(err error) {
	t := a.turn
	t.cancel(nil)
	t.leave()
	close(t.ended)
	a.turn = nil
	clear(a.taken)
	a.running.Store(false)
	a.live.Forget()
	if !t.begun {
		switch {
		case Stopping(a.closing) && a.state.Turn.Open:
			a.leaveTurn()
		case a.closing != nil:
		case err != nil:
			a.hold(err)
		default:
			a.release()
			a.next()
		}
		return
	}
	if err != nil && a.closing == nil {
		// The turn stays open in the log, or its submit in the inbox.
		a.resume, a.waited = "the log could not be written in the middle of it", worker.Passes(err)
		// What the turn holds is folded again from what is stored.
		a.folded = nil
		a.hold(err)
		return
	}
	if a.closing != nil && a.state.Turn.Open {
		a.leaveTurn()
	}
	if !a.state.Turn.Open {
		a.host.disown(a.id)
		a.rebaseAtRest()
	}
	a.release()
	a.next()
}

// leaveTurn shows that a turn waits for the podd that comes next, and so was not what
// ended this one.
func (a *actor) leaveTurn() {
	s := a.situation
	if s.waiting == "" {
		s.waiting = "goes on when podd is back"
	}
	if _, _, err := a.commit(a.host.base, store.Batch{}, s); err != nil {
		a.log.Warn("the turn's state could not be stored", "error", err)
	}
}

// raise stores an alert of the pod. One that can't be stored is logged.
func (a *actor) raise(level item.Level, source, text string) {
	if err := a.alert(level, source, text); err != nil {
		a.log.Error("alert could not be stored", "text", text, "error", err)
	}
}

func (a *actor) alert(level item.Level, source, text string) error {
	alert := item.Alert{Pod: a.id, Level: level, Source: source, Text: text, Time: a.host.Now()}
	_, _, err := a.commit(a.host.base, store.Batch{Entries: []item.Entry{{Kind: item.AlertRaised{Alert: alert}}}}, a.situation)
	return err
}
