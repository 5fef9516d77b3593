package worker

import (
	"context"
	"fmt"
	"runtime/debug"
)

// run is one running turn: the loop of its steps, from claim to terminal entry. Each part
// has its own task and reaches the others only through what the run gives it:
//
//	journal  what is stored, and what the next batch adds
//	asker    requests of the model
//	judge    decides which calls run
//	caller   runs them
//	gate     lets the turn go on, and others join it
//
// All of it belongs to the turn's goroutine, except for what the goroutines of calls use.
type run struct {
	w      *Worker
	j      *journal
	asker  *asker
	judge  *judge
	caller *caller
	gate   *gate
	// claimed says that turn_started is stored.
	claimed bool
}

// steps runs the turn: it claims, or continues an open turn, then asks the model and runs
// tools until nothing is left to do. The next action follows from the log alone. A panic
// ends the turn as an error, not the daemon.
func (t *run) steps(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.j.logger.Error("turn panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = failed("INTERNAL", "internal error in podd: %v; see its log, then submit again", p)
		}
	}()
	calls, err := t.begin(ctx)
	if err != nil {
		return err
	}
	for {
		switch {
		case len(calls) > 0:
			err = t.caller.runCalls(ctx, calls)
			calls = nil
		case t.j.now.Turn.Final:
			var goOn bool
			if goOn, err = t.gate.finish(ctx); err == nil && !goOn {
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

// begin claims the turn's submits, or returns the calls of a resumed turn that have not
// ended.
func (t *run) begin(ctx context.Context) (calls []*call, err error) {
	if t.j.now.Turn.Open && t.j.now.Turn.Number == t.j.turn.Number {
		calls, err = t.resume(ctx)
	} else {
		err = t.claim(ctx)
	}
	if err == nil && len(calls) == 0 {
		err = t.asker.waitOut(ctx)
	}
	if err != nil {
		return nil, err
	}
	if t.asker.isSetUp {
		return calls, nil
	}
	return calls, t.asker.setUp(ctx)
}

// oneStep is a model request and its answer.
func (t *run) oneStep(ctx context.Context) ([]*call, error) {
	t.j.step = t.j.now.Turn.Step + 1
	if err := t.gate.boundary(ctx); err != nil {
		return nil, err
	}
	answer, err := t.asker.ask(ctx)
	if err != nil {
		return nil, err
	}
	return t.accept(ctx, answer)
}
