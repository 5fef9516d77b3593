package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"podd/pkg/item"
	"podd/pkg/projection"
)

// commitTime bounds one commit. A commit does not end with the turn: what happened
// has to be stored also when the turn was cancelled.
const commitTime = 30 * time.Second

// run is one turn under way.
type run struct {
	*Worker
	turn   Turn
	log    Log
	state  *projection.State
	logger *slog.Logger

	// step is the number of the model request, from 1.
	step int
	// claimed says that turn_started is stored.
	claimed bool
	// usage, calls and goOns count what the turn used so far.
	usage item.Usage
	calls int
	goOns int
	// retried says that the turn has raised an alert about a failed request.
	retried bool
	// partial is the timeline of an answer that has not ended.
	partial *timeline
}

// steps is the turn: claim, then ask and run tools until nothing is left to do. A
// panic ends the turn as an error, not the daemon.
func (t *run) steps(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.logger.Error("turn panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = failed("INTERNAL", "podd met a defect of its own in this turn: %v", p)
		}
	}()
	if err := t.claim(ctx); err != nil {
		return err
	}
	if err := t.setUp(ctx); err != nil {
		return err
	}
	for t.step = 1; ; t.step++ {
		if err := t.boundary(ctx); err != nil {
			return err
		}
		answer, err := t.ask(ctx)
		if err != nil {
			return err
		}
		calls, err := t.accept(ctx, answer)
		if err != nil {
			return err
		}
		if len(calls) > 0 {
			if err := t.runCalls(ctx, calls); err != nil {
				return err
			}
			continue
		}
		if goOn, err := t.finish(ctx, answer); err != nil || !goOn {
			return err
		}
	}
}

// boundary is where a turn may stop between steps.
func (t *run) boundary(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-t.turn.Stop:
		return ErrShutdown
	default:
	}
	if t.step > t.Limits.MaxSteps {
		return limit("MAX_STEPS", "the turn reached its limit of %d model requests; submit again to go on", t.Limits.MaxSteps)
	}
	return nil
}

// commit appends a batch and folds its entries into the state.
func (t *run) commit(ctx context.Context, b Batch) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	entries, err := t.log.Append(ctx, b)
	if err != nil {
		return &logError{err}
	}
	for _, e := range entries {
		t.state.Add(e)
	}
	return nil
}

// alert is an entry that raises an alert about this turn.
func (t *run) alert(level item.Level, text string) item.Kind {
	return item.AlertRaised{Alert: item.Alert{Pod: t.Pod, Level: level, Source: "turn", Text: text, Time: t.Now()}}
}

// logError is the failure of the log itself: nothing more can be stored.
type logError struct{ error }

// Unwrap is the log's own error.
func (e *logError) Unwrap() error { return e.error }
