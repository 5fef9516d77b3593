package extern

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"podd/pkg/item"
)

// Config configures a Runner. Pod is required.
type Config struct {
	// Pod finds a pod by its id: its name, and the workspace that commands run in.
	Pod func(ctx context.Context, id string) (item.Pod, error)
	// Alert is called with a sentence when a hook's command fails for the first time; nil
	// raises no alert. An interceptor's failure is a warning in its verdict.
	Alert func(text string)
	// Environ is podd's own environment; nil means os.Environ.
	Environ []string
	// Logger gets each failure with the command's standard error; nil means none.
	Logger *slog.Logger
}

// Runner runs the commands of interceptors and hooks.
type Runner struct {
	Config
	// base ends with Close.
	base   context.Context
	cancel context.CancelCauseFunc
	// running is held for reading while a command runs.
	running sync.RWMutex
}

var errClosed = errors.New("was stopped because podd is stopping")

// New creates a Runner. It lives until Close, not until ctx ends.
func New(ctx context.Context, c Config) (*Runner, error) {
	if c.Pod == nil {
		return nil, errors.New("extern: Pod is required")
	}
	if c.Alert == nil {
		c.Alert = func(string) {}
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Runner{Config: c}
	r.base, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return r, nil
}

// Close ends running commands and waits for them. Later runs fail at once.
func (r *Runner) Close() {
	r.cancel(errClosed)
	r.running.Lock()
	defer r.running.Unlock()
}

// The pauses between looks for a pod while the store does not answer.
const findFirst, findMost = 50 * time.Millisecond, time.Second

// Find finds a pod for a turn. It waits while the store does not answer, which could store no
// verdict either.
func (r *Runner) Find(ctx context.Context, id string) (item.Pod, error) {
	for wait := findFirst; ; wait = min(2*wait, findMost) {
		p, err := r.Pod(ctx, id)
		if item.KindOf(err) != item.KindUnavailable {
			return p, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return p, r.ended(ctx)
		case <-r.base.Done():
			return p, r.ended(ctx)
		}
	}
}

// find is a pod's part of an event for a turn.
func (r *Runner) find(ctx context.Context, id string) (podInfo, error) {
	p, err := r.Find(ctx, id)
	if err != nil {
		return podInfo{ID: id}, err
	}
	return describe(p), nil
}

// pod is a pod's part of an event of a hook. A deleted pod has only its id.
func (r *Runner) pod(ctx context.Context, id string) podInfo {
	if id == "" {
		return podInfo{}
	}
	p, err := r.Pod(ctx, id)
	if err != nil {
		return podInfo{ID: id}
	}
	return describe(p)
}

func describe(p item.Pod) podInfo { return podInfo{ID: p.ID, Name: p.Name, Dir: p.Spec.Dir} }
