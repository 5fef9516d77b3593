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
	if a.journal.open {
		if err := a.repair(a.host.base); err != nil {
			return err
		}
	}
	work, err := a.workspace()
	if err != nil {
		return err
	}
	w, err := a.worker(work)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(a.host.base)
	stopped := make(chan struct{})
	a.turn = &turn{
		number: a.journal.turn + 1,
		cancel: cancel,
		stop:   sync.OnceFunc(func() { close(stopped) }),
		ended:  make(chan struct{}),
	}
	a.running.Store(true)
	t := worker.Turn{Number: a.turn.number, Submits: a.inbox[:1:1], Stop: stopped}
	go func() { a.turnDone <- runTurn(ctx, w, &turnLog{a, t.Number}, a, t) }()
	return nil
}

// runTurn is the turn's goroutine; the pod's goroutine waits for its result.
func runTurn(ctx context.Context, w *worker.Worker, log *turnLog, a *actor, t worker.Turn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("turn panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return w.Run(ctx, log, a.state, t)
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
	claimed := a.turn.claimed
	a.turn.cancel(nil)
	close(a.turn.ended)
	a.turn = nil
	a.running.Store(false)
	if err != nil {
		// The turn stays open in the log; it is repaired before the next one.
		a.log.Error("turn ended without its terminal entry", "error", err)
	}
	if claimed {
		// A submit that could not even be claimed waits for the next one.
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
			l.a.turn.over = !l.a.journal.open
		}
	})
	if doErr != nil {
		return nil, doErr
	}
	return entries, err
}

// Live shows a fragment at once, past the pod's goroutine.
func (l *turnLog) Live(d item.Delta) { l.a.live.Publish(d) }
