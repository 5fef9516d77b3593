package pod

import (
	"context"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/worker"
)

// Context is what a pod's next request would send.
type Context struct {
	// Body is the request, byte for byte.
	Body []byte
	// Model is the requested model.
	Model string
	Parts []fold.Part
	Size  fold.Size
	// Project is the workspace's text, as it is sent; ProjectSource is its file, empty
	// without one.
	Project, ProjectSource string
	// Fixed is the part before the items, in its parts.
	Fixed []FixedPart
}

// Context returns what the pod's next request would send if it were sent now without new
// input. It is made from the log alone, as a pod that was just started would make it; it
// does not disturb a running turn, and does not include what that has not stored yet.
// Between turns it reads the workspace's text again, as the next turn would.
func (h *Host) Context(ctx context.Context, idOrName string) (Context, error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return Context{}, err
	}
	defer release()
	g, err := visit(ctx, a, func(context.Context) (Ground, error) { return a.site.workspace.Look() })
	if err != nil {
		return Context{}, err
	}
	var w *worker.Worker
	var open bool
	s := h.settings()
	doErr := a.mailbox.do(ctx, func() { w, open, err = a.nextWorker(s, g) })
	if doErr != nil {
		return Context{}, doErr
	}
	if err != nil {
		return Context{}, err
	}
	offered, err := g.Offered(ctx, false)
	if err != nil {
		return Context{}, err
	}
	if offered != nil {
		w.Offer(offered)
	}
	f, _, err := h.Logs.folded(ctx, a.id, s)
	if err != nil {
		return Context{}, err
	}
	if old, ok := f.Context.Setup(); ok && open {
		w.Project = func() (string, []string) { return old.ProjectInstructions, nil }
		w.Base, w.Environment = old.Base, old.Environment
	}
	return h.context(ctx, w, f.Context)
}

// nextWorker is the worker of the next turn, or of the open one.
func (a *actor) nextWorker(s *settings, g Ground) (w *worker.Worker, open bool, err error) {
	open = a.journal.state.Turn.Open
	if !open && a.turns.now == nil {
		if _, err := g.Follow(); err != nil {
			return nil, false, err
		}
	}
	w, err = a.site.worker(s, g)
	return w, open, err
}

// context is the next request for a state.
func (h *Host) context(ctx context.Context, w *worker.Worker, state *fold.Context) (Context, error) {
	old, ok := state.Setup()
	w.Fit(true, state.Request().Items)
	setup, err := w.Setup(ctx, old)
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "NO_SETUP", "cannot build the next request: %v", err)
		e.Cause = err
		return Context{}, e
	}
	if !ok || !old.Equal(setup) {
		state.Add(item.Entry{Kind: setup})
	}
	if prune, ok := state.Decide(h.Now()).Entry(); ok {
		state.Add(item.Entry{Kind: prune})
	}
	body, err := w.Body(state.Request())
	if err != nil {
		return Context{}, err
	}
	parts, size := state.Explain(h.Now())
	fixed, source := h.Workspaces.Explain(setup, size.BytesPerToken)
	return Context{
		Body: body, Model: setup.Model, Parts: parts, Size: size,
		Project: setup.ProjectInstructions, ProjectSource: source, Fixed: fixed,
	}, nil
}
