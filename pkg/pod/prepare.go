package pod

import (
	"context"
	"errors"
	"time"

	"podd/pkg/worker"
)

// prepare makes the worker of a turn, in the turn's goroutine. A turn cancelled before
// its workspace has answered gets a worker that can only end it.
func (a *actor) prepare(ctx context.Context, t *turn, s *settings) (*worker.Worker, error) {
	g, err := a.awaitGround(t)
	if _, cancelled := errors.AsType[*worker.Cancelled](context.Cause(ctx)); cancelled {
		g, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var w *worker.Worker
	doErr := a.mailbox.do(context.WithoutCancel(ctx), func() { w, err = a.ready(t, s, g) })
	if doErr != nil {
		return nil, doErr
	}
	if err != nil || g == nil {
		return w, err
	}
	// A program may take long to start.
	offered, err := g.Offered(ctx, true)
	if err != nil {
		return nil, err
	}
	if offered != nil {
		w.Offer(offered)
	}
	return w, nil
}

// awaitGround reads what a turn is based on, and makes the pod say so while the workspace
// does not answer.
func (a *actor) awaitGround(t *turn) (Ground, error) {
	var dir string
	if err := a.mailbox.do(t.waiting, func() { dir = a.journal.rec.Spec.Dir }); err != nil {
		return nil, err
	}
	answered := reach(t.waiting, a, a.site.lanes.turn, a.site.workspace.Look)
	late := time.NewTimer(silentAfter)
	defer late.Stop()
	for {
		select {
		case got := <-answered:
			return got.value, got.err
		case <-late.C:
			_ = a.mailbox.do(t.waiting, func() { a.backlog.hold(silent(dir)) })
		case <-t.waiting.Done():
			return nil, context.Cause(t.waiting)
		}
	}
}

// ready lets a turn begin on its ground, which is nil for one that only ends. The pod may
// have been paused or rewound since the turn started to wait for its workspace.
func (a *actor) ready(t *turn, s *settings, g Ground) (*worker.Worker, error) {
	if t.number > 0 {
		due, ok := a.due()
		if !ok || due.Number != t.number {
			return nil, errNotDue
		}
		t.work = due
		for _, s := range due.Submits {
			a.inbox.taken[s.Seq] = true
		}
	}
	if g != nil {
		says, err := g.Follow()
		if err != nil {
			return nil, err
		}
		a.site.alertProject(says)
	}
	if err := a.refold(s); err != nil {
		return nil, err
	}
	t.ending = g == nil && a.journal.state.Turn.Open
	w, err := a.site.worker(s, g)
	if t.ending {
		w, err = a.site.ender(s)
	}
	if err != nil {
		return nil, err
	}
	w.Blocked = func(cause error) {
		_ = a.mailbox.do(context.WithoutCancel(a.host.base), func() { a.backlog.hold(cause) })
	}
	t.begun, t.now, a.turns.waited = true, a.journal.stands(), false
	if g != nil {
		t.leaves = g.Use()
	}
	return w, nil
}
