package pod

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"podd/internal/live"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Config is what a Host works with.
type Config struct {
	Fixed
	Settings
}

// Fixed is what stays as long as a Host lives. Store and Workspaces are
// required; the zero value of the rest is its documented default.
type Fixed struct {
	// Store keeps the pods. The Host does not close it.
	Store store.Store
	// Workspaces are where the pods work; package workspace has them.
	Workspaces Workspaces
	// ApprovalTime is how long a call waits for a person; default one week.
	ApprovalTime time.Duration
	// Retry says how a failed request is tried again.
	Retry worker.Retry
	// Idle is how long a pod stays in memory with nothing to do; default ten
	// minutes.
	Idle time.Duration
	// Logger gets what an operator should know; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (c Fixed) withDefaults() Fixed {
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Host owns the pods of one store. Its methods may be called from any goroutine.
// Errors that a client may see are *item.Error.
type Host struct {
	Fixed
	// current are the settings, which settings gives.
	current atomic.Pointer[settings]
	hooks   atomic.Pointer[hook.Fanout]
	alerts  *live.Broadcast
	// base is the context of the pods' own work: it ends with no client.
	base context.Context

	// mu guards what follows. It is never held over I/O or while waiting for a pod.
	mu     sync.Mutex
	actors map[string]*actor
	// deleting counts the Deletes of a pod that are under way: it is not loaded meanwhile.
	deleting map[string]int
	// late are the pods that could not be loaded yet, by their ids, and why.
	late    map[string]error
	closing bool
	wg      sync.WaitGroup
	// looks are the goroutines that ask workspaces.
	looks sync.WaitGroup
	// ending is closed when closing is set.
	ending chan struct{}
}

var errStopping = item.Errorf(item.KindUnavailable, "STOPPING", "podd is stopping; try again once it is back")

// NewHost opens the pods of a store. ctx is not kept: Close ends the Host. Call Recover before serving clients, and
// Close at the end.
func NewHost(ctx context.Context, c Config) (*Host, error) {
	if c.Store == nil || c.Workspaces == nil {
		return nil, errors.New("pod: Store and Workspaces are required")
	}
	first, err := c.checked()
	if err != nil {
		return nil, err
	}
	c.Fixed = c.withDefaults()
	h := &Host{
		Fixed:    c.Fixed,
		alerts:   live.New(0),
		base:     context.WithoutCancel(ctx),
		actors:   make(map[string]*actor),
		deleting: make(map[string]int),
		late:     make(map[string]error),
		ending:   make(chan struct{}),
	}
	h.current.Store(first)
	h.hooks.Store(h.newFanout(c.Hooks))
	return h, nil
}

// HookFailed raises the alert about a hook: one that panicked or was too slow, or one
// that says so itself.
func (h *Host) HookFailed(text string) { h.Raise(item.LevelWarn, "hook", text) }

// Raise raises an alert that is no pod's. One that can't be stored is logged.
func (h *Host) Raise(level item.Level, source, text string) {
	alert, err := h.Store.RaiseAlert(h.base, item.Alert{Level: level, Source: source, Text: text, Time: h.Now(), Count: 1})
	if err != nil {
		h.Logger.Error("alert could not be stored", "text", text, "error", err)
		return
	}
	h.announce("", nil, []item.Alert{alert})
}

// Recover loads each pod that was left in the middle of a turn or has something to do:
// its turn goes on, its submits run. One that can't be loaded now, for want of space, is
// tried again until it can. When ctx ends it stops between two pods.
func (h *Host) Recover(ctx context.Context) error {
	pods, err := h.Store.Pods(ctx)
	if err != nil {
		return err
	}
	var late []item.Pod
	for _, p := range pods {
		switch p.Status.State {
		case item.StateRunning, item.StateWaiting, item.StateResuming, item.StatePaused:
		default:
			if p.Queued == 0 {
				continue
			}
		}
		err := h.recover(ctx, p)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.Logger.Error("pod could not be recovered", "pod", p.ID, "name", p.Name, "error", err)
		}
		if passes(err) {
			late = append(late, p)
			h.setLate(p.ID, err)
		}
	}
	if len(late) > 0 {
		h.wg.Go(func() { h.recoverLate(late) })
	}
	return nil
}

// recover loads a pod, which then goes on by itself.
func (h *Host) recover(ctx context.Context, p item.Pod) error {
	a, release, err := h.acquire(ctx, p.ID)
	if err != nil {
		return err
	}
	defer release()
	h.Logger.Info("pod recovered", "pod", a.id, "name", p.Name)
	if p.Queued > 0 {
		_ = a.do(ctx, func() { a.raise(item.LevelInfo, "recovery", queuedText(p.Queued)) })
	}
	return nil
}

// passes says whether a pod that can't be loaded may be later on.
func passes(err error) bool {
	switch item.KindOf(err) {
	case item.KindDataLoss, item.KindNotFound:
		return false
	}
	return err != nil
}

// setLate remembers why a pod is not loaded; nil forgets it.
func (h *Host) setLate(id string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.late, id)
	} else {
		h.late[id] = err
	}
}

// recoverLate tries to load pods until each is or can never be, or the Host ends.
func (h *Host) recoverLate(pods []item.Pod) {
	for wait := stuckFirst; len(pods) > 0; wait = min(2*wait, stuckMost) {
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-h.ending:
			again.Stop()
			return
		}
		pods = slices.DeleteFunc(pods, func(p item.Pod) bool {
			err := h.recover(h.base, p)
			if passes(err) {
				h.setLate(p.ID, err)
				return false
			}
			h.setLate(p.ID, nil)
			return true
		})
	}
}

func queuedText(n int) string {
	if n == 1 {
		return "podd is back: the submit that waited is kept and runs in its turn"
	}
	return fmt.Sprintf("podd is back: the %d submits that waited are kept and run in their order", n)
}

// acquire loads a pod, if need be, and keeps it loaded until release is called.
func (h *Host) acquire(ctx context.Context, idOrName string) (a *actor, release func(), err error) {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	if h.closing {
		h.mu.Unlock()
		return nil, nil, errStopping
	}
	if h.deleting[rec.ID] > 0 {
		h.mu.Unlock()
		return nil, nil, item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "there is no pod %q: it was deleted", idOrName)
	}
	a = h.actors[rec.ID]
	if a == nil {
		a = newActor(h, rec)
		h.actors[rec.ID] = a
		h.wg.Go(a.run)
	}
	a.users++
	h.mu.Unlock()

	release = sync.OnceFunc(func() {
		h.mu.Lock()
		a.users--
		h.mu.Unlock()
	})
	select {
	case <-a.loaded:
	case <-ctx.Done():
		release()
		return nil, nil, context.Cause(ctx)
	}
	if a.loadErr != nil {
		release()
		return nil, nil, a.loadErr
	}
	return a, release, nil
}

// inMemory are the pods in memory.
func (h *Host) inMemory() []*actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.actors))
}

// forget takes a pod out of memory unless someone uses it. It is called by the
// pod's own goroutine, which ends when it returns true.
func (h *Host) forget(a *actor) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.users > 0 {
		return false
	}
	delete(h.actors, a.id)
	return true
}

// drop takes a pod whose goroutine ends out of memory.
func (h *Host) drop(a *actor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.actors[a.id] == a {
		delete(h.actors, a.id)
	}
}

// Counts says how many pods there are in memory, and how many of them run a turn.
func (h *Host) Counts() (loaded, running int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.actors {
		if a.running.Load() {
			running++
		}
	}
	return len(h.actors), running
}

// leaveTime is how long Close waits for what hangs once it is in a hurry, which is more than
// the end of a command takes; lookTime is how long it waits for looks into workspaces, which
// nothing depends on any more.
var (
	leaveTime = 3 * time.Second
	lookTime  = time.Second
)

// Close stops all pods: no submit is accepted any more, running turns end at their
// next step boundary, or at once when ctx ends first, and streams end. It returns
// when all goroutines of the Host have ended. One that hangs in a system call can't be
// ended: Close leaves it behind, and says so in the log.
func (h *Host) Close(ctx context.Context) {
	h.mu.Lock()
	if !h.closing {
		close(h.ending)
	}
	h.closing = true
	h.mu.Unlock()

	for _, a := range h.inMemory() {
		h.wg.Go(func() { a.end(ctx.Done(), errStopping, worker.ErrShutdown) })
	}
	if !endsIn(&h.wg, ctx.Done(), leaveTime) || !endsIn(&h.looks, nil, lookTime) {
		h.Logger.Error("podd leaves behind what hangs in the system: the file system of a workspace does not answer")
	}
	h.alerts.Close(errStopping)
	h.hooks.Load().Close(ctx.Done())
}

// endsIn waits for goroutines to end, and no longer than d once hurry is closed; nil is
// closed.
func endsIn(wg *sync.WaitGroup, hurry <-chan struct{}, d time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wg.Wait()
	}()
	if hurry != nil {
		select {
		case <-ended:
		case <-hurry:
		}
	}
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-ended:
		return true
	case <-late.C:
		return false
	}
}
