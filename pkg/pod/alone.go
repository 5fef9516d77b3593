package pod

import (
	"context"
	"errors"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/worker"
)

// Idle is a pod that runs nothing while work has it. Its methods may be called until that work returns.
type Idle struct {
	*Hosted
	under *turn
}

// work is done on an idle pod. Its context ends when a person cancels it, when the pod is deleted, and when podd stops
// for good.
type work = func(ctx context.Context, p *Idle) error

// Alone does work on a pod that runs nothing meanwhile: no turn, and no background command. Submits that come wait.
// A busy pod refuses; then is what a person does later: "land it". When ctx ends, or a directory of the pod does not
// answer, the work goes on, and Alone returns: a client that is gone does not cancel. What the work sets may be read only
// after Alone has returned the work's own result.
func (h *Host) Alone(ctx context.Context, idOrName, then string, do work) error {
	return h.alone(ctx, idOrName, func(a *actor) error { return a.free(then) }, do)
}

// alone is Alone for a pod that allowed lets; that runs in the pod's goroutine.
func (h *Host) alone(ctx context.Context, idOrName string, allowed func(*actor) error, do work) error {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return err
	}
	defer release()
	if err := a.mailbox.waitForLast(ctx); err != nil {
		return err
	}
	var failed error = errInternal // If the work panics.
	var ended <-chan struct{}
	var dirs []string
	doErr := a.mailbox.do(ctx, func() {
		if err = a.closing; err == nil {
			err = allowed(a)
		}
		if err == nil {
			dirs = Touched(a.journal.rec.Spec)
			ended = a.startAlone(func(ctx context.Context, p *Idle) error {
				failed = do(ctx, p)
				return nil
			})
		}
	})
	if doErr != nil || err != nil {
		return errors.Join(doErr, err)
	}
	if err := h.attend(ctx, dirs, ended, unanswered); err != nil {
		return err
	}
	return failed
}

// Touched are the directories in which a pod's files are, with the one that its checkout is of.
func Touched(s item.PodSpec) []string {
	dirs := s.Writable()
	if s.Checkout.Source != "" {
		dirs = append(dirs, s.Checkout.Source)
	}
	return dirs
}

// startAlone begins work like a turn, in the pod's goroutine. Once ended is closed the pod is idle, or a waiting turn
// has begun.
func (a *actor) startAlone(do work) (ended <-chan struct{}) {
	hosted := a.hosted()
	a.start(0, func(ctx context.Context, under *turn) error { return do(ctx, &Idle{hosted, under}) })
	return a.turns.now.ended
}

// free refuses work on a pod while something of it runs. then is what to do later. It is called in the pod's
// goroutine.
func (a *actor) free(then string) error {
	if err := a.runs(then); err != nil {
		return err
	}
	if len(a.journal.state.Jobs.Running()) > 0 {
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s has a running background command: wait for its end or stop it with podctl jobs, then %s", a.journal.rec.Name, then)
	}
	return nil
}

// runs refuses work on a pod that runs a turn, or other work alone. then is what to do later. It is called in the pod's
// goroutine.
func (a *actor) runs(then string) error {
	name := a.journal.rec.Name
	switch now := a.turns.now; {
	case now != nil && now.number == 0:
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is compacting, or podd is at work on its files: wait for the end of that, then %s", name, then)
	case now != nil || a.journal.state.Turn.Open:
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is running a turn: wait for its end or cancel it, then %s", name, then)
	}
	return nil
}

// Append stores entries in one commit, and returns the state after them.
func (p *Idle) Append(ctx context.Context, kinds ...item.Kind) (fold.State, error) {
	now, err := (&turnLog{p.a, 0}).Append(ctx, worker.Batch{Kinds: kinds})
	return now.State, err
}

// Look reads what a turn of the pod would be based on. It may hang. The directory stays open until done is called.
func (p *Idle) Look() (g Ground, done func(), err error) {
	if g, err = p.a.site.workspace.Look(); err != nil {
		return nil, nil, err
	}
	return g, g.Use(), nil
}

// Cancellable is a context that also ends when that of the work does, and as soon as podd begins to stop.
func (p *Idle) Cancellable(ctx context.Context) (context.Context, context.CancelFunc) {
	running, cancel := context.WithCancelCause(p.under.waiting)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return running, func() { stop(); cancel(nil) }
}
