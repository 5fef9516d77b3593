package worker

import (
	"context"
	"errors"
)

// Cancel ends an open turn that does not run: it is cancelled before it continues. Cancel
// finds out the outcome of its started calls, and ends those that still run. log, now and
// the error are as for Run.
func (w *Worker) Cancel(ctx context.Context, log Log, now Now, number int64, cause *Cancelled) error {
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(cause)
	t := w.newRun(ctx, log, now, Turn{Number: number})
	defer t.j.stopWaiting(nil)
	t.claimed, t.j.step = true, now.Turn.Step
	t.j.clock = newWorkClock(w.Limits.MaxTime, func(error) {}, w.Working)
	defer t.j.clock.stop()
	var started []*call
	for _, open := range now.Turn.Calls {
		if c := t.caller.reopen(ctx, open, nil); c.state == callRecovers {
			started = append(started, c)
		}
	}
	err := t.caller.runCalls(ctx, started)
	if unstored, ok := errors.AsType[*logError](err); ok && unstored.refused() == nil {
		return err
	}
	return t.end(ctx, cause)
}
