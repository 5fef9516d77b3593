package worker

import (
	"context"
	"fmt"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// accept stores an answer: its items and what it cost. If no interceptor decides, the
// same transaction starts each call that is going to run; otherwise the answer is on disk
// before anyone decides on its calls. An answer without calls is stored together with the
// turn's end, which saves a sync, if no interceptor decides on that and nothing joins the turn. One without text
// and calls is no answer: the turn asks again once.
func (t *run) accept(ctx context.Context, a answer) ([]*call, error) {
	items, calls, err := t.prepare(a)
	if err != nil {
		return nil, err
	}
	before := t.j.now.Turn.ToolCalls
	b := Batch{Done: a.blockIDs()}
	for _, it := range items {
		b.Kinds = append(b.Kinds, item.ItemAdded{Item: it})
	}
	usage := a.usage(t.j.step)
	b.Kinds = append(b.Kinds, usage)
	if !a.end.Usage.Plausible() {
		b.Kinds = append(b.Kinds, t.j.alert(item.LevelWarn, fmt.Sprintf(
			"%s billed more than %d tokens for one request, which no model has; podd counts %d, its own estimate", a.asked, item.MaxTokens, usage.Usage.Input+usage.Usage.Output)))
	}
	if a.end.Stop != llm.StopFilter && a.isSilent() {
		return nil, t.askAgain(ctx, a, b)
	}
	if a.end.Stop == llm.StopLength {
		b.Kinds = append(b.Kinds, t.j.alert(item.LevelWarn, fmt.Sprintf("the endpoint's output limit cut the answer of step %d", t.j.step)))
	}
	immediate := t.w.Chain.Immediate()
	if immediate {
		t.judge.decideAll(ctx, calls, before, a.end.Stop)
		b.Kinds = append(b.Kinds, t.caller.saver.starting(ctx, t.judge.starts(ctx, calls), calls...)...)
	}
	if immediate && len(calls) == 0 && a.end.Stop != llm.StopFilter && t.j.turn.AnswerSchema == "" {
		b.Kinds = append(b.Kinds, t.caller.saver.close(ctx)...)
		b.Kinds = append(b.Kinds, t.caller.saver.leave(ctx)...)
		b.Ending = t.terminal(nil, t.j.billed(usage))
	}
	if err := t.j.commit(ctx, b); err != nil {
		t.j.owe(usage)
		return nil, err
	}
	t.asker.partial = nil
	switch {
	case a.end.Stop == llm.StopFilter && len(calls) == 0:
		return nil, failed("CONTENT_FILTER", "the content filter of %s withheld the rest of the answer; submit it in other words, or use another model", a.asked)
	case immediate || len(calls) == 0:
		return calls, nil
	}
	t.judge.decideAll(ctx, calls, before, a.end.Stop)
	if ctx.Err() != nil {
		// The decision may be because of the cancel; the calls have not begun.
		return nil, context.Cause(ctx)
	}
	kinds := t.caller.saver.starting(ctx, t.judge.starts(ctx, calls), calls...)
	if len(kinds) == 0 {
		return calls, nil
	}
	return calls, t.j.commit(ctx, Batch{Kinds: kinds})
}

// prepare returns the items of an answer, each call with a unique id.
func (t *run) prepare(a answer) (items []item.Item, calls []*call, err error) {
	items = a.items(a.asked)
	if !slices.ContainsFunc(items, isCall) {
		return items, nil, nil
	}
	err = t.j.view(func(s *fold.Context) {
		taken := make(map[string]bool)
		for i, it := range items {
			tc, ok := it.(item.ToolCall)
			if !ok {
				continue
			}
			tc = t.w.Tools.Real(tc)
			tc.CallID = t.uniqueID(tc.CallID, len(calls)+1, func(id string) bool { return taken[id] || s.KnownCall(id) })
			taken[tc.CallID] = true
			items[i] = tc
			calls = append(calls, &call{ToolCall: tc})
		}
	})
	return items, calls, err
}

func isCall(it item.Item) bool { _, ok := it.(item.ToolCall); return ok }

// uniqueID keeps an id that the log does not have yet and otherwise makes one: some
// endpoints send none, or the same one twice.
func (t *run) uniqueID(id string, n int, taken func(string) bool) string {
	made := fmt.Sprintf("call_%d_%d_%d", t.j.turn.Number, t.j.step, n)
	for id == "" || taken(id) {
		id, made = made, made+"x"
	}
	return id
}
