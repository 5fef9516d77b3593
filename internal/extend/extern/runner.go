package extern

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"

	"podd/pkg/item"
)

// Config is what a Runner works with. Pod is required.
type Config struct {
	// Pod finds a pod by its id: its name, and the workspace that commands run in.
	Pod func(ctx context.Context, id string) (item.Pod, error)
	// Alert is called when a hook's command fails for the first time, with one sentence;
	// nil raises none. What an interceptor fails at is a warning of its verdict.
	Alert func(text string)
	// Environ is podd's own environment; nil means os.Environ.
	Environ []string
	// Logger gets each failure with what the command wrote to standard error; nil means
	// none.
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

var errClosed = errors.New("was ended, for podd is stopping")

// New makes a Runner. ctx is not kept: Close ends it.
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

// Close ends the commands that run and waits for them. What is asked for later fails
// at once.
func (r *Runner) Close() {
	r.cancel(errClosed)
	r.running.Lock()
	defer r.running.Unlock()
}

// pod is what an event says of a pod. One that is not there any more has its id alone.
func (r *Runner) pod(ctx context.Context, id string) (podInfo, error) {
	if id == "" {
		return podInfo{}, nil
	}
	p, err := r.Pod(ctx, id)
	if err != nil {
		return podInfo{ID: id}, err
	}
	return podInfo{ID: p.ID, Name: p.Name, Dir: p.Spec.Dir}, nil
}
