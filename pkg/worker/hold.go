package worker

import (
	"context"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// clockCheck is how often a pause until a time looks at the clock: a timer alone does not
// notice that the clock was changed or that the machine slept.
const clockCheck = 30 * time.Second

// holdUntil pauses the pod until a time. It ends earlier when the interceptor wants to be
// asked again, or a person resumes the pod.
func (t *gate) holdUntil(ctx context.Context, at string, d interceptor.RequestDecision) error {
	p := item.Pause{Reason: d.Paused, At: at, Turn: t.j.turn.Number, Until: d.Until.UTC(), By: d.By}
	if err := t.j.log.Hold(ctx, p); err != nil {
		return logFailed(ctx, err)
	}
	waiting, stop := context.WithCancel(t.j.waiting)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if !t.w.reached(waiting, p.Until, d.Again) {
			return
		}
		if err := t.j.log.Release(waiting, p.By); err != nil && waiting.Err() == nil {
			t.j.logger.Error("cannot end a pause; podctl resume does", "by", p.By, "error", err)
		}
	}()
	_, err := t.join(ctx, true)
	stop()
	<-ended
	return err
}

// reached waits until the clock shows a time, or again is closed. It returns false if ctx
// ends first.
func (w *Worker) reached(ctx context.Context, until time.Time, again <-chan struct{}) bool {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-again:
			return true
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
		left := until.Sub(w.Now().Round(0))
		if left <= 0 {
			return true
		}
		timer.Reset(min(left, clockCheck))
	}
}
