package pod

import (
	"context"
	"slices"

	"podd/pkg/item"
	"podd/pkg/store"
)

// unstored is what the running turn has to store while the disk is full. It waits in
// memory, so that nothing that a model or a tool gave has to be paid or done again.
type unstored struct {
	// ctx ends the wait.
	ctx context.Context
	// try stores it, in the pod's goroutine.
	try func() error
	// outcome gets what came of it, once.
	outcome chan error
}

// noSpace says whether what could not be stored can be once there is space.
func noSpace(err error) bool { return item.ReasonOf(err) == store.ReasonNoSpace }

// write runs f, which commits, in the pod's goroutine: whatever happens to ctx, for what
// happened has to be stored also when the turn was cancelled. While there is no space f
// is run again when it may wait, until ctx ends, whose cause is the error then, or the pod
// does.
func (l *turnLog) write(ctx context.Context, mayWait bool, f func(context.Context) error) error {
	detached := context.WithoutCancel(ctx)
	u := &unstored{ctx: ctx, try: func() error { return f(detached) }, outcome: make(chan error, 1)}
	if err := l.a.do(detached, func() { l.a.attempt(u, mayWait) }); err != nil {
		return err
	}
	select {
	case err := <-u.outcome:
		return err
	case <-ctx.Done():
	}
	// A pod that has ended has given it up before.
	_ = l.a.do(detached, l.a.giveUp)
	return <-u.outcome
}

// attempt tries u and keeps what finds no space, when that may wait.
func (a *actor) attempt(u *unstored, mayWait bool) {
	err := u.try()
	switch {
	case !mayWait || !noSpace(err) || a.closing != nil:
		u.outcome <- err
		return
	case u.ctx.Err() != nil:
		u.outcome <- context.Cause(u.ctx)
		return
	}
	if len(a.unstored) == 0 {
		close(a.turn.full)
	}
	a.unstored = append(a.unstored, u)
	a.hold(err)
}

// giveUp ends the wait of what nobody wants to be stored any more; all of it when the
// pod is to end.
func (a *actor) giveUp() {
	if len(a.unstored) == 0 {
		return
	}
	a.unstored = slices.DeleteFunc(a.unstored, func(u *unstored) bool {
		switch {
		case u.ctx.Err() != nil:
			u.outcome <- context.Cause(u.ctx)
		case a.closing != nil:
			u.outcome <- a.closing
		default:
			return false
		}
		return true
	})
	if len(a.unstored) == 0 {
		a.turn.full = make(chan struct{})
	}
}
