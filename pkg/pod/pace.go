package pod

import "sync"

// pace is whether a pod's turn works or only waits, for those who wait for the turn. A
// pod without a turn waits.
type pace struct {
	mu       sync.Mutex
	working  bool
	watchers map[*func(waiting bool)]struct{}
}

// set is told by the turn's clock.
func (p *pace) set(working bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working = working
	for tell := range p.watchers {
		(*tell)(!working)
	}
}

// watch tells how it is now and when that changes, until stop is called. tell must not
// block.
func (p *pace) watch(tell func(waiting bool)) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watchers == nil {
		p.watchers = make(map[*func(bool)]struct{})
	}
	p.watchers[&tell] = struct{}{}
	tell(!p.working)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, &tell)
	}
}
