package pod

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

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
	// claimed says that the turn has taken its submit out of the inbox.
	claimed bool
	// over says that the terminal entry is stored, while the turn's goroutine may
	// still be on its way out.
	over bool
}

// busy says whether a turn is under way that can still be cancelled or waited for.
func (a *actor) busy() bool { return a.turn != nil && !a.turn.over }

// next starts the turn of the oldest submit that waits, when the pod is free.
func (a *actor) next() {
	if a.turn != nil || a.closing != nil || len(a.inbox) == 0 {
		return
	}
	if err := a.startTurn(); err != nil {
		a.log.Error("turn could not start", "error", err)
		a.raise(item.LevelError, "turn", fmt.Sprintf("the next turn could not start: %v", err))
	}
}

func (a *actor) startTurn() error {
	number, submits := a.journal.turn+1, a.inbox[:1:1]
	stopped := make(chan struct{})
	err := a.start(func(ctx context.Context, w *worker.Worker) error {
		return w.Run(ctx, &turnLog{a, number}, a.state, worker.Turn{Number: number, Submits: submits, Stop: stopped})
	}, number)
	if err == nil {
		a.turn.stop = sync.OnceFunc(func() { close(stopped) })
	}
	return err
}

// start runs work in a goroutine that has the pod's state until it ends; turn is its
// number, 0 for work that is no turn.
func (a *actor) start(work func(context.Context, *worker.Worker) error, turnNumber int64) error {
	if a.journal.open {
		if err := a.repair(a.host.base); err != nil {
			return err
		}
	}
	space, err := a.workspace()
	if err != nil {
		return err
	}
	w, err := a.worker(space)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(a.host.base)
	a.turn = &turn{number: turnNumber, cancel: cancel, stop: func() {}, ended: make(chan struct{})}
	a.running.Store(true)
	go func() { a.turnDone <- guardTurn(func() error { return work(ctx, w) }) }()
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

// worker is the pod's worker with the settings of now.
func (a *actor) worker(work *workspace) (*worker.Worker, error) {
	h, spec := a.host, a.rec.Spec
	return worker.New(worker.Config{
		Pod:          a.id,
		Model:        h.Model,
		ModelName:    first(spec.Model, h.ModelName),
		Instructions: first(spec.Instructions, h.Instructions),
		FileRefRole:  h.FileRefRole,
		Tools:        work.tools,
		Output:       h.ToolOutput,
		Spool:        work.spool,
		Chain:        h.chain,
		Compaction:   h.Compaction,
		Limits:       h.Limits,
		Retry:        h.Retry,
		Logger:       h.Logger,
		Now:          h.Now,
	})
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// turnEnded goes on after a turn: with the next submit, or with a log that could
// not be written.
func (a *actor) turnEnded(err error) {
	// A submit that could not even be claimed waits for the next one.
	goOn := a.turn.claimed || a.turn.number == 0
	a.turn.cancel(nil)
	close(a.turn.ended)
	a.turn = nil
	a.running.Store(false)
	if err != nil {
		// The turn stays open in the log; it is repaired before the next one.
		a.log.Error("turn ended without its terminal entry", "error", err)
	}
	if goOn {
		a.next()
	}
}

// raise stores an alert of the pod. One that can't be stored is logged.
func (a *actor) raise(level item.Level, source, text string) {
	alert := item.Alert{Pod: a.id, Level: level, Source: source, Text: text, Time: a.host.Now()}
	b := store.Batch{Entries: []item.Entry{{Kind: item.AlertRaised{Alert: alert}}}}
	if _, _, err := a.commit(a.host.base, b, ""); err != nil {
		a.log.Error("alert could not be stored", "text", text, "error", err)
	}
}

// turnLog is the pod's log as a turn sees it.
type turnLog struct {
	a      *actor
	number int64
}

// Append commits in the pod's goroutine.
func (l *turnLog) Append(ctx context.Context, b worker.Batch) (entries []item.Entry, err error) {
	batch := store.Batch{Dequeue: b.Claims}
	for _, k := range b.Kinds {
		batch.Entries = append(batch.Entries, item.Entry{Turn: l.number, Kind: k})
	}
	doErr := l.a.do(ctx, func() {
		_, entries, err = l.a.commit(ctx, batch, b.Waiting, b.Done...)
		if err == nil {
			l.a.inbox = l.a.inbox[len(b.Claims):]
			l.a.turn.claimed = true
			l.a.turn.over = l.number > 0 && !l.a.journal.open
		}
	})
	if doErr != nil {
		return nil, doErr
	}
	return entries, err
}

// Live shows a fragment at once, past the pod's goroutine.
func (l *turnLog) Live(d item.Delta) { l.a.live.Publish(d) }
