package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A turn may work for its time and no longer; time spent waiting does not count.
func TestWorkClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c := newWorkClock(time.Minute, cancel, func(bool) {})
		for range 3 {
			time.Sleep(15 * time.Second)
			c.stop()
			c.stop()
			time.Sleep(24 * time.Hour)
			c.start()
			c.start()
		}
		time.Sleep(15*time.Second - 1)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("the clock ran out before its time:", context.Cause(ctx))
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), errTurnTime) {
			t.Errorf("cause %v after a minute of work", context.Cause(ctx))
		}
		c.stop()
		c.start()
	})
}

// The wait before a retry is not work.
func TestPauseIsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &Worker{Config: Config{Logger: slog.New(slog.DiscardHandler), Retry: Retry{}.withDefaults()}}
		r := w.newRun(ctx, nil, Now{}, Turn{})
		r.j.clock = newWorkClock(time.Minute, cancel, func(bool) {})
		time.Sleep(time.Minute - time.Second)
		if err := r.asker.pause(ctx, time.Hour, false); err != nil || ctx.Err() != nil {
			t.Errorf("an hour's wait: %v, %v", err, context.Cause(ctx))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), errTurnTime) {
			t.Errorf("cause %v after a minute of work", context.Cause(ctx))
		}
		r.j.clock.stop()
		r.j.stopWaiting(nil)
	})
}
