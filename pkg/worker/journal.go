package worker

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// journal is what a turn has stored and what its next batch adds: the turn's position in
// its pod's log. All parts of a turn read it and store through it; it belongs to the
// turn's goroutine.
type journal struct {
	w      *Worker
	turn   Turn
	log    Log
	logger *slog.Logger
	clock  *workClock
	// now is the pod's state at the last commit.
	now Now
	// step is the number of the model request, from 1.
	step int
	// waiting is the context for waiting for others: it ends with the turn's context, and
	// when the turn is to stop at its next boundary.
	waiting     context.Context
	stopWaiting context.CancelCauseFunc
	// left is the rest of the turn's limits at the last commit. The goroutines of calls read
	// it.
	left   atomic.Pointer[leftover]
	warned warnings
	// owed are billed requests that no batch has recorded yet.
	owed []item.RequestUsage
}

// commit appends a batch. Its duration is not working time: the disk may be full for
// long.
func (t *journal) commit(ctx context.Context, b Batch) error {
	b.Kinds = slices.Concat(t.bills(), t.withWarnings(b.Kinds))
	defer t.clock.rest()()
	now, err := t.log.Append(ctx, b)
	if err != nil {
		return logFailed(ctx, err)
	}
	t.owed, t.now = nil, now
	t.left.Store(t.remains(ctx))
	return nil
}

// blocked shows that the turn waits for something outside of its log. It returns when another try makes sense, or ctx ends.
func (t *journal) blocked(ctx context.Context, cause error) {
	defer t.clock.rest()()
	t.w.Blocked(cause)
	select {
	case <-time.After(spaceAgain):
	case <-ctx.Done():
	}
}

// view shows the fold of the log, for what the journal does not have itself.
func (t *journal) view(look func(*fold.Context)) error {
	if err := t.log.Look(look); err != nil {
		return &logError{err}
	}
	return nil
}

// alert is an entry that raises an alert about this turn.
func (t *journal) alert(level item.Level, text string) item.AlertRaised {
	return item.AlertRaised{Alert: item.Alert{Pod: t.w.Pod, Level: level, Source: "turn", Text: t.w.Output.Redact(text), Time: t.w.Now()}}
}

// observe reports an edge to hooks.
func (t *journal) observe(e hook.Edge) {
	if t.w.Observe != nil {
		e.Pod, e.Turn, e.Step = t.w.Pod, t.turn.Number, t.step
		t.w.Observe(e)
	}
}

// conversation is the part of the conversation that interceptors may read now.
func (t *journal) conversation(ctx context.Context) interceptor.Conversation {
	begun := t.now.Turn.Open && t.now.Turn.Number == t.turn.Number
	before := t.now.Turn.Began - 1
	return interceptor.NewConversation(func(whole bool) iter.Seq2[interceptor.Past, error] {
		switch {
		case whole:
			return t.log.History(ctx, 0)
		case begun:
			return t.log.History(ctx, before)
		}
		return func(func(interceptor.Past, error) bool) {}
	})
}

// over says that the terminal entry is stored.
func (t *journal) over() bool {
	return t.now.Turn.Number == t.turn.Number && !t.now.Turn.Open
}

// aborted ends a turn that an interceptor ended at a call; nil otherwise.
func (t *journal) aborted() *stop {
	if t.now.Turn.Aborted == "" {
		return nil
	}
	return &stop{outcome: item.OutcomeCancelled, reason: "ABORTED", cause: t.now.Turn.Aborted}
}

// logError is the failure of the log itself: nothing more can be stored.
type logError struct{ error }

// logFailed is a log's error, which is not a failure if it only gave up because ctx
// ended.
func logFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return &logError{err}
}

// refused is why a turn ends after its log refused a batch: a retry would be refused
// again. It is nil for a log that may accept the batch later.
func (e *logError) refused() *stop {
	if Passes(e.error) {
		return nil
	}
	return failed("NOT_STORED", "the log refused an entry of the turn: %v; everything before it is kept: submit again to continue", e.error)
}

// Unwrap is the log's own error.
func (e *logError) Unwrap() error { return e.error }
