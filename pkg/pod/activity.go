package pod

import "sync"

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
