package pod

import (
	"slices"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// pollEvery is how often the store is asked again what other nodes did, should a notice be lost.
var pollEvery = time.Second

// WakeFor wakes those who follow logs, watch pods or read alerts for what other nodes did.
func (h *Host) WakeFor(n store.Notice) {
	l := h.listeners
	l.alerts.Advance(n.Alert)
	l.fleetChanged()
	l.followers.wake(n)
}

// elsewhere says whether another node has the pod that an error is about.
func elsewhere(err error) bool {
	reason := item.ReasonOf(err)
	return reason == store.ReasonNotOwner || reason == store.ReasonNodeAway
}

// followers follow logs of pods that other nodes have. Its methods may be called from any goroutine.
type followers struct {
	mu sync.Mutex
	// of has the channel of each, and the id of its pod.
	of map[chan struct{}]string
}

// follow returns a channel that has a token now, and gets one when the log of a pod may have grown,
// until stop is called.
func (f *followers) follow(pod string) (grown <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of[c] = pod
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.of, c)
	}
}

func (f *followers) wake(n store.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c, pod := range f.of {
		if !n.Any && !slices.Contains(n.Pods, pod) {
			continue
		}
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
