package hook

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"podd/pkg/item"
)

// QueueLen is how many events wait for one hook before further ones are dropped.
const QueueLen = 1024

// Fanout hands events to hooks, each in a goroutine of its own behind a bounded
// queue: whoever publishes never waits for a hook. Events that find the queue full
// are dropped and counted. The nil Fanout drops everything.
type Fanout struct {
	log     *slog.Logger
	runners []*runner
	wg      sync.WaitGroup
}

type runner struct {
	hook    Hook
	events  chan func(Hook)
	dropped atomic.Int64
}

// NewFanout starts one goroutine a hook; Close ends them.
func NewFanout(log *slog.Logger, hooks ...Hook) *Fanout {
	f := &Fanout{log: log}
	for _, h := range hooks {
		r := &runner{hook: h, events: make(chan func(Hook), QueueLen)}
		f.runners = append(f.runners, r)
		f.wg.Go(func() { f.run(r) })
	}
	return f
}

// Entry publishes a committed entry. fresh makes a copy of it that shares nothing
// with any other: each hook gets one of its own.
func (f *Fanout) Entry(pod string, fresh func() item.Entry) {
	f.publish(func(h Hook) { h.Entry(pod, fresh()) })
}

// Alert publishes a stored alert.
func (f *Fanout) Alert(a item.Alert) {
	f.publish(func(h Hook) { h.Alert(a) })
}

// Dropped counts, for each hook's name, the events that it was too slow for.
func (f *Fanout) Dropped() map[string]int64 {
	counts := make(map[string]int64)
	if f == nil {
		return counts
	}
	for _, r := range f.runners {
		counts[r.hook.Name()] += r.dropped.Load()
	}
	return counts
}

// Close ends the hooks' goroutines after the events that already wait. Nothing may
// be published afterwards. A hook that never returns is not waited for when
// giveUp closes first.
func (f *Fanout) Close(giveUp <-chan struct{}) {
	if f == nil {
		return
	}
	for _, r := range f.runners {
		close(r.events)
	}
	done := make(chan struct{})
	go func() { f.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-giveUp:
	}
}

func (f *Fanout) publish(event func(Hook)) {
	if f == nil {
		return
	}
	for _, r := range f.runners {
		select {
		case r.events <- event:
		default:
			if r.dropped.Add(1) == 1 {
				f.log.Warn("hook is too slow, events are dropped", "hook", r.hook.Name())
			}
		}
	}
}

func (f *Fanout) run(r *runner) {
	for event := range r.events {
		if err := call(r.hook, event); err != nil {
			f.log.Error("hook failed", "hook", r.hook.Name(), "error", err)
		}
	}
}

// call turns a panic of the hook into an error.
func call(h Hook, event func(Hook)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	event(h)
	return nil
}
