package pod

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Config configures a Host.
type Config struct {
	Fixed
	Settings
}

// Fixed is the part of the configuration that never changes. Store and Workspaces are
// required; other zero fields mean their documented default.
type Fixed struct {
	// Store stores the pods. The Host does not close it.
	Store store.Store
	// Node is the name of this podd among those that share the store; empty for one that has
	// it alone.
	Node string
	// Workspaces are where the pods work; package workspace has them.
	Workspaces Workspaces
	// ApprovalTime is how long a call waits for a person; default one week.
	ApprovalTime time.Duration
	// Retry says how a failed request is retried.
	Retry worker.Retry
	// Idle is how long a pod stays in memory with nothing to do; default ten
	// minutes.
	Idle time.Duration
	// Grace is how long a running turn has to reach a step boundary when its pod moves to another
	// node; default ten seconds.
	Grace time.Duration
	// Logger gets messages for the operator; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (c Fixed) withDefaults() Fixed {
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Grace == 0 {
		c.Grace = 10 * time.Second
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
	// Logs are the pods' logs and usage, Alerts their alerts, Family their spawning.
	Logs   *Logs
	Alerts *Alerts
	Family *Family
	// current are the current settings; settings returns them.
	current   atomic.Pointer[settings]
	listeners *listeners
	pods      *loaded
	visitors  visitors
	// wings are set before Recover.
	wings []Wing
	// started is when this Host began, by its clock.
	started time.Time
	// base is the context of the pods' own work, which does not end with a client.
	base context.Context
	// running is base until the Host begins to end, which stopRunning says.
	running     context.Context
	stopRunning context.CancelCauseFunc
}

// ReasonStopping is the reason of calls to a Host that ends.
const ReasonStopping = "STOPPING"

var errStopping = item.Errorf(item.KindUnavailable, ReasonStopping, "podd is stopping; try again once it is back")

// errRestarting is errStopping when podd starts again at once.
var errRestarting = item.Errorf(item.KindUnavailable, ReasonStopping, "podd restarts; try again once it is back")

// NewHost opens the pods of a store. It does not keep ctx: Close ends the Host. Call
// Recover before serving clients, and Close at the end.
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
		Fixed: c.Fixed, listeners: newListeners(c.Logger), base: context.WithoutCancel(ctx), started: c.Now(),
	}
	h.running, h.stopRunning = context.WithCancelCause(h.base)
	h.pods = newLoaded(c.Store, func(p item.Pod) *actor { return newActor(h, p) })
	h.Logs = &Logs{store: c.Store, log: c.Logger, settings: h.settings, pods: h.pods, listeners: h.listeners}
	h.Alerts = &Alerts{store: c.Store, listeners: h.listeners, log: c.Logger, now: c.Now, base: h.base, asking: h.asking}
	h.Family = &Family{store: c.Store, pods: h.pods}
	h.current.Store(first)
	h.listeners.hooks.Store(h.newFanout(c.Hooks))
	return h, nil
}

// Counts says how many pods are in memory, how many of them run a turn, and how many jobs
// they run.
type Counts struct{ Loaded, Running, Jobs int }

// Counts are the current ones.
func (h *Host) Counts() Counts {
	pods := h.pods.all()
	c := Counts{Loaded: len(pods)}
	for _, a := range pods {
		if a.presence.running.Load() {
			c.Running++
		}
		if now := a.presence.now.Load(); now != nil {
			c.Jobs += now.standing.Jobs
		}
	}
	return c
}

// Loaded are the ids of the pods in memory.
func (h *Host) Loaded() []string {
	var ids []string
	for _, a := range h.pods.all() {
		ids = append(ids, a.id)
	}
	return ids
}

// leaveTime is how long Close waits for hanging work once it is in a hurry, which is
// longer than ending a command takes; lookTime is how long it waits for accesses to
// workspaces, which nothing needs any more.
var (
	leaveTime = 3 * time.Second
	lookTime  = time.Second
)

// Close stops all pods: it accepts no more submits, running turns end at their next step
// boundary, those of movable pods also between two of the model's words, or at once when ctx ends
// first, and streams end. It returns when all
// goroutines of the Host have ended. One that hangs in a system call can't be ended:
// Close leaves it behind, and logs that.
func (h *Host) Close(ctx context.Context) { h.close(ctx, errStopping, worker.ErrShutdown) }

// Restart is Close for a podd that starts again at once: commands that outlive ctx, and the jobs of
// pods that no other node takes over, run on.
func (h *Host) Restart(ctx context.Context) { h.close(ctx, errRestarting, worker.ErrRestart) }

func (h *Host) close(ctx context.Context, closing, cause error) {
	h.pods.close()
	h.stopRunning(closing)
	for _, a := range h.pods.all() {
		h.pods.work.Go(func() { a.mailbox.leave(ctx.Done(), closing, cause, func(p item.Pod) bool { return p.Movable }) })
	}
	if !endsIn(&h.pods.work, ctx.Done(), leaveTime) || !endsIn(&h.pods.looks, nil, lookTime) {
		h.Logger.Error("podd stops although a system call hangs: the file system of a workspace does not answer")
	}
	h.listeners.alerts.Close(closing)
	h.listeners.fleet.Close(closing)
	h.listeners.hooks.Load().Close(ctx.Done())
}

// endsIn waits for goroutines to end, and no longer than d once hurry is closed; nil is
// treated as closed.
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
