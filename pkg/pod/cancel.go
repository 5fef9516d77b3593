package pod

import (
	"cmp"
	"context"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Cancel ends a pod's open turn and returns its number once its terminal entry is stored.
// The turn may be running, or open in the log and unable to continue. cancelled is false
// if no turn is open, or if the turn could not begin. Waiting submits stay. If there is
// no space for the terminal entry, the error says so: the turn has ended anyway, and its
// entry is stored once there is space. A turn that ended without the entry, and continues
// later, is KindUnavailable, reason NOT_CANCELLED.
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
		"turn %d stopped, but podd could not store its end, so it may resume: cancel it again", t.number)
}

// cancelling is a cancelled turn; the zero value says that none is open.
type cancelling struct {
	turn *turn
	// full is closed if its end cannot be stored now: it is stored later, unless podd ends first.
	full *full
}

// wait waits until the turn has ended, whether that is stored or not.
func (c cancelling) wait(ctx context.Context) error {
	select {
	case <-c.turn.ended:
		return nil
	case <-c.full.closed:
		if c.full.reason == store.ReasonAway {
			return item.Errorf(item.KindUnavailable, store.ReasonAway,
				"turn %d is cancelled, but the database does not answer: podd stores the end when it does, unless podd stops first", c.turn.number)
		}
		return item.Errorf(item.KindExhausted, store.ReasonNoSpace,
			"turn %d is cancelled, but the disk is full: podd stores the end when there is space, unless podd stops first", c.turn.number)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cancelTurn cancels the open turn: the running one, otherwise the one that is open in
// the log. byPodd says that no person asked for it.
func (a *actor) cancelTurn(reason string, byPodd bool) (cancelling, error) {
	cause := &worker.Cancelled{Reason: reason, ByPodd: byPodd}
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

// endTurn ends a turn that is open in the log and does not run. It does not use the
// workspace, which may be what keeps the turn from continuing.
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
