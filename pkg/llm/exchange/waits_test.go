package exchange_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

func slow(d time.Duration) error {
	return &llm.Error{Class: llm.ClassRateLimit, Message: "slow down", RetryAfter: d}
}

// rush sends requests from many goroutines as the worker does: each sleeps as long as it is
// told to.
func rush(t *testing.T, w exchange.Waits, n int, answer func(begin func()) error) (wait func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for {
				err := w.Send(t.Context(), "m", answer)
				e, ok := errors.AsType[*llm.Error](err)
				if !ok {
					return
				}
				time.Sleep(e.RetryAfter)
			}
		})
	}
	return wg.Wait
}

// While a wait lasts no request of the model leaves. Then one tries alone, and the others
// follow when its answer begins.
func TestWaitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := exchange.NewWaits()
		_ = w.Send(t.Context(), "m", func(func()) error { return slow(time.Hour) })
		var sent, running atomic.Int32
		begins, ends := make(chan struct{}), make(chan struct{})
		wait := rush(t, w, 5, func(begin func()) error {
			sent.Add(1)
			running.Add(1)
			<-begins
			begin()
			<-ends
			return nil
		})
		time.Sleep(time.Hour - time.Nanosecond)
		synctest.Wait()
		if n := sent.Load(); n != 0 {
			t.Errorf("%d requests during the wait", n)
		}
		if err := w.Send(t.Context(), "other", func(func()) error { return nil }); err != nil {
			t.Errorf("another model: %v", err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := sent.Load(); n != 1 {
			t.Errorf("%d requests try", n)
		}
		close(begins)
		synctest.Wait()
		if n := running.Load(); n != 5 {
			t.Errorf("%d requests run after one was answered", n)
		}
		close(ends)
		wait()
		if n := w.Held(); n != 0 {
			t.Errorf("%d waits are left", n)
		}
	})
}

// A request that tries and is refused holds the others again; one that breaks, or that is
// cancelled, lets the next one try.
func TestTheOneThatTriesFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := exchange.NewWaits()
		_ = w.Send(t.Context(), "m", func(func()) error { return slow(time.Minute) })
		start := time.Now()
		var at []time.Duration
		outcomes := []error{slow(time.Hour), slow(0), errors.New("broken")}
		wait := rush(t, w, 3, func(begin func()) error {
			n := len(at)
			at = append(at, time.Since(start))
			if n < len(outcomes) {
				return outcomes[n]
			}
			begin()
			return nil
		})
		wait()
		first, again, soon := time.Minute, time.Minute+time.Hour, 250*time.Millisecond
		want := []time.Duration{first, again, again + soon, again + soon, again + soon}
		if len(at) != len(want) {
			t.Fatalf("requests at %v, want %v", at, want)
		}
		for i := range at {
			if at[i] != want[i] {
				t.Errorf("request %d at %v, want %v", i, at[i], want[i])
			}
		}
	})
}

// Who waits for the one that tries can be cancelled.
func TestCancelledWhileAnotherTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := exchange.NewWaits()
		_ = w.Send(t.Context(), "m", func(func()) error { return slow(time.Second) })
		time.Sleep(time.Second)
		end := make(chan struct{})
		wait := rush(t, w, 1, func(func()) error { <-end; return nil })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Send(ctx, "m", func(func()) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		close(end)
		wait()
	})
}
