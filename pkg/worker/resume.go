package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// maxResumes is how often a turn goes on without an answer of the model in between: what
// ends podd each time must not do so for ever.
const maxResumes = 3

// resume takes up a turn that was left open. A call that was started is not run again:
// its real result is found, or the model is told that it may have taken effect. A call
// that asks goes on asking. One that had not begun does not begin by itself.
func (t *run) resume(ctx context.Context) ([]*call, error) {
	t.claimed, t.step = true, t.now.Turn.Step
	if i := slices.Index(t.fallbacks, t.now.Turn.Fallback); i >= 0 {
		// An earlier podd fell back to it for the rest of the turn.
		t.model, t.fallbacks = t.fallbacks[i], t.fallbacks[i+1:]
	}
	recovered := item.Recovered{Reason: t.turn.Resume, Waited: t.turn.Waited}
	var calls, started []*call
	for _, open := range t.now.Turn.Calls {
		c := t.reopen(open)
		if c.recovering {
			recovered.CallIDs = append(recovered.CallIDs, c.CallID)
			started = append(started, c)
		}
		calls = append(calls, c)
	}
	if s := t.aborted(); s != nil && len(calls) == 0 {
		return nil, s
	}
	if len(calls) == 0 && !t.now.Turn.Final {
		// Its last step is complete, if it had one: it goes on with the next.
		t.step++
	}
	if t.now.Turn.Resumes >= maxResumes && !t.turn.Waited {
		return nil, t.giveUp(ctx, recovered, started)
	}
	t.logger.Info("turn goes on", "step", t.step, "calls", len(calls), "started", len(recovered.CallIDs), "reason", recovered.Reason)
	b := Batch{Kinds: []item.Kind{recovered, item.AlertRaised{Alert: item.Alert{
		Pod: t.Pod, Level: item.LevelWarn, Source: "recovery", Time: t.Now(),
		Text: fmt.Sprintf("turn %d goes on: %s", t.turn.Number, recovered.Reason),
	}}}}
	t.stillWaits(&b)
	return calls, t.commit(ctx, b)
}

// giveUp ends a turn that was cut short too often. What became of the calls that were
// started is asked for once: that may be what ends podd.
func (t *run) giveUp(ctx context.Context, recovered item.Recovered, started []*call) error {
	why := &stop{outcome: item.OutcomeInterrupted, reason: "RECOVERY", cause: fmt.Sprintf(
		"the turn stopped %d times at the same step, the last time because %s; podd does not try again: submit again to go on",
		t.now.Turn.Resumes+1, t.turn.Resume)}
	if len(started) == 0 || t.now.Turn.Resumes > maxResumes {
		return why
	}
	if err := t.commit(ctx, Batch{Kinds: []item.Kind{recovered}}); err != nil {
		return err
	}
	if err := t.runCalls(ctx, started); err != nil {
		if _, ended := errors.AsType[*stop](err); !ended {
			return err
		}
	}
	return why
}

// stillWaits lets the pod's state say for how long an earlier podd was told to wait. It
// says whether that time is not over.
func (t *run) stillWaits(b *Batch) bool {
	if !t.turn.NotBefore.After(t.Now()) {
		return false
	}
	b.Waiting, b.Until = waitingUntil(t.turn.NotBefore, "the endpoint asked to wait"), t.turn.NotBefore
	return true
}

// reopen is an open call as the log left it.
func (t *run) reopen(open fold.Call) *call {
	c := &call{ToolCall: open.ToolCall}
	var known bool
	c.tool, known = t.Tools.Lookup(c.Name)
	asked := t.now.Turn.Question(c.CallID)
	switch {
	case open.Started != nil && known:
		c.arguments, c.recovering = open.Started.Arguments, true
	case open.Started != nil:
		out := Interrupted(c.ToolCall).Output
		c.refused = &out
	case asked != nil && known:
		c.arguments, c.request, c.resolved = asked.Arguments, &asked.ApprovalRequested, asked.Answer
	default:
		c.refuse("%s: not run: podd stopped before the call began; call again if it is still needed", c.Name)
	}
	return c
}

// waitingUntil says what a turn waits for.
func waitingUntil(until time.Time, why string) string {
	return fmt.Sprintf("waiting until %s: %s", until.UTC().Format(time.DateTime+"Z"), why)
}

// waitOut waits for a time that an earlier podd was told to wait for.
func (t *run) waitOut(ctx context.Context) error {
	var b Batch
	if !t.stillWaits(&b) {
		return nil
	}
	if err := t.commit(ctx, b); err != nil {
		return err
	}
	t.turn.NotBefore = time.Time{}
	return t.pause(ctx, b.Until.Sub(t.Now()), true)
}
