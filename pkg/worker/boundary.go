package worker

import (
	"context"
	"fmt"
	"iter"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// boundary is what lies between two steps: the turn may have to stop, waits while the
// pod is held, takes in what joins it, and asks the interceptors.
func (t *run) boundary(ctx context.Context) error {
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
func (t *run) mayGoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-t.turn.Stop:
		return ErrShutdown
	default:
	}
	return t.withinLimits()
}

// join takes in what joins the turn, and says whether that was anything. With wait it
// first waits while the pod is held.
func (t *run) join(ctx context.Context, wait bool) (joined bool, err error) {
	t.clock.stop()
	defer t.clock.start()
	j, err := t.log.Joining(t.waiting, wait)
	if err != nil {
		return false, logFailed(t.waiting, err)
	}
	if j.Lifted != nil && j.Lifted.Turn == t.turn.Number {
		t.lifted = j.Lifted.At
	}
	b := Batch{Kinds: notes(j.Notes)}
	if err := t.promote(ctx, &b, j.Steered); err != nil {
		return false, err
	}
	if len(b.Kinds) == 0 {
		return false, nil
	}
	return true, t.commit(ctx, b)
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
func (t *run) beforeRequest(ctx context.Context) error {
	at := fmt.Sprintf("%s %d", hook.EdgeBeforeRequest, t.step)
	if t.lifted == at {
		return nil
	}
	d, err := t.Chain.BeforeRequest(ctx, interceptor.Request{
		Pod: t.Pod, Turn: t.turn.Number, Step: t.step, Tokens: t.state.Tokens(), Usage: t.now.Turn.Spent.Usage,
		Conversation: t.conversation(ctx),
	})
	t.warn(d.Warnings)
	t.observe(hook.Edge{Name: hook.EdgeBeforeRequest, Decision: d.Cancelled + d.Paused})
	if err != nil {
		return failed("INTERCEPTOR", "%v", err)
	}
	if d.Cancelled != "" {
		return &stop{outcome: item.OutcomeCancelled, reason: "REQUEST_CANCELLED", cause: d.Cancelled}
	}
	if kinds := t.added(d.Items); len(kinds) > 0 {
		if err := t.commit(ctx, Batch{Kinds: kinds}); err != nil {
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

// conversation is what interceptors may read of the conversation now.
func (t *run) conversation(ctx context.Context) interceptor.Conversation {
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

// hold holds the pod for an interceptor and waits until a person lets it go on.
func (t *run) hold(ctx context.Context, at, why string) error {
	if err := t.commit(ctx, Batch{Kinds: []item.Kind{t.alert(item.LevelWarn, why+"; podctl resume lets it go on")}}); err != nil {
		return err
	}
	if err := t.log.Hold(ctx, item.Pause{Reason: why, At: at, Turn: t.turn.Number}); err != nil {
		return logFailed(ctx, err)
	}
	_, err := t.join(ctx, true)
	return err
}

// added are the entries of what interceptors add to the history. Only messages can be
// added: a call or a result of their own would leave the conversation ill-formed.
func (t *run) added(items []item.Item) []item.Kind {
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
			t.logger.Warn("an interceptor added an item that is no message; it is left out", "step", t.step, "item", fmt.Sprintf("%T", it))
			continue
		}
		kinds = append(kinds, item.ItemAdded{Item: it})
	}
	return kinds
}

// observe tells hooks what happened at an edge.
func (t *run) observe(e hook.Edge) {
	if t.Observe != nil {
		e.Pod, e.Turn, e.Step = t.Pod, t.turn.Number, t.step
		t.Observe(e)
	}
}
