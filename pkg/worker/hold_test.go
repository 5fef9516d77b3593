package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A pause until a time follows the clock, whatever the clock does meanwhile.
func TestReached(t *testing.T) {
	for name, tt := range map[string]struct {
		// after an hour the clock moves by this; the pause ends after the time want.
		moves, want time.Duration
	}{
		"steady":        {0, 3 * time.Hour},
		"set back":      {-time.Hour, 4 * time.Hour},
		"set forward":   {time.Hour, 2 * time.Hour},
		"slept past it": {5 * time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				w := &Worker{Config: Config{Now: func() time.Time {
					now := time.Now()
					if now.Sub(begin) >= time.Hour {
						now = now.Add(tt.moves)
					}
					return now
				}}}
				if !w.reached(t.Context(), begin.Add(3*time.Hour), nil) {
					t.Fatal("it gave up")
				}
				if late := time.Since(begin) - tt.want; late < 0 || late > clockCheck {
					t.Errorf("it ended %s after the time", late)
				}
			})
		})
	}
}

func TestReachedEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Worker{Config: Config{Now: time.Now}}
		begin := time.Now()
		again := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(again) })
		if !w.reached(t.Context(), begin.Add(time.Hour), again) || time.Since(begin) != time.Minute {
			t.Errorf("after %s", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if w.reached(ctx, begin.Add(time.Hour), nil) {
			t.Error("it did not end with its context")
		}
	})
}
