package pod

import (
	"context"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// load makes the pod its log's one writer and reads the log. A pod with a damaged log
// is quarantined: it can be read up to the damage, and nothing else.
func (a *actor) load() error {
	ctx := a.host.base
	epoch, err := a.host.Store.Claim(ctx, a.id)
	if err != nil {
		return err
	}
	a.epoch = epoch
	// The record is read anew: until the claim another owner may have changed it.
	if a.rec, err = a.host.Store.Pod(ctx, a.id); err != nil {
		return err
	}
	spec := a.rec.Spec
	above := func() ([]item.Pod, error) { return a.host.ancestors(a.host.base, spec) }
	if a.workspace, err = a.host.Workspaces.Open(a.rec, above); err != nil {
		return err
	}
	if a.situation.pause = a.rec.Status.Pause; a.situation.pause != nil {
		a.gate = make(chan struct{})
	}
	a.resume = "podd was stopped in the middle of it"
	switch a.rec.Status.State {
	case item.StateWaiting, item.StatePaused:
		a.waited = true
	}
	err = a.fold(ctx, a.host.settings())
	if item.KindOf(err) == item.KindDataLoss {
		return a.quarantine(ctx, err)
	}
	if err != nil {
		return err
	}
	a.live.Advance(a.rec.Last)
	if err := a.loadInbox(ctx); err != nil {
		return err
	}
	if a.rec.Status.State == item.StateInterrupted && (a.state.Turn.Open || a.state.Wakes()) {
		// A fork in the middle of a turn, or where one is about to begin: it is not this
		// pod's to go on with.
		b := store.Batch{Entries: cutShort(a.state, a.rec.Status.Reason)}
		_, entries, err := a.commit(ctx, b, a.situation)
		for _, e := range entries {
			a.context.Add(e)
		}
		return err
	}
	return nil
}

// fold reads the log into what the pod knows of it.
func (a *actor) fold(ctx context.Context, s *settings) error {
	f, based, err := a.host.folded(ctx, a.id, s)
	if err != nil {
		return err
	}
	a.state, a.context = f.State, f.Context
	a.rec.Last, a.folded, a.based = max(a.rec.Last, f.Last), s, based
	a.showQuestions()
	a.rebase(f)
	return nil
}

func (a *actor) loadInbox(ctx context.Context) error {
	waiting, err := a.host.Store.Inbox(ctx, a.id)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		e, err := wire.DecodeEntry(w.Entry)
		if err != nil {
			return damaged(a.id, w.Seq, err)
		}
		if s, ok := e.Kind.(item.Submitted); ok {
			a.inbox = append(a.inbox, worker.Submit{Seq: w.Seq, Submitted: s})
		}
	}
	return nil
}

// quarantine marks a pod whose log can't be read to the end and raises an alert.
// It returns the error of the damage.
func (a *actor) quarantine(ctx context.Context, damage error) error {
	if a.rec.Status.State == item.StateQuarantined {
		return damage
	}
	status := a.rec.Status
	status.State, status.Reason = item.StateQuarantined, damage.Error()
	if _, err := a.host.Store.Append(ctx, store.Batch{Pod: a.id, Epoch: a.epoch, Status: &status}); err != nil {
		return err
	}
	alert, err := a.host.Store.RaiseAlert(ctx, item.Alert{
		Pod: a.id, Level: item.LevelError, Source: "store", Text: damage.Error(), Time: a.host.Now(), Count: 1,
	})
	if err != nil {
		return err
	}
	a.host.announce(a.id, nil, []item.Alert{alert})
	return damage
}
