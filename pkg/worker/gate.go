package worker

import (
	"context"
	"fmt"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// gate is where a turn meets others between its steps: it stops or waits when it has to, takes
// in what joins it, and asks the interceptors whether it may go on, or finish.
type gate struct {
	w *Worker
	j *journal
	// lifted names where an interceptor held the turn and a person let it go on.
	lifted string
}

// boundary is what lies between two steps: the turn may have to stop, waits while the
// pod is held, takes in what joins it, and asks the interceptors.
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
	return t.j.withinLimits()
}

// join takes in what joins the turn, and says whether that was anything. With wait it
// first waits while the pod is held.
func (t *gate) join(ctx context.Context, wait bool) (joined bool, err error) {
	t.j.clock.stop()
	defer t.j.clock.start()
	j, err := t.j.log.Joining(t.j.waiting, wait)
	if err != nil {
		return false, logFailed(t.j.waiting, err)
	}
	if j.Lifted != nil && j.Lifted.Turn == t.j.turn.Number {
		t.lifted = j.Lifted.At
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

// notes are the items of clients' notes.
func notes(texts []string) []item.Kind {
	var kinds []item.Kind
	for _, text := range texts {
		kinds = append(kinds, item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: text}})
	}
	return kinds
}

// beforeRequest asks the interceptors about the next request.
func (t *gate) beforeRequest(ctx context.Context) error {
	at := fmt.Sprintf("%s %d", hook.EdgeBeforeRequest, t.j.step)
	if t.lifted == at {
		return nil
	}
	d, err := t.w.Chain.BeforeRequest(ctx, interceptor.Request{
		Pod: t.w.Pod, Turn: t.j.turn.Number, Step: t.j.step, Tokens: t.j.now.Next.Tokens, Usage: t.j.now.Turn.Spent.Usage,
		Conversation: t.j.conversation(ctx),
	})
	t.j.warn(d.Warnings)
	t.j.observe(hook.Edge{Name: hook.EdgeBeforeRequest, Decision: d.Cancelled + d.Paused})
	if err != nil {
		return failed("INTERCEPTOR", "%v", err)
	}
	if d.Cancelled != "" {
		return &stop{outcome: item.OutcomeCancelled, reason: "REQUEST_CANCELLED", cause: d.Cancelled}
	}
	if kinds := t.added(d.Items); len(kinds) > 0 {
		if err := t.j.commit(ctx, Batch{Kinds: kinds}); err != nil {
			return err
		}
	}
	if d.Paused == "" {
		return nil
	}
	if err := t.hold(ctx, at, d.Paused); err != nil {
		return err
	}
	return t.mayGoOn(ctx)
}

// hold holds the pod for an interceptor and waits until a person lets it go on.
func (t *gate) hold(ctx context.Context, at, why string) error {
	if err := t.j.commit(ctx, Batch{Kinds: []item.Kind{t.j.alert(item.LevelWarn, why+"; podctl resume lets it go on")}}); err != nil {
		return err
	}
	if err := t.j.log.Hold(ctx, item.Pause{Reason: why, At: at, Turn: t.j.turn.Number}); err != nil {
		return logFailed(ctx, err)
	}
	_, err := t.join(ctx, true)
	return err
}

// added are the entries of what interceptors add to the history. Only messages can be
// added: a call or a result of their own would leave the conversation ill-formed.
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
			t.j.logger.Warn("an interceptor added an item that is no message; it is left out", "step", t.j.step, "item", fmt.Sprintf("%T", it))
			continue
		}
		kinds = append(kinds, item.ItemAdded{Item: it})
	}
	return kinds
}

// finish asks whether the turn may finish. It returns true when there is something new
// for the model to see: submits that were given to the turn, or what interceptors added.
// Where there was nobody to ask, the answer may have been stored together with the end.
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
			return false, limit("MAX_GO_ONS", "interceptors kept the turn from finishing more than %d times, which is the limit", max(t.w.Limits.MaxGoOns, 0))
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

// sentBack says in one sentence what interceptors made of a turn's end.
func sentBack(d interceptor.TurnDecision) string {
	if len(d.Items) > 0 && d.Paused == "" {
		return fmt.Sprintf("sent back with %d items", len(d.Items))
	}
	return d.Paused
}
