package pod

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"podd/internal/skills"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// turn is a turn under way.
type turn struct {
	number int64
	cancel context.CancelCauseFunc
	// stop asks the turn to end at its next step boundary.
	stop func()
	// ended is closed once the turn has its terminal entry, or can't have one.
	ended chan struct{}
	// over says that the terminal entry is stored, while the turn's goroutine may
	// still be on its way out.
	over bool
	// full is closed while what the turn has to store waits for space.
	full chan struct{}
}

// busy says whether a turn is under way that can still be cancelled or waited for.
func (a *actor) busy() bool { return a.turn != nil && !a.turn.over }

// next goes on with a turn that was left open, or starts the turn of the oldest submit
// that waits, or of a note that wants one, when the pod is free. What can't be done now
// is tried again.
func (a *actor) next() {
	if a.turn != nil || a.closing != nil {
		return
	}
	var err error
	switch {
	case a.journal.open:
		err = a.startTurn(worker.Turn{
			Number: a.journal.turn, Resume: a.resume, Waited: a.waited, NotBefore: a.rec.Status.WaitUntil, Held: a.situation.pause,
		})
	case a.situation.pause != nil:
	case len(a.inbox) > 0:
		err = a.startTurn(worker.Turn{Number: a.journal.turn + 1, Submits: a.inbox[:1:1], Notes: a.pendingNotes()})
	case a.journal.wakes():
		err = a.startTurn(worker.Turn{Number: a.journal.turn + 1, Notes: a.pendingNotes()})
	}
	switch {
	case a.closing != nil:
		// It was quarantined.
	case err != nil:
		a.hold(err)
	case a.turn == nil:
		a.release()
	default:
		a.waited = false
	}
}

func (a *actor) startTurn(t worker.Turn) error {
	if err := a.readProject(a.host.base); err != nil {
		return err
	}
	a.tellProject()
	stopped := make(chan struct{})
	t.Stop = stopped
	err := a.start(func(ctx context.Context, w *worker.Worker) error {
		return w.Run(ctx, &turnLog{a, t.Number}, a.state, a.progress, t)
	}, t.Number)
	if err != nil {
		return err
	}
	a.turn.stop = sync.OnceFunc(func() { close(stopped) })
	for _, s := range t.Submits {
		a.taken[s.Seq] = true
	}
	return nil
}

// start runs work in a goroutine that has the pod's state until it ends; turn is its
// number, 0 for work that is no turn.
func (a *actor) start(work func(context.Context, *worker.Worker) error, turnNumber int64) error {
	s := a.host.settings()
	space, err := a.workspace(s)
	if err != nil {
		return err
	}
	if err := a.refold(s); err != nil {
		return err
	}
	w, err := a.worker(s, space)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(a.host.base)
	a.turn = &turn{number: turnNumber, cancel: cancel, stop: func() {}, ended: make(chan struct{}), full: make(chan struct{})}
	a.running.Store(true)
	foreign, own := a.project.Tools, space.own
	skill := slices.Clone(space.skill)
	go func() {
		a.turnDone <- guardTurn(func() error {
			// Not in the pod's goroutine: a program may take long to start.
			if foreign != nil {
				offered, err := own.with(append(skill, foreign(ctx, true)...))
				if err != nil {
					return err
				}
				w.Offer(offered)
			}
			return work(ctx, w)
		})
	}()
	return nil
}

// guardTurn turns a panic of a turn's goroutine into an error. The pod's goroutine
// waits for it.
func guardTurn(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("turn panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return work()
}

// worker is the pod's worker with settings that stay as long as it does.
func (a *actor) worker(s *settings, work *workspace) (*worker.Worker, error) {
	h, spec := a.host, a.rec.Spec
	found := skills.Find(work.fs, work.skillsDir)
	tools, err := work.withSkills(found)
	if err != nil {
		return nil, err
	}
	return worker.New(worker.Config{
		Pod:          a.id,
		Dir:          spec.Dir,
		Model:        s.Model,
		ModelName:    cmp.Or(spec.Model, s.ModelName),
		Instructions: joined(cmp.Or(spec.Instructions, s.Instructions), found.List(true)),
		Project:      saidBy(work, a.project, found),
		FileRefRole:  s.FileRefRole,
		Tools:        tools,
		Files:        work.fs,
		Output:       s.ToolOutput,
		Spool:        work.spool,
		Chain:        s.chain,
		Policy:       a.rule,
		Compaction:   s.Compaction,
		Summarize:    s.Summarize,
		Limits:       limitsOf(spec.Limits, s.Limits),
		ApprovalTime: h.ApprovalTime,
		Fallbacks:    s.Fallbacks,
		Working:      a.pace.set,
		Observe:      func(e hook.Edge) { h.hooks.Load().Edge(e) },
		Retry:        h.Retry,
		Logger:       h.Logger,
		Now:          h.Now,
	})
}

// turnEnded goes on after a turn: with the next submit, or with a log that could
// not be written.
func (a *actor) turnEnded(err error) {
	a.turn.cancel(nil)
	close(a.turn.ended)
	a.turn = nil
	clear(a.taken)
	a.running.Store(false)
	a.live.Forget()
	if err != nil && a.closing == nil {
		// The turn stays open in the log, or its submit in the inbox.
		a.resume, a.waited = "the log could not be written in the middle of it", worker.Passes(err)
		// The turn may have taken entries for stored that are not.
		a.folded = nil
		a.hold(err)
		return
	}
	if a.closing != nil && a.journal.open {
		a.leaveTurn()
	}
	if !a.journal.open {
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
