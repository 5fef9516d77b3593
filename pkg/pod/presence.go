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
	// asking are the calls that wait for a person; nil until the log is read. It reflects
	// the log up to the entry asked.
	asking atomic.Pointer[[]Approval]
	asked  atomic.Int64
	// standing is what its fold says of its work; nil until the log is read.
	standing atomic.Pointer[Standing]
	// activity says whether its turn works.
	activity activity
}

// ask publishes the calls that wait, as the log has them up to an entry.
func (p *presence) ask(now []Approval, last item.Seq) {
	if before := p.asking.Load(); before == nil || len(now)+len(*before) > 0 {
		p.asking.Store(&now)
	}
	p.asked.Store(int64(last))
}

// asks are the calls that wait; false while they do not reflect the log up to an entry.
func (p *presence) asks(upTo item.Seq) ([]Approval, bool) {
	if item.Seq(p.asked.Load()) < upTo {
		return nil, false
	}
	now := p.asking.Load()
	if now == nil {
		return nil, false
	}
	return *now, true
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
