package worker

import (
	"context"
	"errors"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// asker makes the requests of a turn: it stores what they send beside the items, keeps them
// within the model's window, tries again what failed, and asks another model when one can't be
// asked.
type asker struct {
	w *Worker
	j *journal
	// judge decides on what is read back after a compaction.
	judge *judge
	// model is the one to ask: the pod's or, after it failed, a fallback.
	model     string
	fallbacks []string
	// isSetUp says that what the requests of this turn send beside the items is stored.
	isSetUp bool
	// retried and waited say that the turn has raised an alert about a failed request,
	// and about a long wait.
	retried, waited bool
	// partial is the timeline of a shown answer that has not ended.
	partial *timeline
}

// answer is a whole answer of the model.
type answer struct {
	*timeline
	// asked is the model that was asked.
	asked string
	// text is what the assistant said.
	text string
	// bytes is the size of the request that it answers, prefix how much of that is as
	// in the request before, predicted how many input tokens it was expected to cost.
	bytes, prefix, predicted int
	took                     time.Duration
}

// usage is the record of the request.
func (a answer) usage(step int) item.RequestUsage {
	usage := a.end.Usage
	usage.Requests = 1
	return item.RequestUsage{
		Usage: usage, Measured: a.end.Measured, Model: a.end.Model, Asked: a.asked, ResponseID: a.end.ResponseID, Step: step,
		RequestBytes: int64(a.bytes), PrefixBytes: int64(a.prefix), Predicted: int64(a.predicted), DurationMS: a.took.Milliseconds(),
	}
}

// ask sends the next request and reads its answer to the end. A request that fails
// in a way that may pass is sent again: until accept has stored an answer, nothing
// came of it.
func (t *asker) ask(ctx context.Context) (answer, error) {
	if err := t.prune(ctx); err != nil {
		return answer{}, err
	}
	a, err := t.attempt(ctx)
	for t.canFallBack(err) {
		if err := t.fallBack(ctx, err); err != nil {
			return answer{}, err
		}
		a, err = t.attempt(ctx)
	}
	return a, err
}

// attempt asks the model of now, after making room where its window needs that.
func (t *asker) attempt(ctx context.Context) (answer, error) {
	if err := t.makeRoom(ctx); err != nil {
		return answer{}, err
	}
	if err := t.waitOut(ctx); err != nil {
		return answer{}, err
	}
	a, err := t.request(ctx)
	switch llm.ClassOf(err) {
	case llm.ClassContext:
		// The endpoint knows its window better than podd: one attempt to make room.
		err = t.compact(ctx, "the endpoint says that the request is larger than the model's window", t.j.now.Next.Tokens)
	case llm.ClassMalformedCall:
		err = t.tellOfRefusedCall(ctx, err)
	default:
		return a, err
	}
	if err != nil {
		return answer{}, err
	}
	return t.request(ctx)
}

// tellOfRefusedCall tells the model what became of its answer: asked the same again it
// makes the same call.
func (t *asker) tellOfRefusedCall(ctx context.Context, refused error) error {
	text := "Your last answer had a tool call that the endpoint refused, so nothing of that answer counts. " +
		"Call tools by their exact names, with arguments that match their schemas, or answer without a call."
	if e, ok := errors.AsType[*llm.Error](refused); ok && e.Said != "" {
		text += " The endpoint says: " + e.Said
	}
	m := item.SystemMessage{Origin: item.OriginRefusedCall, Text: t.w.Output.Redact(text)}
	return t.j.commit(ctx, Batch{Kinds: []item.Kind{item.ItemAdded{Item: m}}})
}

// request sends what the log says now.
func (t *asker) request(ctx context.Context) (answer, error) {
	r := t.j.now.Next.Request
	body, err := t.j.turn.Encoder.body(t.w.Model, llm.Request(r))
	if err != nil {
		return answer{}, failed("REQUEST", "the request could not be built: %v", err)
	}
	a, err := t.send(ctx, body, t.j.log.Live)
	a.asked, a.predicted = r.Setup.Model, t.j.now.Next.Tokens
	if err != nil && a.timeline != nil {
		t.j.owe(a.usage(t.j.step))
	}
	if err == nil {
		a.prefix = t.j.turn.Encoder.answered(body)
	}
	return a, err
}

// send sends a body until an answer came whole, or trying again can't help. live shows the
// answer as it comes; nil for one that is no part of the conversation. With an error it
// gives the answer that came to its end and does not count, if there was one.
func (t *asker) send(ctx context.Context, body []byte, live func(item.Delta)) (answer, error) {
	for tries := new(tries); ; {
		a, err := t.stream(ctx, body, live)
		if err == nil {
			return a, nil
		}
		if err := t.again(ctx, err, tries); err != nil {
			return a, err
		}
	}
}

// prune stores what is sent as its summary from now on, when that is worth it.
func (t *asker) prune(ctx context.Context) error {
	var d fold.Decision
	if err := t.j.look(func(s *fold.Context) { d = s.Decide(t.w.Now()) }); err != nil {
		return err
	}
	entry, ok := d.Entry()
	if !ok {
		return nil
	}
	t.j.logger.Info("context pruned", "step", t.j.step, "results", len(d.Seqs), "tokens", d.Saved, "policy", d.Policy)
	return t.j.commit(ctx, Batch{Kinds: []item.Kind{entry}})
}

// stream sends a body once.
func (t *asker) stream(ctx context.Context, body []byte, live func(item.Delta)) (answer, error) {
	start := t.w.Now()
	tl := &timeline{turn: t.j.turn.Number, step: t.j.step, live: live}
	if live != nil {
		t.partial = tl
	}
	err := t.w.read(ctx, body, tl)
	if err != nil && !errors.Is(err, context.Cause(ctx)) {
		// It failed by itself: what it had said is void. Only a turn that ends in the middle
		// of an answer keeps some of it.
		t.partial = nil
	}
	if tl.end == nil {
		return answer{}, err
	}
	return answer{timeline: tl, text: tl.spoken(), bytes: len(body), took: t.w.Now().Sub(start)}, err
}

// read sends a body once and collects what comes back.
func (w *Worker) read(ctx context.Context, body []byte, tl *timeline) error {
	for ev, err := range w.Model.Stream(ctx, body) {
		if err != nil {
			return err
		}
		if err := tl.add(ev); err != nil {
			return err
		}
	}
	if tl.end == nil {
		return &llm.Error{Class: llm.ClassCut, Message: "the answer stopped before its end"}
	}
	return nil
}
