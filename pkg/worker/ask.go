package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// answer is a whole answer of the model.
type answer struct {
	*timeline
	// text is what the assistant said.
	text string
	// bytes is the size of the request that it answers, prefix how much of that is as
	// in the request before, predicted how many input tokens it was expected to cost.
	bytes, prefix, predicted int
	took                     time.Duration
}

// usage is the record of the request, in which a model was asked.
func (a answer) usage(step int, asked string) item.RequestUsage {
	usage := a.end.Usage
	usage.Requests = 1
	return item.RequestUsage{
		Usage: usage, Measured: a.end.Measured, Model: a.end.Model, Asked: asked, ResponseID: a.end.ResponseID, Step: step,
		RequestBytes: int64(a.bytes), PrefixBytes: int64(a.prefix), Predicted: int64(a.predicted), DurationMS: a.took.Milliseconds(),
	}
}

// ask sends the next request and reads its answer to the end. A request that fails
// in a way that may pass is sent again: until accept has stored an answer, nothing
// came of it.
func (t *run) ask(ctx context.Context) (answer, error) {
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
func (t *run) attempt(ctx context.Context) (answer, error) {
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
		err = t.compact(ctx, "the endpoint says that the request is larger than the model's window", t.state.Tokens())
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
func (t *run) tellOfRefusedCall(ctx context.Context, refused error) error {
	text := "Your last answer had a tool call that the endpoint refused, so nothing of that answer counts. " +
		"Call tools by their exact names, with arguments that match their schemas, or answer without a call."
	if e, ok := errors.AsType[*llm.Error](refused); ok && e.Said != "" {
		text += " The endpoint says: " + e.Said
	}
	m := item.SystemMessage{Origin: item.OriginRefusedCall, Text: t.Output.Redact(text)}
	return t.commit(ctx, Batch{Kinds: []item.Kind{item.ItemAdded{Item: m}}})
}

// request sends what the log says now.
func (t *run) request(ctx context.Context) (answer, error) {
	r := t.state.Request()
	body, err := t.turn.Encoder.body(t.Model, llm.Request(r))
	if err != nil {
		return answer{}, failed("REQUEST", "the request could not be built: %v", err)
	}
	a, err := t.send(ctx, body, t.log.Live)
	a.predicted, a.prefix = t.state.Tokens(), 0
	if err != nil && a.timeline != nil {
		t.owe(a.usage(t.step, r.Setup.Model))
	}
	if err == nil {
		a.prefix = t.turn.Encoder.answered(body)
	}
	return a, err
}

// send sends a body until an answer came whole, or trying again can't help. live shows the
// answer as it comes; nil for one that is no part of the conversation. With an error it
// gives the answer that came to its end and does not count, if there was one.
func (t *run) send(ctx context.Context, body []byte, live func(item.Delta)) (answer, error) {
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
func (t *run) prune(ctx context.Context) error {
	d := t.state.Decide(t.Now())
	entry, ok := d.Entry()
	if !ok {
		return nil
	}
	t.logger.Info("context pruned", "step", t.step, "results", len(d.Seqs), "tokens", d.Saved, "policy", d.Policy)
	return t.commit(ctx, Batch{Kinds: []item.Kind{entry}})
}

// stream sends a body once.
func (t *run) stream(ctx context.Context, body []byte, live func(item.Delta)) (answer, error) {
	start := t.Now()
	tl := &timeline{turn: t.turn.Number, step: t.step, live: live}
	if live != nil {
		t.partial = tl
	}
	err := t.read(ctx, body, tl)
	if err != nil && !errors.Is(err, context.Cause(ctx)) {
		// It failed by itself: what it had said is void. Only a turn that ends in the middle
		// of an answer keeps some of it.
		t.partial = nil
	}
	if tl.end == nil {
		return answer{}, err
	}
	return answer{timeline: tl, text: tl.spoken(), bytes: len(body), took: t.Now().Sub(start)}, err
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

// accept stores an answer: its items and what it cost. Where nobody has to be asked, the
// start of each call that is going to run is part of the same transaction; else what
// the model said is on disk before anyone is asked about it. An answer without calls is
// stored together with the turn's end, where nobody is asked about that and nothing joins.
func (t *run) accept(ctx context.Context, a answer) ([]*call, error) {
	items, calls := t.prepare(a)
	before := t.now.Turn.ToolCalls
	b := Batch{Done: a.blockIDs()}
	for _, it := range items {
		b.Kinds = append(b.Kinds, item.ItemAdded{Item: it})
	}
	setup, _ := t.state.Setup()
	usage := a.usage(t.step, setup.Model)
	b.Kinds = append(b.Kinds, usage)
	if a.end.Stop == llm.StopLength {
		b.Kinds = append(b.Kinds, t.alert(item.LevelWarn, fmt.Sprintf("the answer of step %d was cut by the endpoint's limit on output", t.step)))
	}
	immediate := t.Chain.Immediate()
	if immediate {
		t.judge(ctx, calls, before, a.end.Stop)
		b.Kinds = append(b.Kinds, t.starts(calls)...)
	}
	if immediate && len(calls) == 0 && a.end.Stop != llm.StopFilter {
		b.Ending = t.terminal(nil, t.billed(usage))
	}
	if err := t.commit(ctx, b); err != nil {
		t.owe(usage)
		return nil, err
	}
	t.partial = nil
	switch {
	case a.end.Stop == llm.StopFilter && len(calls) == 0:
		return nil, failed("CONTENT_FILTER", "the endpoint withheld the rest of the answer (content filter)")
	case immediate || len(calls) == 0:
		return calls, nil
	}
	t.judge(ctx, calls, before, a.end.Stop)
	if ctx.Err() != nil {
		// What was decided may come of that; the calls have not begun.
		return nil, context.Cause(ctx)
	}
	kinds := t.starts(calls)
	if len(kinds) == 0 {
		return calls, nil
	}
	return calls, t.commit(ctx, Batch{Kinds: kinds})
}

// starts is what the log is told before calls go on.
func (t *run) starts(calls []*call) []item.Kind {
	var kinds []item.Kind
	for _, c := range calls {
		kinds = append(kinds, t.start(c)...)
	}
	return kinds
}
