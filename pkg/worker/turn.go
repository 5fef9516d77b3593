package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// run is one turn under way.
type run struct {
	*Worker
	turn  Turn
	log   Log
	state *fold.Context
	// now is where the pod stands since the last commit.
	now    fold.State
	logger *slog.Logger
	clock  *workClock
	// waiting is the context of what waits for others: it ends with the turn's, and
	// when the turn is to stop at its next boundary.
	waiting     context.Context
	stopWaiting context.CancelCauseFunc
	// reviewing is held while interceptors are asked about a call or a result: the calls
	// of a step end in parallel, also while others are decided on.
	reviewing sync.Mutex

	// left is what remains of the turn's limits since the last commit; idle are the calls
	// whose tools only wait.
	left atomic.Pointer[leftover]
	idle idleCalls

	// model is the one to ask: the pod's or, after it failed, a fallback.
	model     string
	fallbacks []string
	// step is the number of the model request, from 1.
	step int
	// claimed says that turn_started is stored.
	claimed bool
	// isSetUp says that what the requests of this turn send beside the items is stored.
	isSetUp bool
	// retried and waited say that the turn has raised an alert about a failed request,
	// and about a long wait.
	retried, waited bool
	// partial is the timeline of a shown answer that has not ended.
	partial *timeline
	// lifted names where an interceptor held the turn and a person let it go on.
	lifted string
	warned warnings
	// owed are requests that were billed and that no batch has recorded yet.
	owed []item.RequestUsage
}

// steps is the turn: claim, or go on with what was left open, then ask and run tools
// until nothing is left to do. What comes next follows from the log alone. A panic ends
// the turn as an error, not the daemon.
func (t *run) steps(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.logger.Error("turn panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = failed("INTERNAL", "podd met a defect of its own in this turn: %v", p)
		}
	}()
	calls, err := t.begin(ctx)
	if err != nil {
		return err
	}
	for {
		switch {
		case len(calls) > 0:
			err = t.runCalls(ctx, calls)
			calls = nil
		case t.now.Turn.Final:
			var goOn bool
			if goOn, err = t.finish(ctx); err == nil && !goOn {
				return nil
			}
		default:
			calls, err = t.oneStep(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// begin claims the turn's submits, or says which calls of a turn that goes on still
// have to end.
func (t *run) begin(ctx context.Context) (calls []*call, err error) {
	if t.now.Turn.Open && t.now.Turn.Number == t.turn.Number {
		calls, err = t.resume(ctx)
	} else {
		err = t.claim(ctx)
	}
	if err == nil && len(calls) == 0 {
		err = t.waitOut(ctx)
	}
	if err != nil {
		return nil, err
	}
	if t.isSetUp {
		return calls, nil
	}
	return calls, t.setUp(ctx)
}

// oneStep is a model request and its answer.
func (t *run) oneStep(ctx context.Context) ([]*call, error) {
	t.step = t.now.Turn.Step + 1
	if err := t.boundary(ctx); err != nil {
		return nil, err
	}
	answer, err := t.ask(ctx)
	if err != nil {
		return nil, err
	}
	return t.accept(ctx, answer)
}

// commit appends a batch and folds its entries into the state. The time that it takes is
// no work: the disk may be full for long.
func (t *run) commit(ctx context.Context, b Batch) error {
	b.Kinds = slices.Concat(t.bills(), t.withWarnings(b.Kinds))
	defer t.clock.rest()()
	entries, now, err := t.log.Append(ctx, b)
	if err != nil {
		return logFailed(ctx, err)
	}
	t.owed = nil
	t.now = now
	for _, e := range entries {
		t.state.Add(e)
	}
	t.left.Store(t.remains())
	return nil
}

// alert is an entry that raises an alert about this turn.
func (t *run) alert(level item.Level, text string) item.AlertRaised {
	return item.AlertRaised{Alert: item.Alert{Pod: t.Pod, Level: level, Source: "turn", Text: t.Output.Redact(text), Time: t.Now()}}
}

// logError is the failure of the log itself: nothing more can be stored.
type logError struct{ error }

// logFailed is a log's error, which is no failure when it only gave up because ctx ended.
func logFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return &logError{err}
}

// refused is why a turn ends whose log refused a batch: to try the same again would cost
// the same again. nil for a log that may take it later.
func (e *logError) refused() *stop {
	if Passes(e.error) {
		return nil
	}
	return failed("NOT_STORED", "the log refused what the turn had to store: %v; what came before is kept, submit again to go on", e.error)
}

// Unwrap is the log's own error.
func (e *logError) Unwrap() error { return e.error }
