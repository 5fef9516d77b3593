package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Retry says how a failed request is retried: after Base, then after twice as long each
// time up to Max, each wait shortened by up to a half at random so that pods don't all
// retry at once. A wait that the endpoint asks for makes a wait longer, never shorter.
// See docs/model.md. A zero field means its default.
type Retry struct {
	// Attempts is how often one request is sent at most; default 6. Two kinds of failure
	// don't count: that the endpoint was not reached, because a network comes back, and that
	// it asked for a longer wait than podd's own, up to maxAsked in all.
	Attempts int
	// Base is the first wait; default half a second.
	Base time.Duration
	// Max is the longest wait that podd chooses itself; default 20 seconds.
	Max time.Duration
	// Sleep waits; nil means a timer. It returns the context's cause if ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (r Retry) withDefaults() Retry {
	r.Attempts = cmp.Or(r.Attempts, 6)
	r.Base = cmp.Or(r.Base, 500*time.Millisecond)
	r.Max = cmp.Or(r.Max, 20*time.Second)
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	return r
}

// visibleWait is the wait from which on the pod's state and an alert show it.
const visibleWait = 5 * time.Second

// maxAsked bounds the waits that an endpoint asks for in one request.
const maxAsked = 24 * time.Hour

// tries counts the failures of a request.
type tries struct {
	// failed counts the failures, counted those that count against Retry.Attempts.
	failed, counted int
	// asked is the sum of the waits that the endpoint asked for.
	asked time.Duration
}

// wait records a failure and returns how long to wait before a retry; ok is false if
// podd does not retry.
func (r Retry) wait(e *llm.Error, t *tries) (d time.Duration, ok bool) {
	if !e.Retryable() {
		return 0, false
	}
	if e.Unsent {
		t.asked += e.RetryAfter
		return e.RetryAfter, t.asked <= maxAsked
	}
	own := min(r.Base<<min(t.failed, 20), r.Max)
	t.failed++
	switch {
	case e.Class == llm.ClassNetwork:
	case e.RetryAfter > own:
		t.asked += e.RetryAfter
		return e.RetryAfter, t.asked <= maxAsked
	default:
		t.counted++
	}
	most := r.Attempts
	if e.Class == llm.ClassMalformedCall {
		// The other half is for after the note to the model.
		most = (most + 1) / 2
	}
	return max(own/2+rand.N(own/2+1), e.RetryAfter), t.counted < most
}

// awaitRetry waits before a failed request is sent again. It returns err if there is no retry,
// and the context's cause if the turn ends in the meantime.
func (t *asker) awaitRetry(ctx context.Context, err error, tries *tries) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	d, ok := t.w.Retry.wait(e, tries)
	unreached := e.Class == llm.ClassNetwork && tries.failed >= t.w.Retry.Attempts
	if !ok || (unreached || d > t.w.Retry.Max) && t.fallback(err) >= 0 {
		return err
	}
	text := fmt.Sprintf("retrying in %s (attempt %d): %s", d.Round(100*time.Millisecond), tries.failed+1, e.Message)
	if e.Unsent {
		t.j.logger.Info("model request waits as others do", "step", t.j.step, "wait", d)
	} else {
		t.j.logger.Warn("model request failed; retrying", "step", t.j.step, "attempt", tries.failed, "wait", d, "error", e)
	}
	t.j.log.Live(item.Delta{Turn: t.j.turn.Number, Step: t.j.step, Restarted: true, Text: text})
	if err := t.showWait(ctx, d, e.Message, text); err != nil {
		return err
	}
	return t.pause(ctx, d, d >= visibleWait)
}

// pause waits with the turn's clock stopped. If the pod's state shows the wait, pause
// also shows its end.
func (t *asker) pause(ctx context.Context, d time.Duration, shown bool) error {
	t.j.clock.stop()
	defer t.j.clock.start()
	if err := t.w.Retry.Sleep(t.j.waiting, d); err != nil || !shown {
		return err
	}
	return t.j.commit(ctx, Batch{})
}

// showWait raises an alert about the first failure of a turn and about its first
// noticeable wait, and makes the pod's state show the reason of each such wait.
func (t *asker) showWait(ctx context.Context, d time.Duration, why, text string) error {
	var b Batch
	long := d >= visibleWait
	if !t.retried || long && !t.waited {
		b.Kinds = []item.Kind{t.j.alert(item.LevelWarn, text)}
	}
	if long {
		b.Until = t.w.Now().Add(d).UTC()
		b.Waiting = waitingUntil(b.Until, why)
	}
	t.retried, t.waited = true, t.waited || long
	if len(b.Kinds) == 0 && !long {
		return nil
	}
	return t.j.commit(ctx, b)
}

// fallback is the index of the fallback that may answer what this model could not; -1
// without one. Where the endpoint is the problem, that is one at another endpoint.
func (t *asker) fallback(err error) int {
	switch llm.ClassOf(err) {
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassUnknownModel, llm.ClassNoImages, llm.ClassCut, llm.ClassProtocol, llm.ClassMalformedCall, llm.ClassNoAnswer:
		return min(len(t.fallbacks), 1) - 1
	case llm.ClassNetwork, llm.ClassAuth, llm.ClassNoKey:
		here := t.w.Router.Full(t.model).Endpoint
		return slices.IndexFunc(t.fallbacks, func(f item.ModelRef) bool { return t.w.Router.Full(f).Endpoint != here })
	}
	return -1
}

// fallBack switches to another model for the rest of the turn.
func (t *asker) fallBack(ctx context.Context, cause error) error {
	i := t.fallback(cause)
	t.model, t.fallbacks = t.fallbacks[i], t.fallbacks[i+1:]
	text := fmt.Sprintf("turn %d continues with the model %s: %v", t.j.turn.Number, t.model, cause)
	a := t.j.alert(item.LevelWarn, text)
	a.Alert.Source, a.Alert.Reason = fold.SourceFallback, item.ReasonFallback
	if err := t.j.commit(ctx, Batch{Kinds: []item.Kind{a}}); err != nil {
		return err
	}
	return t.setUp(ctx)
}

// fellBack switches to the fallback that an earlier podd had switched to, if any.
func (t *asker) fellBack(model item.ModelRef) {
	is := func(fallback item.ModelRef) bool { return t.w.Router.Full(fallback) == model }
	if i := slices.IndexFunc(t.fallbacks, is); i >= 0 {
		t.model, t.fallbacks = t.fallbacks[i], t.fallbacks[i+1:]
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
