package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Retry says how a failed request is tried again: after Base, then twice as long
// each time up to Max, each wait shortened by up to a half at random so that pods
// don't come back all at once. What the endpoint asks for in Retry-After is waited
// for in full. A zero field means its default.
type Retry struct {
	// Attempts is how often one request is sent at most; default 6.
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

// wait is how long to wait before the next attempt; ok is false when none is left
// or trying again can't help. attempt counts those made, from 1.
func (r Retry) wait(e *llm.Error, attempt int) (d time.Duration, ok bool) {
	if !e.Retryable() || attempt >= r.Attempts {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	d = min(r.Base<<min(attempt-1, 20), r.Max)
	return d/2 + rand.N(d/2+1), true
}

// again waits before a failed request is sent again. It returns err when it is not
// to be, and the context's cause when the turn ends in the meantime.
func (t *run) again(ctx context.Context, err error, attempt int) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	d, ok := t.Retry.wait(e, attempt)
	if !ok {
		return err
	}
	t.logger.Warn("model request failed, trying again", "step", t.step, "attempt", attempt, "wait", d, "error", e)
	text := fmt.Sprintf("%s; trying again in %s (attempt %d of %d)", e.Message, d.Round(100*time.Millisecond), attempt+1, t.Retry.Attempts)
	t.log.Live(item.Delta{Turn: t.turn.Number, Step: t.step, Restarted: true, Text: text})
	if d >= visibleWait || !t.retried {
		b := Batch{Kinds: []item.Kind{t.alert(item.LevelWarn, text)}}
		if d >= visibleWait {
			b.Waiting = fmt.Sprintf("waiting until %s: %s", t.Now().Add(d).UTC().Format(time.TimeOnly+"Z"), e.Message)
		}
		if err := t.commit(ctx, b); err != nil {
			return err
		}
		t.retried = true
	}
	return t.Retry.Sleep(ctx, d)
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
