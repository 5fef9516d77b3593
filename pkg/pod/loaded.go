package pod

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// loaded are the pods in memory, and those to be loaded. Its methods may be called from
// any goroutine.
type loaded struct {
	store store.Store
	// load makes the actor of a pod, which does not run yet.
	load func(item.Pod) *actor

	// mu guards the fields below. It is never locked during I/O or while waiting for a pod.
	mu     sync.Mutex
	actors map[string]*actor
	// deleted counts the running Deletes of a pod, during which it is not loaded.
	deleted map[string]int
	// late are the pods that could not be loaded yet, by their ids, with the reason.
	late map[string]error
	// parked are the pods that are moving to another node, with a channel that is closed when
	// that is over. Meanwhile they are not loaded.
	parked  map[string]chan struct{}
	closing bool

	// ending is closed when closing is set.
	ending chan struct{}
	// work are the goroutines of pods and about them, looks those that ask workspaces.
	work, looks sync.WaitGroup
}

func newLoaded(s store.Store, load func(item.Pod) *actor) *loaded {
	return &loaded{
		store: s, load: load, actors: make(map[string]*actor), deleted: make(map[string]int), late: make(map[string]error),
		parked: make(map[string]chan struct{}), ending: make(chan struct{}),
	}
}

// acquire loads a pod, if necessary, and keeps it loaded until release is called. It waits while
// the pod is moving.
func (l *loaded) acquire(ctx context.Context, idOrName string) (a *actor, release func(), err error) {
	rec, err := l.settled(ctx, idOrName)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return nil, nil, errStopping
	}
	if l.parked[rec.ID] != nil {
		l.mu.Unlock()
		return l.acquire(ctx, idOrName) // It began to move just now.
	}
	if l.deleted[rec.ID] > 0 {
		l.mu.Unlock()
		return nil, nil, item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "pod %q was deleted", idOrName)
	}
	a = l.actors[rec.ID]
	if a == nil {
		a = l.load(rec)
		l.actors[rec.ID] = a
		l.work.Go(a.run)
	}
	a.users++
	l.mu.Unlock()

	release = sync.OnceFunc(func() {
		l.mu.Lock()
		a.users--
		l.mu.Unlock()
	})
	select {
	case <-a.mailbox.loaded:
	case <-ctx.Done():
		release()
		return nil, nil, context.Cause(ctx)
	}
	if a.mailbox.loadErr != nil {
		release()
		return nil, nil, a.mailbox.loadErr
	}
	return a, release, nil
}

// all are the pods in memory.
func (l *loaded) all() []*actor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.actors))
}

// find is the pod with an id if it is in memory, otherwise nil; late is why it could not
// be loaded.
func (l *loaded) find(id string) (a *actor, late error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actors[id], l.late[id]
}

// asShown is a stored pod with the state that it could not store.
func (l *loaded) asShown(p item.Pod) item.Pod {
	if status := l.shown(p.ID); status != nil {
		p.Status.State, p.Status.Reason = status.State, status.Reason
	}
	return p
}

// shown is the status of a pod that could not store it; nil for most.
func (l *loaded) shown(id string) *item.PodStatus {
	a, late := l.find(id)
	if a != nil {
		return a.presence.shown.Load()
	}
	if late != nil {
		return &item.PodStatus{State: item.StateWaiting, Reason: cantGoOn(late)}
	}
	return nil
}

// withOpenTurns are the ids of all pods that may have an open turn: those in memory, and
// those that could not be loaded yet.
func (l *loaded) withOpenTurns() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := slices.Collect(maps.Keys(l.actors))
	for id := range l.late {
		if l.actors[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// setLate remembers why a pod is not loaded; nil forgets it.
func (l *loaded) setLate(id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		delete(l.late, id)
	} else {
		l.late[id] = err
	}
}

// forget removes a pod from memory unless it is in use. The pod's own goroutine calls it,
// and ends if it returns true.
func (l *loaded) forget(a *actor) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.users > 0 {
		return false
	}
	delete(l.actors, a.id)
	return true
}

// drop removes a pod whose goroutine ends from memory.
func (l *loaded) drop(a *actor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.actors[a.id] == a {
		delete(l.actors, a.id)
	}
}

// remove keeps a pod from being loaded until done is called, and returns the one in
// memory, or nil.
func (l *loaded) remove(id string) (a *actor, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deleted[id]++
	return l.actors[id], func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.deleted[id]--; l.deleted[id] == 0 {
			delete(l.deleted, id)
		}
	}
}

// end ends a pod that is deleted: its turn is cancelled, its queue emptied. It is not loaded
// again until done is called.
func (l *loaded) end(ctx context.Context, rec item.Pod) (done func(), err error) {
	a, done := l.remove(rec.ID)
	if a == nil {
		return done, nil
	}
	now := make(chan struct{})
	close(now)
	a.mailbox.end(now, item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "pod %q was deleted", rec.Name), &worker.Cancelled{Reason: "the pod was deleted"})
	select {
	case <-a.life.Done():
		return done, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}

// start runs f in its own goroutine, unless the Host ends.
func (l *loaded) start(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		l.looks.Go(f)
	}
	return !l.closing
}

// sleep waits; false if the Host ends first.
func (l *loaded) sleep(d time.Duration) bool {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-l.ending:
		return false
	}
}

// unlessClosing runs f while the Host can't begin to end.
func (l *loaded) unlessClosing(f func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return errStopping
	}
	f()
	return nil
}

// close prevents further pods from being loaded.
func (l *loaded) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		close(l.ending)
	}
	l.closing = true
}
