package worker

import (
	"context"
	"errors"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// asker makes the requests of a turn: it stores what they send besides the items, keeps
// them within the model's window, retries failed ones, and switches to another model when
// one is unavailable.
type asker struct {
	w *Worker
	j *journal
	// judge decides on what is read again after a compaction.
	judge *judge
	// model is the one to request: the pod's or, after it failed, a fallback.
	model     item.ModelRef
	fallbacks []item.ModelRef
	// isSetUp says that this turn has stored what its requests send besides the items.
	isSetUp bool
	// retried and waited say that the turn has raised an alert about a failed request, and
	// about a long wait.
	retried, waited bool
	// partial is the timeline of a shown answer that has not ended.
	partial *timeline
}

// answer is a whole answer of the model.
type answer struct {
	*timeline
	// asked is the requested model.
	asked item.ModelRef
	// text is the assistant's text.
	text string
	// bytes is the size of its request, prefix how much of that equals the previous request,
	// predicted the expected number of input tokens.
	bytes, prefix, predicted int
	took                     time.Duration
	terms                    item.Terms
}

// usage is the record of the request. podd does not believe a bill that no request can have,
// and counts its own estimate, so that limits still apply.
func (a answer) usage(step int) item.RequestUsage {
	usage, measured := a.end.Usage, a.end.Measured
	if !usage.Plausible() {
		measured = false
		usage = item.Usage{Input: int64(max(a.predicted, fold.Estimate(a.bytes, 0))), Output: int64(fold.Estimate(a.size, 0))}
	}
	usage.Requests = 1
	return item.RequestUsage{
		Usage: usage, Measured: measured, Model: a.end.Model, Asked: a.asked.Model, Endpoint: a.asked.Endpoint, ResponseID: a.end.ResponseID, Step: step,
		RequestBytes: int64(a.bytes), PrefixBytes: int64(a.prefix), Predicted: int64(a.predicted), DurationMS: a.took.Milliseconds(), Terms: a.terms,
	}
}

// ask sends the next request and reads its answer to the end. It retries a request that
// fails in a way that may pass: until accept has stored an answer, the failure has no
// effect.
func (t *asker) ask(ctx context.Context) (answer, error) {
	if err := t.prune(ctx); err != nil {
		return answer{}, err
	}
	a, err := t.attempt(ctx)
	for t.fallback(err) >= 0 {
		if err := t.fallBack(ctx, err); err != nil {
			return answer{}, err
		}
		a, err = t.attempt(ctx)
	}
	return a, err
}

// attempt sends a request to the current model, after making room if its window needs
// that.
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
		refused := err
		err = t.summarizeIn(ctx, "the endpoint says that the request exceeds the context window", t.j.now.Next.Tokens)
		if s, ok := errors.AsType[*stop](err); ok && s.reason == modelReason(llm.ClassContext) {
			err = refused // It says what to change.
		}
	case llm.ClassMalformedCall:
		err = t.explainRefusedCall(ctx, err)
	default:
		return a, err
	}
	if err != nil {
		return answer{}, err
	}
	return t.request(ctx)
}

// explainRefusedCall adds a note for the model about its refused answer: the same request
// would give the same call.
func (t *asker) explainRefusedCall(ctx context.Context, refused error) error {
	text := "The endpoint refused a tool call of your last answer, so podd discarded that answer. " +
		"Call tools by their exact names, with arguments that match their schemas, or answer without a call."
	if e, ok := errors.AsType[*llm.Error](refused); ok && e.Said != "" {
		text += " The endpoint says: " + e.Said
	}
	m := item.SystemMessage{Origin: item.OriginRefusedCall, Text: t.w.Output.Redact(text)}
	return t.j.commit(ctx, Batch{Kinds: []item.Kind{item.ItemAdded{Item: m}}})
}

// request sends the request that follows from the log now.
func (t *asker) request(ctx context.Context) (answer, error) {
	r := t.j.now.Next.Request
	m, err := t.w.Router.At(r.Setup.Endpoint)
	if err != nil {
		return answer{}, err
	}
	body, err := t.j.turn.Encoder.body(m.Model, t.w.Sending.request(r))
	if err != nil {
		return answer{}, failed("REQUEST", "cannot build the request: %v", err)
	}
	a, err := t.send(ctx, m, body, t.j.log.Live)
	a.asked, a.terms, a.predicted = r.Setup.ModelRef(), t.w.terms(r.Setup), t.j.now.Next.Tokens
	if err != nil && a.timeline != nil {
		t.j.owe(a.usage(t.j.step))
	}
	if err == nil {
		a.prefix = t.j.turn.Encoder.answered(body)
	}
	return a, err
}

// send sends a body until an answer comes whole, or a retry can't help. live shows the
// answer as it comes; nil for one that does not belong to the conversation. With an error
// it also returns an answer that came to its end but is not used, if there was one.
func (t *asker) send(ctx context.Context, m llm.Model, body llm.Body, live func(item.Delta)) (answer, error) {
	for tries := new(tries); ; {
		a, err := t.stream(ctx, m, body, live)
		if err == nil {
			return a, nil
		}
		if err := t.awaitRetry(ctx, err, tries); err != nil {
			return a, err
		}
	}
}

// prune stores which results are sent as their summary from now on, if that is
// worthwhile. It commits alone: results are stored one by one, so nothing else precedes the
// request, and a decision names entries that must be stored first.
func (t *asker) prune(ctx context.Context) error {
	var d fold.Decision
	if err := t.j.view(func(s *fold.Context) { d = s.Decide(t.w.Now()) }); err != nil {
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
func (t *asker) stream(ctx context.Context, m llm.Model, body llm.Body, live func(item.Delta)) (answer, error) {
	start := t.w.Now()
	tl := &timeline{turn: t.j.turn.Number, step: t.j.step, live: live, named: t.w.Tools.Named}
	if live != nil {
		t.partial = tl
	}
	err := read(ctx, m, body, tl)
	if err != nil && !errors.Is(err, context.Cause(ctx)) {
		// It failed by itself: its text is void. Only a turn that ends in the middle of an
		// answer keeps some of it.
		t.partial = nil
	}
	if tl.end == nil {
		return answer{}, err
	}
	return answer{timeline: tl, text: tl.spoken(), bytes: body.Len(), took: t.w.Now().Sub(start)}, err
}

// read sends a body once and collects the answer.
func read(ctx context.Context, m llm.Model, body llm.Body, tl *timeline) error {
	for ev, err := range m.Stream(ctx, body...) {
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
