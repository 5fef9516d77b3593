package worker

import (
	"context"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// claim takes the submits from the inbox and adds their messages, with everything that
// follows from them, to the history: one transaction, so that no crash leaves a prompt
// without its files. A submit that an interceptor cancels leaves its text in the log and
// nothing for the model: end stores its claim together with its end.
func (t *run) claim(ctx context.Context) error {
	started := item.TurnStarted{Plan: t.j.turn.Plan, AnswerSchema: t.j.turn.AnswerSchema, Choice: t.j.turn.Choice, NoQuestions: t.j.turn.NoQuestions}
	b := Batch{Kinds: notes(t.j.turn.Notes)}
	var refused *stop
	for _, s := range t.j.turn.Submits {
		started.RequestIDs = append(started.RequestIDs, s.RequestID)
		b.Claims = append(b.Claims, s.Seq)
		kinds, stopped := t.gate.message(ctx, s)
		if stopped != nil {
			refused = stopped
		}
		b.Kinds = append(b.Kinds, kinds...)
	}
	if ctx.Err() != nil {
		// The interceptors' decision may be because of the cancel; they are asked again.
		return context.Cause(ctx)
	}
	if refused != nil {
		return refused
	}
	b.Kinds = append(append(b.Kinds, t.j.answerSchema(nil)...), t.j.state(t.j.now.Next.Items)...)
	setup, atOnce := t.asker.setUpAtOnce(ctx)
	b.Kinds = append(append([]item.Kind{started}, b.Kinds...), setup...)
	if err := t.j.commit(ctx, b); err != nil {
		return err
	}
	t.claimed, t.asker.isSetUp, t.j.step = true, atOnce, 1
	return nil
}

// message asks the interceptors about a submit. It returns the submit's messages, or why
// it has none.
func (t *gate) message(ctx context.Context, s Submit) ([]item.Kind, *stop) {
	d, err := t.w.Chain.PromptSubmit(ctx, interceptor.Submit{
		Pod: t.w.Pod, RequestID: s.RequestID, Segments: s.Segments, Text: s.Text, Resolved: s.Items,
		Conversation: t.j.conversation(ctx),
	})
	t.j.warn(d.Warnings)
	t.j.observe(hook.Edge{Name: hook.EdgePromptSubmit, RequestID: s.RequestID, Text: d.Text, Decision: d.Cancelled})
	switch {
	case err != nil:
		return nil, failed("INTERCEPTOR", "%v", err)
	case d.Cancelled != "":
		return nil, &stop{outcome: item.OutcomeCancelled, reason: "SUBMIT_CANCELLED", cause: d.Cancelled}
	}
	return append([]item.Kind{item.ItemAdded{Item: item.UserMessage{Text: d.Text, Images: attached(s.Segments)}}}, t.added(d.Items)...), nil
}

// promote adds the submits that join the running turn. One that the interceptors refuse
// leaves the inbox with an alert; the turn continues.
func (t *gate) promote(ctx context.Context, b *Batch, steered []Submit) error {
	if len(steered) == 0 {
		return nil
	}
	var promoted item.Promoted
	var kinds []item.Kind
	for _, s := range steered {
		promoted.RequestIDs = append(promoted.RequestIDs, s.RequestID)
		b.Claims = append(b.Claims, s.Seq)
		messages, refused := t.message(ctx, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if refused != nil {
			kinds = append(kinds, t.j.alert(item.LevelWarn, "a submit could not join the turn: "+refused.cause))
		}
		kinds = append(kinds, messages...)
	}
	b.Kinds = append(append(b.Kinds, promoted), kinds...)
	return nil
}

// attached are the images of a submit.
func attached(segments []item.Segment) *item.Images {
	var images []item.Image
	for _, s := range segments {
		if s, ok := s.(item.ImageSegment); ok {
			images = append(images, s.Image)
		}
	}
	return item.NewImages(images...)
}
