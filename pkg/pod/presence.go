package pod

import (
	"sync"
	"sync/atomic"

	"podd/pkg/item"
)

// presence is what others see of a loaded pod without its goroutine.
type presence struct {
	// running says that a turn runs.
	running atomic.Bool
	// shown is the pod's status while it differs from the stored one, which can't be
	// written; else nil.
	shown atomic.Pointer[item.PodStatus]
	// asking are the calls that wait for a person; nil until the log is read.
	asking atomic.Pointer[[]Approval]
	// activity says whether its turn works.
	activity activity
}

// activity is whether a pod's turn works or only waits, for whoever waits for the turn. A
// pod without a turn waits.
type activity struct {
	mu       sync.Mutex
	working  bool
	watchers map[*func(waiting bool)]struct{}
}

// set is told by the turn's clock.
func (w *activity) set(working bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = working
	for tell := range w.watchers {
		(*tell)(!working)
	}
}

// watch tells how it is now and when that changes, until stop is called. tell must not
// block.
func (w *activity) watch(tell func(waiting bool)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watchers == nil {
		w.watchers = make(map[*func(bool)]struct{})
	}
	w.watchers[&tell] = struct{}{}
	tell(!w.working)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watchers, &tell)
	}
}
