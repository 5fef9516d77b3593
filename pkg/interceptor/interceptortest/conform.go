package interceptortest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// Events are the subjects of an interceptor's decisions, in addition to the suite's own.
// Include those on which it acts: the suite can't know them.
type Events struct {
	Submits  []interceptor.Submit
	Requests []interceptor.Request
	Calls    []interceptor.Call
	Results  []interceptor.Result
	Turns    []interceptor.Turn
	Aborts   []interceptor.Abort
	// Check is the tools' own, which says to what arguments an interceptor may rewrite; nil
	// accepts any.
	Check interceptor.Check
}

// Conform checks i against the contract of interceptor.Interceptor:
//
//   - its name is one short line and does not change
//   - the same question gets the same verdict
//   - it may be called for several pods at once
//   - it returns when the context has ended, and then lets no call run that it stops
//     otherwise
//   - its rewrites of a call settle
//   - it cannot let run what another interceptor denies, before it or after it
//   - it adds only messages to the history
func Conform(t *testing.T, i interceptor.Interceptor, more Events) {
	t.Helper()
	events := more.withSamples()
	t.Run("name", func(t *testing.T) { conformName(t, i) })
	t.Run("repeat", func(t *testing.T) { conformRepeat(t, i, events) })
	t.Run("pods", func(t *testing.T) { conformPods(t, i, events) })
	t.Run("ended", func(t *testing.T) { conformEnded(t, i, events) })
	t.Run("settle", func(t *testing.T) { conformSettle(t, i, events) })
	t.Run("narrow", func(t *testing.T) { conformNarrow(t, i, events) })
	t.Run("items", func(t *testing.T) { conformItems(t, i, events) })
}

func conformName(t *testing.T, i interceptor.Interceptor) {
	name := i.Name()
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		t.Errorf("the name %q is not one short line", name)
	}
	if again := i.Name(); again != name {
		t.Errorf("the name %q became %q", name, again)
	}
}

func conformRepeat(t *testing.T, i interceptor.Interceptor, events Events) {
	first := events.ask(t.Context(), t, interceptor.Chain{i})
	for range 2 {
		events.compare(t, first, events.ask(t.Context(), t, interceptor.Chain{i}), "asked again")
	}
}

func conformPods(t *testing.T, i interceptor.Interceptor, events Events) {
	alone := events.ask(t.Context(), t, interceptor.Chain{i})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			events.compare(t, alone, events.ask(t.Context(), t, interceptor.Chain{i}), "asked by several pods at once")
		})
	}
	wg.Wait()
}

// conformEnded hangs, until the test's own deadline, when the interceptor does.
func conformEnded(t *testing.T, i interceptor.Interceptor, events Events) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	chain := interceptor.Chain{i}
	before, after := events.ask(t.Context(), t, chain), events.ask(ended, t, chain)
	for n, call := range events.Calls {
		if !runs(before.calls[n]) && runs(after.calls[n]) {
			t.Errorf("with an ended context it lets a call of %s run that it stops otherwise: %+v", call.Tool, after.calls[n])
		}
	}
}

func conformSettle(t *testing.T, i interceptor.Interceptor, events Events) {
	for n, d := range events.ask(t.Context(), t, interceptor.Chain{i}).calls {
		if strings.Contains(d.Denied, "did not agree") || strings.Contains(d.Denied, "to invalid ones") {
			t.Errorf("what it rewrites the arguments of %s to is not something it agrees to: %s", events.Calls[n].Tool, d.Denied)
		}
	}
}

// never denies every call.
type never struct{ interceptor.Base }

func (never) Name() string { return "never" }

func (never) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	return c.Deny("never")
}

func conformNarrow(t *testing.T, i interceptor.Interceptor, events Events) {
	for _, chain := range []interceptor.Chain{{i, never{}}, {never{}, i}} {
		for n, d := range events.ask(t.Context(), t, chain).calls {
			if runs(d) {
				t.Errorf("a call of %s runs that another denies: %+v", events.Calls[n].Tool, d)
			}
		}
	}
}

// runs says whether a call runs, if a person agrees.
func runs(d interceptor.CallDecision) bool {
	return d.Denied == "" && d.Aborted == "" && d.Result == nil
}

func conformItems(t *testing.T, i interceptor.Interceptor, events Events) {
	d := events.ask(t.Context(), t, interceptor.Chain{i})
	var items []item.Item
	for _, s := range d.submits {
		items = append(items, s.Items...)
	}
	for _, r := range d.requests {
		items = append(items, r.Items...)
	}
	for _, e := range d.turns {
		items = append(items, e.Items...)
	}
	for _, it := range items {
		switch it.(type) {
		case item.SystemMessage, item.UserMessage:
		default:
			t.Errorf("it adds a %T to the history, which must be what somebody else says", it)
		}
	}
}

// decisions are a chain's decisions on Events.
type decisions struct {
	submits  []interceptor.SubmitDecision
	requests []interceptor.RequestDecision
	calls    []interceptor.CallDecision
	results  []interceptor.ResultDecision
	turns    []interceptor.TurnDecision
}

// ask calls the chain for all events, as a pod does. A panic is an error of the test.
func (e Events) ask(ctx context.Context, t *testing.T, chain interceptor.Chain) (d decisions) {
	t.Helper()
	d.submits = each(t, e.Submits, func(s interceptor.Submit) (interceptor.SubmitDecision, error) { return chain.PromptSubmit(ctx, s) })
	d.requests = each(t, e.Requests, func(r interceptor.Request) (interceptor.RequestDecision, error) { return chain.BeforeRequest(ctx, r) })
	d.calls = each(t, e.Calls, func(c interceptor.Call) (interceptor.CallDecision, error) { return chain.BeforeTool(ctx, c, e.Check) })
	d.results = each(t, e.Results, func(r interceptor.Result) (interceptor.ResultDecision, error) { return chain.AfterTool(ctx, r) })
	d.turns = each(t, e.Turns, func(end interceptor.Turn) (interceptor.TurnDecision, error) { return chain.TurnEnd(ctx, end) })
	each(t, e.Aborts, func(a interceptor.Abort) (any, error) { return nil, chain.Aborted(ctx, a) })
	return d
}

func each[E, D any](t *testing.T, events []E, ask func(E) (D, error)) []D {
	t.Helper()
	var all []D
	for _, event := range events {
		d, err := ask(event)
		if err != nil {
			t.Errorf("asked about %+v: %v", event, err)
		}
		all = append(all, d)
	}
	return all
}

func (e Events) compare(t *testing.T, want, got decisions, when string) {
	t.Helper()
	for name, pair := range map[string][2]any{
		"prompt submit": {want.submits, got.submits}, "before request": {want.requests, got.requests},
		"before tool": {want.calls, got.calls}, "after tool": {want.results, got.results}, "turn end": {want.turns, got.turns},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s, it decides otherwise at %s:\n%s\n%s", when, name, fmt.Sprintf("%+v", pair[0]), fmt.Sprintf("%+v", pair[1]))
		}
	}
}
