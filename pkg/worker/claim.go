package worker

import (
	"context"
	"reflect"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// claim takes the submits out of the inbox and puts their messages, with all that
// follows them, into the history: one transaction, so that no crash leaves a prompt
// without its files. A submit that an interceptor cancels leaves its text in the
// log and nothing for the model: end stores its claim together with its end.
func (t *run) claim(ctx context.Context) error {
	var started item.TurnStarted
	var items []item.Kind
	var b Batch
	var refused *stop
	for _, s := range t.turn.Submits {
		started.RequestIDs = append(started.RequestIDs, s.RequestID)
		b.Claims = append(b.Claims, s.Seq)
		d, err := t.Chain.PromptSubmit(ctx, interceptor.Submit{
			Pod: t.Pod, RequestID: s.RequestID, Segments: s.Segments, Text: s.Text, Resolved: s.Items,
		})
		switch {
		case err != nil:
			refused = failed("INTERCEPTOR", "%v", err)
		case d.Cancelled != "":
			refused = &stop{outcome: item.OutcomeCancelled, reason: "SUBMIT_CANCELLED", cause: d.Cancelled}
		default:
			items = append(items, item.ItemAdded{Item: item.UserMessage{Text: d.Text}})
			for _, it := range d.Items {
				items = append(items, item.ItemAdded{Item: it})
			}
		}
	}
	b.Kinds = append([]item.Kind{started}, items...)
	if len(items) == 0 && refused != nil {
		return refused
	}
	if err := t.commit(ctx, b); err != nil {
		return err
	}
	t.claimed = true
	return nil
}

// Setup is what the next request sends beside the items. It may ask the endpoint for
// its default model.
func (w *Worker) Setup(ctx context.Context) (item.Setup, error) {
	name, err := w.Model.Resolve(ctx, w.ModelName)
	if err != nil {
		return item.Setup{}, err
	}
	return item.Setup{
		Model:        name,
		API:          w.Model.API(),
		Instructions: w.Instructions,
		Tools:        w.specs,
		Renderer:     Renderer,
		FileRefRole:  w.FileRefRole,
	}, nil
}

// setUp stores what requests send beside the items, when it changed. Asking the
// endpoint for its default model is tried again like a request.
func (t *run) setUp(ctx context.Context) error {
	setup, err := t.Setup(ctx)
	for attempt := 1; err != nil; attempt++ {
		if err := t.again(ctx, err, attempt); err != nil {
			return err
		}
		setup, err = t.Setup(ctx)
	}
	if old, ok := t.state.Setup(); ok && reflect.DeepEqual(old, setup) {
		return nil
	}
	return t.commit(ctx, Batch{Kinds: []item.Kind{setup}})
}
