package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxResumes bounds how often a turn resumes without an answer of the model in between:
// something that ends podd each time must not do so for ever.
const maxResumes = 3

// resume resumes an open turn. A started call is not run again: resume finds its real
// result, or tells the model that it may have taken effect. A call that asks keeps
// asking. One that had not begun does not begin.
func (t *run) resume(ctx context.Context) ([]*call, error) {
	t.claimed, t.j.step = true, t.j.now.Turn.Step
	t.asker.fellBack(t.j.now.Turn.Fallback)
	recovered := item.Recovered{Reason: t.j.turn.Resume, Waited: t.j.turn.Waited}
	var calls, started []*call
	for _, open := range t.j.now.Turn.Calls {
		c := t.caller.reopen(ctx, open, calls)
		if c.state == callRecovers {
			t.judge.touch(ctx, c)
			t.judge.repeat(ctx, c)
			recovered.CallIDs = append(recovered.CallIDs, c.CallID)
			started = append(started, c)
		}
		calls = append(calls, c)
	}
	followed(started)
	t.caller.saver.goesOn(started)
	if s := t.j.aborted(); s != nil && len(calls) == 0 {
		return nil, s
	}
	if len(calls) == 0 && !t.j.now.Turn.Final {
		// Its last step, if it had one, is complete: it continues with the next.
		t.j.step++
	}
	if t.j.now.Turn.Resumes >= maxResumes && !t.j.turn.Waited {
		return nil, t.giveUp(ctx, recovered, started)
	}
	t.j.logger.Info("turn goes on", "step", t.j.step, "calls", len(calls), "started", len(recovered.CallIDs), "reason", recovered.Reason)
	b := Batch{Kinds: []item.Kind{recovered}}
	t.asker.stillWaits(&b)
	return calls, t.j.commit(ctx, b)
}

// giveUp ends a turn that was interrupted too often. It looks up the outcome of started
// calls only once: that may be what ends podd.
func (t *run) giveUp(ctx context.Context, recovered item.Recovered, started []*call) error {
	why := &stop{outcome: item.OutcomeInterrupted, reason: "RECOVERY", cause: fmt.Sprintf(
		"the turn stopped %d times at the same step, last because %s; podd gave up: submit again to continue",
		t.j.now.Turn.Resumes+1, t.j.turn.Resume)}
	if len(started) == 0 || t.j.now.Turn.Resumes > maxResumes {
		return why
	}
	if err := t.j.commit(ctx, Batch{Kinds: []item.Kind{recovered}}); err != nil {
		return err
	}
	if err := t.caller.runCalls(ctx, started); err != nil {
		if _, ended := errors.AsType[*stop](err); !ended {
			return err
		}
	}
	return why
}

// stillWaits makes the pod's state show how long the endpoint asked an earlier podd to
// wait. It returns whether that time is not over.
func (t *asker) stillWaits(b *Batch) bool {
	if !t.j.turn.NotBefore.After(t.w.Now()) {
		return false
	}
	b.Waiting, b.Until = waitingUntil(t.j.turn.NotBefore, "the endpoint asked podd to wait"), t.j.turn.NotBefore
	return true
}

// reopen is an open call as the log left it. earlier are those before it in its answer.
func (t *caller) reopen(ctx context.Context, open fold.Call, earlier []*call) *call {
	c := &call{ToolCall: open.ToolCall}
	var known bool
	c.tool, known = t.w.Tools.Lookup(c.Name)
	asked := t.j.now.Turn.Question(c.CallID)
	switch {
	case open.Started != nil:
		c.arguments, c.planned, c.began, c.state = open.Started.Arguments, open.Started.Planned, open.Began, callRecovers
		c.lost = interrupted(open.CallID, &t.j.now.Turn)
		c.rebooted = open.Started.Boot == "" || open.Started.Boot != t.w.Boot
	case asked != nil && asked.Answer != nil && !asked.Answer.Approved:
		c.deny("%s", denial(c.Name, asked.Answer))
	case asked != nil && known:
		c.arguments, c.state, c.asked = asked.Arguments, callAsks, *asked
	case known && t.judge.waited(ctx, c, earlier):
		c.state = callWaits
	default:
		c.refuse(stoppedFirst, c.Name)
	}
	return c
}

// repeat lets a started call run again if its tool says so, and nobody forbids it or has to be asked
// anything new. A tool that repeats knows nothing of its calls: otherwise the outcome stays unknown.
func (t *judge) repeat(ctx context.Context, c *call) {
	if r, ok := c.tool.(tool.Repeater); !ok || !r.Repeats() {
		return
	}
	started := c.arguments
	t.decide(ctx, c)
	c.recovery = item.RecoveryAgain
	if c.approved = c.state == callRuns && t.agreed(c); c.approved {
		c.questions = nil
	}
	if c.state != callRuns || len(c.questions) > 0 || c.arguments != started {
		c.state, c.arguments, c.questions, c.denied, c.recovery = callRecovers, started, nil, false, ""
	}
}

// agreed says whether a person agreed to a call, by the question that it would ask now.
func (t *judge) agreed(c *call) bool {
	q := t.j.now.Turn.Question(c.CallID)
	why, ok := c.question()
	return ok && q != nil && q.Answer != nil && q.Answer.Approved && q.Question == why && q.Digest == t.digest(c)
}

// followed tells started calls what their files had when a later call on them began: then they had
// ended, and the later one may have changed the files since.
func followed(started []*call) {
	for i, c := range started {
		c.since = make(map[string]string)
		for _, later := range slices.Backward(started[i+1:]) {
			for _, change := range later.planned {
				c.since[change.Path] = change.Before
			}
		}
	}
}

// touch looks up what a call touches, without a decision.
func (t *judge) touch(ctx context.Context, c *call) {
	if c.tool == nil {
		return // Its server is gone.
	}
	used, arguments := c.tool, c.arguments
	if a, ok := apart(ctx, t.w, func() tool.Access { return used.Access(arguments) }); ok {
		c.reach = reach{targets: a.Targets, writes: a.Writes, acts: t.acts(a), command: a.Command}
	}
}

// waited says whether a call that had not begun was to be decided on once an earlier one on
// its files has ended, which asks or began.
func (t *judge) waited(ctx context.Context, c *call, earlier []*call) bool {
	arguments, err := c.tool.Check(c.Arguments)
	if err != nil || t.w.Files == nil {
		return false
	}
	c.arguments = arguments
	t.touch(ctx, c)
	return slices.ContainsFunc(earlier, func(e *call) bool {
		if !e.state.held() && e.state != callRecovers {
			return false
		}
		t.touch(ctx, e)
		return e.precedes(c)
	})
}

// waitingUntil says what a turn waits for.
func waitingUntil(until time.Time, why string) string {
	return fmt.Sprintf("waiting until %s: %s", until.UTC().Format(time.DateTime+"Z"), why)
}

// waitOut waits for a time that the endpoint asked an earlier podd for.
func (t *asker) waitOut(ctx context.Context) error {
	var b Batch
	if !t.stillWaits(&b) {
		return nil
	}
	if err := t.j.commit(ctx, b); err != nil {
		return err
	}
	t.j.turn.NotBefore = time.Time{}
	return t.pause(ctx, b.Until.Sub(t.w.Now()), true)
}
