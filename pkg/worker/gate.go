package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// gate is what happens between a turn's steps: it stops or waits when it must, adds what
// joins the turn, and asks the interceptors whether the turn may continue, or finish.
type gate struct {
	w *Worker
	j *journal
	// lifted names where an interceptor paused the turn and a person resumed it; ended are
	// the pauses until a time that a person ended earlier.
	lifted string
	ended  []item.Pause
}

// boundary handles everything between two steps: the turn may have to stop, waits while
// the pod is paused, adds what joins it, and asks the interceptors.
func (t *gate) boundary(ctx context.Context) error {
	if err := t.mayGoOn(ctx); err != nil {
		return err
	}
	if _, err := t.join(ctx, true); err != nil {
		return err
	}
	if err := t.mayGoOn(ctx); err != nil {
		return err
	}
	if err := t.noteLoop(ctx); err != nil {
		return err
	}
	return t.beforeRequest(ctx)
}

// mayGoOn says why a turn has to stop between steps.
func (t *gate) mayGoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-t.j.turn.Stop:
		return ErrShutdown
	default:
	}
	reserved, err := t.reserved()
	return cmp.Or(err, t.j.withinLimits(reserved))
}

// reserved is what others use of the limits on all turns, once that is known: without it the turn could pass them.
func (t *gate) reserved() (Reserved, error) {
	for {
		r, err := t.w.reserved(t.j.waiting)
		switch {
		case err == nil:
			return r, nil
		case t.j.waiting.Err() != nil:
			return r, context.Cause(t.j.waiting)
		case !Passes(err):
			return r, failed("NOT_READ", "podd cannot read what sub-pods use of the pod's limits: %v; submit again to continue", err)
		}
		t.j.blocked(t.j.waiting, err)
	}
}

// join adds what joins the turn, and says whether there was anything. With wait it first
// waits while the pod is paused.
func (t *gate) join(ctx context.Context, wait bool) (joined bool, err error) {
	t.j.clock.stop()
	defer t.j.clock.start()
	j, err := t.j.log.Joining(t.j.waiting, wait)
	if err != nil {
		return false, logFailed(t.j.waiting, err)
	}
	if p := j.Lifted; p != nil && p.Turn == t.j.turn.Number {
		if p.ByItself() {
			t.ended = append(t.ended, *p)
		} else {
			t.lifted = p.At
		}
	}
	b := Batch{Kinds: notes(j.Notes)}
	if err := t.promote(ctx, &b, j.Steered); err != nil {
		return false, err
	}
	if len(b.Kinds) == 0 {
		return false, nil
	}
	return true, t.j.commit(ctx, b)
}

// notes are the items of notes.
func notes(waiting []item.Note) []item.Kind {
	var kinds []item.Kind
	for _, n := range waiting {
		kinds = append(kinds, item.ItemAdded{Item: n.Item()})
	}
	return kinds
}

// beforeRequest asks the interceptors about the next request, and again after a pause until
// a time.
func (t *gate) beforeRequest(ctx context.Context) error {
	at := fmt.Sprintf("%s %d", hook.EdgeBeforeRequest, t.j.step)
	for t.lifted != at {
		d, err := t.mayAsk(ctx)
		if err != nil || d.Paused == "" {
			return err
		}
		if d.Until.IsZero() {
			err = t.hold(ctx, at, d.Paused)
		} else {
			err = t.holdUntil(ctx, at, d)
		}
		if err == nil {
			err = t.mayGoOn(ctx)
		}
		if err != nil || d.Until.IsZero() {
			return err
		}
	}
	return nil
}

// mayAsk is what the interceptors decide about the next request, once what they added is
// stored.
func (t *gate) mayAsk(ctx context.Context) (interceptor.RequestDecision, error) {
	d, err := t.w.Chain.BeforeRequest(ctx, interceptor.Request{
		Pod: t.w.Pod, Turn: t.j.turn.Number, Step: t.j.step, Tokens: t.j.now.Next.Tokens, Usage: t.j.now.Turn.Spent.Usage,
		Lifted: slices.Clone(t.ended), Conversation: t.j.conversation(ctx),
	})
	t.j.warn(d.Warnings)
	t.j.observe(hook.Edge{Name: hook.EdgeBeforeRequest, Decision: d.Cancelled + d.Paused})
	if err != nil {
		return d, failed("INTERCEPTOR", "%v", err)
	}
	if d.Cancelled != "" {
		return d, &stop{outcome: item.OutcomeCancelled, reason: "REQUEST_CANCELLED", cause: d.Cancelled}
	}
	if kinds := t.added(d.Items); len(kinds) > 0 {
		return d, t.j.commit(ctx, Batch{Kinds: kinds})
	}
	return d, nil
}

// hold pauses the pod for an interceptor and waits until a person resumes it.
func (t *gate) hold(ctx context.Context, at, why string) error {
	if err := t.j.commit(ctx, Batch{Kinds: []item.Kind{t.j.alert(item.LevelWarn, why+"; podctl resume continues it")}}); err != nil {
		return err
	}
	if err := t.j.log.Hold(ctx, item.Pause{Reason: why, At: at, Turn: t.j.turn.Number}); err != nil {
		return logFailed(ctx, err)
	}
	_, err := t.join(ctx, true)
	return err
}

// added are the entries for what interceptors add to the history. They can add only
// messages: a call or a result would make the conversation ill-formed.
func (t *gate) added(items []item.Item) []item.Kind {
	var kinds []item.Kind
	for _, it := range items {
		switch m := it.(type) {
		case item.UserMessage:
		case item.SystemMessage:
			if m.Origin != item.OriginFileRef {
				m.Origin = item.OriginInterceptor
			}
			it = m
		default:
			t.j.logger.Warn("an interceptor added an item that is not a message; ignored", "step", t.j.step, "item", fmt.Sprintf("%T", it))
			continue
		}
		kinds = append(kinds, item.ItemAdded{Item: it})
	}
	return kinds
}

// finish asks whether the turn may finish. It returns true when there is something new
// for the model: submits that joined the turn, or items from interceptors. Without
// interceptors that decide, the answer may have been stored together with the end.
func (t *gate) finish(ctx context.Context) (goOn bool, err error) {
	if t.j.over() {
		t.j.observe(hook.Edge{Name: hook.EdgeTurnEnd, Text: t.j.now.Turn.Text()})
		return false, nil
	}
	at := fmt.Sprintf("%s %d", hook.EdgeTurnEnd, t.j.step)
	held := t.j.turn.Held != nil && t.j.turn.Held.Turn == t.j.turn.Number && t.j.turn.Held.At == at
	if joined, err := t.join(ctx, held); err != nil || joined {
		return joined, err
	}
	if sent, err := t.correct(ctx); err != nil || sent {
		return sent, err
	}
	if t.lifted == at {
		return false, nil
	}
	d, err := t.w.Chain.TurnEnd(ctx, interceptor.Turn{
		Pod: t.w.Pod, Turn: t.j.turn.Number, Steps: t.j.step, Answer: t.j.now.Turn.Text(), Conversation: t.j.conversation(ctx),
	})
	t.j.warn(d.Warnings)
	t.j.observe(hook.Edge{Name: hook.EdgeTurnEnd, Text: t.j.now.Turn.Text(), Decision: sentBack(d)})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		return false, failed("INTERCEPTOR", "%v", err)
	}
	kinds := t.added(d.Items)
	if len(kinds) > 0 {
		if t.j.now.Turn.SentBack >= t.w.Limits.MaxGoOns {
			return false, limit("MAX_GO_ONS", "interceptors continued the turn more than %d times, the limit", max(t.w.Limits.MaxGoOns, 0))
		}
		if err := t.j.commit(ctx, Batch{Kinds: kinds}); err != nil {
			return false, err
		}
	}
	if d.Paused != "" {
		if err := t.hold(ctx, at, d.Paused); err != nil {
			return false, err
		}
	}
	return !t.j.now.Turn.Final, nil
}

// sentBack says in one sentence how interceptors decided on a turn's end.
func sentBack(d interceptor.TurnDecision) string {
	if len(d.Items) > 0 && d.Paused == "" {
		return fmt.Sprintf("sent back with %d items", len(d.Items))
	}
	return d.Paused
}
