package pod

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"podd/internal/live"
	"podd/internal/policy"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/projection"
	"podd/pkg/scopefs"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/spool"
	"podd/pkg/worker"
)

// Config is what a Host works with. Store, Model and SpoolDir are required; the
// zero value of the rest is its documented default.
type Config struct {
	// Store keeps the pods. The Host does not close it.
	Store store.Store
	// Model answers the requests of all pods.
	Model llm.Model
	// ModelName and Instructions are for pods that name none of their own.
	ModelName    string
	Instructions string
	// SpoolDir holds the full text of tool outputs that were cut and the output of
	// running commands; one folder a pod.
	SpoolDir string
	// SpoolBytes and SpoolAge bound what is kept there; see spool.Config.
	SpoolBytes int64
	SpoolAge   time.Duration
	// Hidden are podd's own files and directories, which no pod's file tools reach;
	// see scopefs.Config. A pod's own spool folder stays readable.
	Hidden []string
	// FileRefs bounds what an @path adds to a submit.
	FileRefs scopefs.RefLimits
	// FileRefRole is "system" to send file references with that literal role.
	FileRefRole string
	// Scrub takes secrets out of a spool file; see spool.Config.
	Scrub func(path string) error
	// ToolOutput cuts what tools answer; nil means the default limits.
	ToolOutput *tool.Limits
	// Prune is the rule by which tool results leave the context; its zero value is
	// the default rule. Prices come before the built-in price table.
	Prune  projection.Config
	Prices []projection.ModelPrice
	// Compaction says when a summary takes the place of older items.
	Compaction worker.Compaction
	// Summarize says which tool outputs over their limit a model summarises; its zero
	// value is none.
	Summarize worker.Summarize
	// Ask is when calls ask a person, for pods that say nothing else; default risky.
	// Rules decide on calls of all pods.
	Ask   policy.Mode
	Rules []policy.Rule
	// Shell sets up the shell tool.
	Shell builtin.Shell
	// Search, Tree, ListDir and Glob bound built-in tools; see builtin.Config.
	Search  builtin.Search
	Tree    builtin.Tree
	ListDir builtin.Listing
	Glob    builtin.Listing
	// Limits bound each turn of pods that have no limits of their own.
	Limits worker.Limits
	// ApprovalTime is how long a call waits for a person; default one week.
	ApprovalTime time.Duration
	// Fallbacks are models to ask when the pod's can't be asked for long.
	Fallbacks []string
	// Retry says how a failed request is tried again.
	Retry worker.Retry
	// MaxInbox is how many submits may wait for one pod; default 100.
	MaxInbox int
	// MaxSubmitBytes is the largest submit, all segments together; default 1 MiB.
	MaxSubmitBytes int
	// Interceptors decide, after the file references, in this order.
	Interceptors []interceptor.Interceptor
	// Hooks observe.
	Hooks []hook.Hook
	// Tools are offered beside the built-in ones.
	Tools []tool.Tool
	// Idle is how long a pod stays in memory with nothing to do; default ten
	// minutes.
	Idle time.Duration
	// Logger gets what an operator should know; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.MaxInbox == 0 {
		c.MaxInbox = 100
	}
	if c.MaxSubmitBytes == 0 {
		c.MaxSubmitBytes = 1 << 20
	}
	if c.Ask == "" {
		c.Ask = policy.Risky
	}
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

// newState is the state of an empty log.
func (c Config) newState() (*projection.State, error) {
	return projection.NewState(projection.StateConfig{Prune: c.Prune, Prices: c.Prices})
}

// Host owns the pods of one store. Its methods may be called from any goroutine.
// Errors that a client may see are *item.Error.
type Host struct {
	Config
	chain  interceptor.Chain
	hooks  *hook.Fanout
	alerts *live.Broadcast
	spool  *spool.Spool
	// base is the context of the pods' own work: it ends with no client.
	base context.Context

	// mu guards what follows. It is never held over I/O or while waiting for a pod.
	mu      sync.Mutex
	actors  map[string]*actor
	deleted map[string]bool
	closing bool
	wg      sync.WaitGroup
}

var errStopping = item.Errorf(item.KindUnavailable, "STOPPING", "podd is stopping; try again once it is back")

// NewHost opens the pods of a store. ctx is not kept: Close ends the Host. Call Recover before serving clients, and
// Close at the end.
func NewHost(ctx context.Context, c Config) (*Host, error) {
	if c.Store == nil || c.Model == nil || c.SpoolDir == "" {
		return nil, errors.New("pod: Store, Model and SpoolDir are required")
	}
	if _, err := c.newState(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	files, err := spool.Open(spool.Config{Dir: c.SpoolDir, MaxBytes: c.SpoolBytes, MaxAge: c.SpoolAge, Logger: c.Logger, Now: c.Now, Scrub: c.Scrub})
	if err != nil {
		return nil, err
	}
	h := &Host{
		Config:  c,
		chain:   append(interceptor.Chain{interceptor.FileRefs{}}, c.Interceptors...),
		alerts:  live.New(0),
		spool:   files,
		base:    context.WithoutCancel(ctx),
		actors:  make(map[string]*actor),
		deleted: make(map[string]bool),
	}
	h.hooks = hook.NewFanout(c.Logger, h.HookFailed, c.Hooks...)
	return h, nil
}

// HookFailed raises the alert about a hook: one that panicked or was too slow, or one
// that says so itself.
func (h *Host) HookFailed(text string) {
	alert, err := h.Store.RaiseAlert(h.base, item.Alert{Level: item.LevelWarn, Source: "hook", Text: text, Time: h.Now(), Count: 1})
	if err != nil {
		h.Logger.Error("alert could not be stored", "text", text, "error", err)
		return
	}
	h.announce("", nil, []item.Alert{alert})
}

// Recover loads each pod that was left in the middle of a turn or has something to do:
// its turn goes on, its submits run.
func (h *Host) Recover(ctx context.Context) error {
	pods, err := h.Store.Pods(ctx)
	if err != nil {
		return err
	}
	for _, p := range pods {
		switch p.Status.State {
		case item.StateRunning, item.StateWaiting, item.StateResuming, item.StatePaused:
		default:
			if p.Queued == 0 {
				continue
			}
		}
		a, release, err := h.acquire(ctx, p.ID)
		if err != nil {
			h.Logger.Error("pod could not be recovered", "pod", p.ID, "name", p.Name, "error", err)
			continue
		}
		h.Logger.Info("pod recovered", "pod", a.id, "name", p.Name)
		if p.Queued > 0 {
			_ = a.do(ctx, func() { a.raise(item.LevelInfo, "recovery", queuedText(p.Queued)) })
		}
		release()
	}
	return nil
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
	if h.deleted[rec.ID] {
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

// Close stops all pods: no submit is accepted any more, running turns end at their
// next step boundary, or at once when ctx ends first, and streams end. It returns
// when all goroutines of the Host have ended.
func (h *Host) Close(ctx context.Context) {
	h.mu.Lock()
	h.closing = true
	actors := make([]*actor, 0, len(h.actors))
	for _, a := range h.actors {
		actors = append(actors, a)
	}
	h.mu.Unlock()

	var wg sync.WaitGroup
	for _, a := range actors {
		wg.Go(func() { a.end(ctx, errStopping, worker.ErrShutdown) })
	}
	wg.Wait()
	h.wg.Wait()
	h.alerts.Close(errStopping)
	h.hooks.Close(ctx.Done())
}
