package pod

import (
	"cmp"
	"context"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Cancel ends a pod's open turn and returns its number once its terminal entry is stored:
// one that runs, and one that the log leaves open and that can't go on. cancelled is false
// when no turn is open, or when it could not begin. Submits that wait stay. While there is
// no space for that entry the error says so: the turn has ended all the same, and its entry
// is stored when there is. One that ended without it, which goes on later, is
// KindUnavailable, reason NOT_CANCELLED.
func (h *Host) Cancel(ctx context.Context, idOrName, reason string) (turnNumber int64, cancelled bool, err error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return 0, false, err
	}
	defer release()
	return a.mailbox.cancel(ctx, cmp.Or(reason, "cancelled by a client"))
}

func (t *turn) notCancelled() error {
	return item.Errorf(item.KindUnavailable, "NOT_CANCELLED",
		"turn %d stopped, but its end could not be stored, and it may go on: cancel it again", t.number)
}

// cancelling is a turn that was cancelled; the zero value says that none is open.
type cancelling struct {
	turn *turn
	// full is closed when there is no space to store its end: it is stored once there is,
	// unless podd ends before.
	full <-chan struct{}
}

// wait waits until the turn has ended, whether that is stored or not.
func (c cancelling) wait(ctx context.Context) error {
	select {
	case <-c.turn.ended:
		return nil
	case <-c.full:
		return item.Errorf(item.KindExhausted, store.ReasonNoSpace,
			"turn %d is cancelled, but there is no space to store that: it is stored once there is, unless podd ends before", c.turn.number)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cancelTurn cancels the open turn: the one that runs, or else the one that the log leaves
// open.
func (a *actor) cancelTurn(reason string) (cancelling, error) {
	cause := &worker.Cancelled{Reason: reason}
	switch {
	case a.turns.busy():
		a.turns.now.cancel(cause)
		a.backlog.giveUp(a.closing)
	case a.turns.now != nil || !a.journal.state.Turn.Open:
		return cancelling{}, nil
	case a.closing != nil:
		return cancelling{}, a.closing
	default:
		if err := a.endTurn(cause); err != nil {
			return cancelling{}, err
		}
	}
	return cancelling{a.turns.now, a.backlog.full}, nil
}

// endTurn ends the turn that the log leaves open and that does not run. It asks nothing of
// the workspace, which may be what keeps the turn from going on.
func (a *actor) endTurn(cause *worker.Cancelled) error {
	s := a.host.settings()
	if err := a.refold(s); err != nil {
		return err
	}
	w, err := a.site.ender(s)
	if err != nil {
		return err
	}
	number, now := a.journal.state.Turn.Number, a.journal.stands()
	a.start(number, func(ctx context.Context, _ *turn) error {
		return w.Cancel(ctx, &turnLog{a, number}, now, number, cause)
	})
	a.turns.now.begun, a.turns.now.ending = true, true
	a.backlog.release()
	return nil
}
