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
	// written; otherwise nil.
	shown atomic.Pointer[item.PodStatus]
	// now is what its log says; nil until that is read.
	now atomic.Pointer[published]
	// activity says whether its turn works.
	activity activity
}

// published is what a pod's log says up to its entry last.
type published struct {
	last item.Seq
	// asking are the calls that wait for a person.
	asking   []Approval
	standing Standing
}

// activity says whether a pod's turn works or only waits, for callers that wait for the
// turn. A pod without a turn waits.
type activity struct {
	mu       sync.Mutex
	working  bool
	watchers map[*func(waiting bool)]struct{}
}

// set is called by the turn's clock.
func (w *activity) set(working bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = working
	for tell := range w.watchers {
		(*tell)(!working)
	}
}

// watch reports the current value and each change, until stop is called. tell must not
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
