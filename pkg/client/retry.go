package client

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/wire"
)

// The first and the longest pause between two attempts.
const (
	minPause = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// maxPatientPause is the longest pause of a patient stream.
	maxPatientPause = 2 * time.Second
)

// retry bounds how long a call that may be repeated is retried.
type retry struct {
	client *Client
	// since is when podd went away; zero while it is up.
	since time.Time
	pause time.Duration
	// patient is Config.Patient.
	patient bool
}

// again repeats a call until podd answers, or until a retry is not worth it. waiting, which
// may be nil, is called with the first error that leads to a retry.
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

// worth says whether to retry after err. It returns false if err is an answer of podd, if
// podd never answered or has been away for too long, or if ctx has ended.
func (r *retry) worth(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !r.passing(err) {
		return false
	}
	if r.since.IsZero() {
		r.since, r.pause = time.Now(), minPause
	}
	return r.patient || time.Since(r.since)+r.pause <= r.client.retryFor
}

// wait pauses before the next attempt, each time longer; ok is false if ctx ends first.
func (r *retry) wait(ctx context.Context) (ok bool) {
	longest := maxPause
	if r.patient {
		longest = maxPatientPause
	}
	now := r.pause
	r.pause = min(2*r.pause, longest)
	return pause(ctx, now)
}

// answered records that podd is up: the time for retries starts over.
func (r *retry) answered() { r.since = time.Time{} }

// passing says whether an error may pass: podd is stopping, starting or away.
func (r *retry) passing(err error) bool {
	if item.KindOf(err) != item.KindUnavailable {
		return false
	}
	reached, _ := r.client.dialer.state()
	return r.patient || reached || item.ReasonOf(err) != wire.ReasonUnreachable
}
