package pod

import (
	"context"
	"errors"
	"sync"
	"time"

	"podd/pkg/worker"
)

// turn is a running turn.
type turn struct {
	number int64
	cancel context.CancelCauseFunc
	// stop makes the turn end at its next step boundary: it closes stopped and ends waiting,
	// which also ends with the turn.
	stop    func()
	stopped chan struct{}
	waiting context.Context
	// begun says that it has the pod's state, and so may have stored something. work is what
	// it does then.
	begun bool
	work  worker.Turn
	// now is the pod's state when the turn begins.
	now worker.Now
	// ended is closed once the turn has its terminal entry, or can't have one.
	ended chan struct{}
	// stored says that it has stored something: a resumed one works again.
	stored bool
	// ending says that it runs only to end.
	ending bool
	// over says that the terminal entry is stored, while the turn's goroutine may still be
	// ending.
	over bool
	// leaves lets the workspace's directory be closed; nil if the turn does not use it.
	leaves func()
}

// leave ends the turn's use of the workspace.
func (t *turn) leave() {
	if t.leaves != nil {
		t.leaves()
	}
}

// turns are the pod's running turn and the conditions for the next one. It belongs to the
// pod's goroutine.
type turns struct {
	// now is the running one; otherwise nil.
	now *turn
	// ended receives the error of a turn that ended.
	ended chan error
	// resume says why an open turn is resumed, waited that it did no work of its own when it
	// was left.
	resume string
	waited bool
	// asked counts the wings that were asked for work that an earlier podd left unfinished.
	asked int
	// encoder makes the requests' bodies; the running turn has it.
	encoder worker.Encoder
}

// restAfter is how long a pod keeps the bytes of its last request with nothing to do.
var restAfter = 3 * time.Second

// patience is how long the pod waits for something to do: first until it rests, then until it
// leaves memory.
func (t *turns) patience(idle time.Duration) time.Duration {
	if t.now == nil && !t.encoder.Rests() {
		return min(restAfter, idle)
	}
	return idle
}

// rest drops what the pod can make again cheaply. It says whether there was something.
func (t *turns) rest() bool {
	if t.now != nil || t.encoder.Rests() {
		return false
	}
	t.encoder.Rest()
	return true
}

// busy says whether a turn runs that can still be cancelled or waited for.
func (t *turns) busy() bool { return t.now != nil && !t.now.over }

// next resumes an open turn, or starts a turn for the oldest waiting submit or for a note
// that wakes, if the pod is free. It retries what can't be done now.
func (a *actor) next() {
	if a.turns.now != nil || a.closing != nil || a.task.unsure {
		return
	}
	if a.startUnfinished() {
		return
	}
	if err := a.removeRecalled(); err != nil {
		a.backlog.hold(err)
		return
	}
	if a.task.recalled && a.task.worksOn(&a.journal.state.Turn, 0) {
		if err := a.endTurn(&worker.Cancelled{Reason: "the parent's call ended", ByPodd: true}); err != nil {
			a.backlog.hold(err)
		}
		return
	}
	if t, ok := a.due(); ok {
		a.startTurn(t)
	} else {
		a.backlog.release()
	}
}

// due is the turn that a free pod has to run now, if any.
func (a *actor) due() (t worker.Turn, ok bool) {
	last := &a.journal.state.Turn
	switch {
	case a.journal.state.Turn.Open:
		return worker.Turn{
			Number: a.journal.state.Turn.Number, Resume: a.turns.resume, Waited: a.turns.waited, NotBefore: a.journal.rec.Status.WaitUntil, Held: a.journal.situation.pause,
			Lifted: a.journal.situation.lifted,
			Plan:   last.Plan, NoQuestions: last.NoQuestions, AnswerSchema: last.Wanted.Schema, Choice: last.Choice,
		}, true
	case a.journal.situation.pause != nil:
		return t, false
	case len(a.inbox.items) > 0:
		next := a.inbox.items[:1:1]
		return worker.Turn{
			Number: last.Number + 1, Submits: next, Notes: waitingNotes(a.journal.state), Plan: next[0].Plan, NoQuestions: next[0].NoQuestions,
			AnswerSchema: next[0].AnswerSchema, Choice: next[0].Choice,
		}, true
	case a.wakes():
		// A note is no person who lets the pod act, and continues a turn that was interrupted.
		return worker.Turn{
			Number: last.Number + 1, Notes: waitingNotes(a.journal.state), AnswerSchema: last.Wanted.Schema,
			Plan: last.Plan || last.Number == 0 && a.journal.rec.Spec.Plan, NoQuestions: last.NoQuestions,
		}, true
	}
	return t, false
}

// retry retries what could not be done before: storing the turn's results, otherwise
// beginning a turn. The alert comes first, so that it precedes what it delayed in the
// log.
func (a *actor) retry() {
	a.backlog.raise()
	if len(a.backlog.unstored) == 0 {
		a.next()
		return
	}
	a.backlog.flush()
}

// errNotDue says that a turn has nothing to do by the time that it can begin.
var errNotDue = errors.New("the turn is not due any more")

// startTurn runs a turn on the state of its workspace when it begins.
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
			return w.Cancel(ctx, &turnLog{a, t.Number}, under.now, t.Number, cause)
		}
		t.Stop, t.Encoder = under.stopped, &a.turns.encoder
		return w.Run(ctx, &turnLog{a, t.Number}, under.now, t)
	})
	for _, s := range t.Submits {
		a.inbox.taken[s.Seq] = true
	}
}

// start runs work in a goroutine that has the pod's state, once it has begun, until it
// ends. number is the turn's, 0 for work that is not a turn.
func (a *actor) start(number int64, work func(context.Context, *turn) error) {
	ctx, cancel := context.WithCancelCause(a.host.base)
	t := &turn{number: number, cancel: cancel, stopped: make(chan struct{}), ended: make(chan struct{})}
	waiting, stopWaiting := context.WithCancelCause(ctx)
	t.waiting, t.stop = waiting, sync.OnceFunc(func() {
		close(t.stopped)
		stopWaiting(worker.ErrShutdown)
	})
	a.turns.now = t
	a.presence.running.Store(true)
	go func() { a.turns.ended <- a.contained(func() error { return work(ctx, t) }) }()
}

// turnEnded continues after a turn: with the next submit, or with a log that could not be
// written.
func (a *actor) turnEnded(err error) {
	t := a.turns.now
	t.cancel(nil)
	t.leave()
	close(t.ended)
	a.turns.now = nil
	clear(a.inbox.taken)
	a.presence.running.Store(false)
	a.journal.live.Forget()
	if !t.begun {
		switch {
		case Stopping(a.closing) && a.journal.state.Turn.Open:
			a.journal.leaveTurn()
		case a.closing != nil:
		case err != nil:
			a.backlog.hold(err)
		default:
			a.backlog.release()
			a.next()
		}
		return
	}
	if err != nil && a.closing == nil {
		// The turn stays open in the log, or its submit in the inbox.
		a.turns.resume, a.turns.waited = "podd could not write the log during the turn", worker.Passes(err)
		// The state in memory is not trusted any more: it is folded again from what is stored.
		a.folded = nil
		a.backlog.hold(err)
		return
	}
	if a.closing != nil && a.journal.state.Turn.Open {
		a.journal.leaveTurn()
	}
	if !a.journal.state.Turn.Open {
		a.host.Family.disown(a.id)
		a.settled()
		a.rebaseAtRest()
	}
	a.backlog.release()
	a.next()
}
