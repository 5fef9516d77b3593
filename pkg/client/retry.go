package client

import (
	"context"
	"time"

	"podd/internal/wire"
	"podd/pkg/item"
)

// The first and the longest pause between two attempts.
const (
	minPause = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// maxPatientPause is the longest of who waits without an end.
	maxPatientPause = 2 * time.Second
)

// retry bounds how long a call that may be repeated is tried again.
type retry struct {
	client *Client
	// since is when podd was last known to be there; zero until it was missed.
	since time.Time
	pause time.Duration
	// patient is Config.Patient.
	patient bool
}

// again makes a call that may be repeated until it has podd's word, or until trying on is
// not worth it. waiting, which may be nil, is told of the first error that is waited out.
func again[T any](ctx context.Context, c *Client, waiting func(error), call func() (T, error)) (T, error) {
	r := retry{client: c}
	for first := true; ; first = false {
		got, err := call()
		if err == nil || !r.worth(ctx, err) {
			return got, err
		}
		if first && waiting != nil {
			waiting(err)
		}
		if !r.wait(ctx) {
			return got, err
		}
	}
}

// worth says whether to try again after err. It is not when err is final: podd's own
// word, a podd that never answered, one that is gone for too long, or the end of ctx.
func (r *retry) worth(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !r.passing(err) {
		return false
	}
	if r.since.IsZero() {
		r.since, r.pause = time.Now(), minPause
	}
	return r.patient || time.Since(r.since)+r.pause <= r.client.retryFor
}

// wait pauses before the next attempt, each time longer; ok is false when ctx ends
// first.
func (r *retry) wait(ctx context.Context) (ok bool) {
	longest := maxPause
	if r.patient {
		longest = maxPatientPause
	}
	now := r.pause
	r.pause = min(2*r.pause, longest)
	return pause(ctx, now)
}

// answered says that podd was there after all: the time starts anew.
func (r *retry) answered() { r.since = time.Time{} }

// passing says whether an error is one of a podd that stops, starts or has gone.
func (r *retry) passing(err error) bool {
	if item.KindOf(err) != item.KindUnavailable {
		return false
	}
	reached, _ := r.client.dialer.state()
	return r.patient || reached || item.ReasonOf(err) != wire.ReasonUnreachable
}
