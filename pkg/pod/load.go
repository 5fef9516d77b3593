package pod

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/store"
)

// load makes the pod its log's one writer and reads the log. A pod with a damaged log
// is quarantined: it can be read up to the damage, and nothing else.
func (a *actor) load() error {
	ctx := a.host.base
	epoch, err := a.host.Store.Claim(ctx, a.id)
	if err != nil {
		return err
	}
	a.journal.epoch = epoch
	// The record is read anew: until the claim another owner may have changed it.
	if a.journal.rec, err = a.host.Store.Pod(ctx, a.id); err != nil {
		return err
	}
	spec := a.journal.rec.Spec
	above := func() ([]item.Pod, error) { return a.host.Family.ancestors(a.host.base, spec) }
	if a.site.workspace, err = a.host.Workspaces.Open(a.journal.rec, above); err != nil {
		return err
	}
	if a.journal.situation.pause = a.journal.rec.Status.Pause; a.journal.situation.pause != nil {
		a.gate.open = make(chan struct{})
	}
	a.turns.resume = "podd was stopped in the middle of it"
	switch a.journal.rec.Status.State {
	case item.StateWaiting, item.StatePaused:
		a.turns.waited = true
	}
	err = a.fold(ctx, a.host.settings())
	if item.KindOf(err) == item.KindDataLoss {
		return a.journal.quarantine(ctx, err)
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
	if a.journal.rec.Status.State == item.StateInterrupted && (a.journal.state.Turn.Open || a.journal.state.Wakes()) {
		// A fork in the middle of a turn, or where one is about to begin: it is not this
		// pod's to go on with.
		b := store.Batch{Entries: cutShort(a.journal.state, a.journal.rec.Status.Reason)}
		_, _, err := a.journal.commit(ctx, b, a.journal.situation)
		return err
	}
	return nil
}

// fold reads the log into what the pod knows of it.
func (a *actor) fold(ctx context.Context, s *settings) error {
	f, based, err := a.host.Logs.folded(ctx, a.id, s)
	if err != nil {
		return err
	}
	a.journal.state, a.journal.carried = f.State, f.Context
	a.journal.rec.Last, a.folded, a.based = max(a.journal.rec.Last, f.Last), s, based
	a.journal.showQuestions()
	a.rebase(f)
	return nil
}
