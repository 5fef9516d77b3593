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

// Fanout passes events to hooks, each in its own goroutine behind a bounded queue:
// publishers never wait for a hook. Events for a full queue are dropped and counted. The
// nil Fanout drops everything.
type Fanout struct {
	log     *slog.Logger
	runners []*runner
	wg      sync.WaitGroup
	// alerts has room for the one alert of each hook.
	alerts chan string
	// closed ends the goroutine that raises them; done is closed when it has ended.
	closed, done chan struct{}
	close        sync.Once

	// mu admits publishers until over is set.
	mu   sync.RWMutex
	over bool
}

type runner struct {
	hook    Hook
	events  chan func(Hook)
	dropped atomic.Int64
	// told says that the hook's one alert was raised.
	told atomic.Bool
}

// NewFanout starts one goroutine per hook and one for alerts; Close ends them. alert is
// called once for a hook that is too slow or panics; nil raises none.
func NewFanout(log *slog.Logger, alert func(text string), hooks ...Hook) *Fanout {
	if alert == nil {
		alert = func(string) {}
	}
	f := &Fanout{log: log, alerts: make(chan string, len(hooks)), closed: make(chan struct{}), done: make(chan struct{})}
	go f.raise(alert)
	for _, h := range hooks {
		r := &runner{hook: h, events: make(chan func(Hook), QueueLen)}
		f.runners = append(f.runners, r)
		f.wg.Go(func() { f.run(r) })
	}
	return f
}

// Entry publishes a committed entry. fresh makes an independent copy of it, one for each
// hook.
func (f *Fanout) Entry(pod string, fresh func() item.Entry) {
	f.publish(func(h Hook) { h.Entry(pod, fresh()) })
}

// Alert publishes a stored alert.
func (f *Fanout) Alert(a item.Alert) {
	f.publish(func(h Hook) { h.Alert(a) })
}

// Edge publishes an event at an edge.
func (f *Fanout) Edge(e Edge) {
	f.publish(func(h Hook) { h.Edge(e) })
}

// Pod publishes a change of a pod's life.
func (f *Fanout) Pod(e PodEvent) {
	f.publish(func(h Hook) { h.Pod(e) })
}

// Dropped counts, for each hook's name, the events that were dropped because it was too
// slow.
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

// Close ends the hooks' goroutines after the queued events; a second call does nothing.
// Later events are dropped. When giveUp closes, Close stops waiting for hooks that have
// not returned.
func (f *Fanout) Close(giveUp <-chan struct{}) {
	if f != nil {
		f.close.Do(func() { f.end(giveUp) })
	}
}

func (f *Fanout) end(giveUp <-chan struct{}) {
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	for _, r := range f.runners {
		close(r.events)
	}
	ended := make(chan struct{})
	go func() { f.wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-giveUp:
	}
	close(f.closed)
	<-f.done
}

func (f *Fanout) publish(event func(Hook)) {
	if f == nil {
		return
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.over {
		return
	}
	for _, r := range f.runners {
		select {
		case r.events <- event:
		default:
			if r.dropped.Add(1) == 1 {
				f.log.Warn("hook is too slow, events are dropped", "hook", r.hook.Name())
				f.warnOnce(r, fmt.Sprintf("hook %s is too slow: events are dropped for it", r.hook.Name()))
			}
		}
	}
}

func (f *Fanout) run(r *runner) {
	for event := range r.events {
		if err := call(r.hook, event); err != nil {
			f.log.Error("hook failed", "hook", r.hook.Name(), "error", err)
			f.warnOnce(r, fmt.Sprintf("hook %s failed (%v): see the log for further failures", r.hook.Name(), err))
		}
	}
}

// warnOnce raises a hook's one alert.
func (f *Fanout) warnOnce(r *runner, text string) {
	if r.told.CompareAndSwap(false, true) {
		f.alerts <- text
	}
}

// raise raises alerts until the Fanout is closed, then the remaining ones.
func (f *Fanout) raise(alert func(text string)) {
	defer close(f.done)
	for {
		select {
		case text := <-f.alerts:
			alert(text)
		case <-f.closed:
			for len(f.alerts) > 0 {
				alert(<-f.alerts)
			}
			return
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
