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

// Retry says how a failed request is sent again: after Base, then twice as long each
// time up to Max, each wait shortened by up to a half at random so that pods don't come
// back all at once. What the endpoint asks for makes a wait longer, never shorter. See
// docs/model.md. A zero field means its default.
type Retry struct {
	// Attempts is how often one request is sent at most; default 6. Two kinds of failure
	// don't count: that the endpoint was not reached, because a network comes back, and
	// that it asked for a wait longer than podd's own, up to llm.MaxRetryAfter in all.
	Attempts int
	// Base is the first wait; default half a second.
	Base time.Duration
	// Max is the longest wait of podd's own choice; default 20 seconds.
	Max time.Duration
	// Sleep waits; nil means a timer. It returns the context's cause when ctx ends
	// first.
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

// visibleWait is from how long on a wait shows in the pod's state and as an alert.
const visibleWait = 5 * time.Second

// tries is how a request has failed so far.
type tries struct {
	// failed counts the failures, counted those that count against Retry.Attempts.
	failed, counted int
	// asked is how long was waited because the endpoint asked for it.
	asked time.Duration
}

// wait takes note of a failure and says how long to wait before the request is sent
// again; ok is false when it is not to be.
func (r Retry) wait(e *llm.Error, t *tries) (d time.Duration, ok bool) {
	if !e.Retryable() {
		return 0, false
	}
	own := min(r.Base<<min(t.failed, 20), r.Max)
	t.failed++
	switch {
	case e.Class == llm.ClassNetwork:
	case e.RetryAfter > own:
		t.asked += e.RetryAfter
		return e.RetryAfter, t.asked <= llm.MaxRetryAfter
	default:
		t.counted++
	}
	most := r.Attempts
	if e.Class == llm.ClassMalformedCall {
		// The other half is for after the model is told.
		most = (most + 1) / 2
	}
	return max(own/2+rand.N(own/2+1), e.RetryAfter), t.counted < most
}

// again waits before a failed request is sent again. It returns err when it is not
// to be, and the context's cause when the turn ends in the meantime.
func (t *asker) again(ctx context.Context, err error, tries *tries) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	d, ok := t.w.Retry.wait(e, tries)
	if !ok || d > t.w.Retry.Max && len(t.fallbacks) > 0 {
		return err
	}
	t.j.logger.Warn("model request failed, trying again", "step", t.j.step, "attempt", tries.failed, "wait", d, "error", e)
	text := fmt.Sprintf("trying again in %s (attempt %d): %s", d.Round(100*time.Millisecond), tries.failed+1, e.Message)
	t.j.log.Live(item.Delta{Turn: t.j.turn.Number, Step: t.j.step, Restarted: true, Text: text})
	if err := t.showWait(ctx, d, e.Message, text); err != nil {
		return err
	}
	return t.pause(ctx, d, d >= visibleWait)
}

// pause waits with the turn's clock standing still. Where the pod's state shows the wait
// it shows its end, too.
func (t *asker) pause(ctx context.Context, d time.Duration, shown bool) error {
	t.j.clock.stop()
	defer t.j.clock.start()
	if err := t.w.Retry.Sleep(t.j.waiting, d); err != nil || !shown {
		return err
	}
	return t.j.commit(ctx, Batch{})
}

// showWait raises an alert about the first failure of a turn and about its first wait
// that a person may notice, and lets the pod's state say what each such wait is for.
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

// canFallBack says whether another model may answer what this one could not.
func (t *asker) canFallBack(err error) bool {
	switch llm.ClassOf(err) {
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassUnknownModel, llm.ClassCut, llm.ClassProtocol, llm.ClassMalformedCall:
		return len(t.fallbacks) > 0
	}
	return false
}

// fallBack asks the next model for the rest of the turn.
func (t *asker) fallBack(ctx context.Context, cause error) error {
	t.model, t.fallbacks = t.fallbacks[0], t.fallbacks[1:]
	text := fmt.Sprintf("the rest of turn %d is for the model %s: %v", t.j.turn.Number, t.model, cause)
	a := t.j.alert(item.LevelWarn, text)
	a.Alert.Source, a.Alert.Reason = fold.SourceFallback, item.ReasonFallback
	if err := t.j.commit(ctx, Batch{Kinds: []item.Kind{a}}); err != nil {
		return err
	}
	return t.setUp(ctx)
}

// fellBack asks the fallback that an earlier podd asked for the rest of the turn, if any.
func (t *asker) fellBack(model string) {
	if i := slices.Index(t.fallbacks, model); i >= 0 {
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
