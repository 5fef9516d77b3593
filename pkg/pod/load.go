package pod

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// load makes the pod its log's one writer and reads the log. A pod with a damaged log is
// quarantined: it can only be read up to the damage.
func (a *actor) load() error {
	ctx := a.host.base
	epoch, err := a.host.Store.Claim(ctx, a.id)
	if err != nil {
		return err
	}
	a.journal.epoch = epoch
	// Read the record again: before the claim another owner may have changed it.
	if a.journal.rec, err = a.host.Store.Pod(ctx, a.id); err != nil {
		return err
	}
	spec := a.journal.rec.Spec
	above := func() ([]item.Pod, error) { return a.host.Family.Ancestors(a.host.base, spec) }
	if a.site.workspace, err = a.host.Workspaces.Open(a.journal.rec, above); err != nil {
		return err
	}
	a.journal.situation.lifted = a.journal.rec.Status.Lifted
	switch p := a.journal.rec.Status.Pause; {
	case p.ByItself():
		// Whether it is still to wait is asked again, and perhaps of another configuration.
		a.journal.rec.Status.WaitUntil = time.Time{}
	case p != nil:
		a.journal.situation.pause, a.gate.open = p, make(chan struct{})
	}
	a.turns.resume = "podd stopped during the turn"
	switch a.journal.rec.Status.State {
	case item.StateWaiting, item.StatePaused:
		a.turns.waited = true
	}
	err = a.fold(ctx, a.host.settings())
	if item.KindOf(err) == item.KindDataLoss {
		return a.quarantine(err)
	}
	if err != nil {
		return err
	}
	a.journal.live.Advance(a.journal.rec.Last)
	waiting, err := a.host.Store.Inbox(ctx, a.id)
	if err != nil {
		return err
	}
	if err := a.inbox.load(a.id, waiting); err != nil {
		return err
	}
	_, wakes := a.journal.state.Wakes()
	if a.journal.rec.Status.State == item.StateInterrupted && (a.journal.state.Turn.Open || wakes) {
		// The log was forked in the middle of a turn, or where one is about to begin: this pod
		// does not continue it.
		b := store.Batch{Entries: cutShort(a.journal.state, a.journal.rec.Status.Reason)}
		now := a.journal.now
		// The cut is no activity of the pod's own.
		a.journal.now = func() time.Time { return time.Time{} }
		_, _, err := a.journal.commit(ctx, b)
		a.journal.now = now
		return err
	}
	return a.lookBack(ctx)
}

// fold reads the log into the pod's state.
func (a *actor) fold(ctx context.Context, s *settings) error {
	f, based, err := a.host.Logs.folded(ctx, a.id, s)
	if err != nil {
		return err
	}
	a.journal.state, a.journal.carried = f.State, f.Context
	a.journal.rec.Last, a.folded, a.based = max(a.journal.rec.Last, f.Last), s, based
	a.journal.publish()
	a.rebase(f)
	return nil
}

// quarantine ends the commands of a pod whose log can't be read to the end, because no model
// reads or stops them, and marks the pod. It returns the error of the damage.
func (a *actor) quarantine(damage error) error {
	a.host.Workspaces.Abandon(a.id, false)
	return a.journal.quarantine(a.host.base, damage)
}
