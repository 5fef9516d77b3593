package pod

import (
	"context"
	"fmt"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// load makes the pod its log's one writer, reads the log, and repairs it when a
// turn was left open. A pod with a damaged log is quarantined: it can be read up to
// the damage, and nothing else.
func (a *actor) load() error {
	ctx := a.host.base
	epoch, err := a.host.Store.Claim(ctx, a.id)
	if err != nil {
		return err
	}
	a.epoch = epoch
	if a.state, err = a.host.newState(); err != nil {
		return err
	}
	err = a.host.readAll(ctx, a.id, 0, func(e item.Entry) {
		a.journal.add(e)
		a.state.Add(e)
		a.rec.Last = e.Seq
	})
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
	if a.journal.open {
		return a.repair(ctx, "podd stopped in the middle of the turn; submit again to go on")
	}
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

// repair closes a turn that nobody runs, and says why: each call without a result
// gets one, the turn its terminal entry, and a person an alert.
func (a *actor) repair(ctx context.Context, cause string) error {
	recovered := item.Recovered{Reason: cause}
	var kinds []item.Kind
	for _, call := range a.state.OpenCalls() {
		recovered.CallIDs = append(recovered.CallIDs, call.CallID)
		kinds = append(kinds, item.ItemAdded{Item: worker.Interrupted(call)})
	}
	kinds = append([]item.Kind{recovered}, kinds...)
	kinds = append(kinds,
		item.AlertRaised{Alert: item.Alert{
			Pod: a.id, Level: item.LevelWarn, Source: "recovery",
			Text: fmt.Sprintf("turn %d was interrupted: %s", a.journal.turn, cause),
			Time: a.host.Now(),
		}},
		item.TurnEnded{
			Outcome: item.OutcomeInterrupted, Reason: "RESTART", Cause: cause,
			Usage: a.journal.usage, Steps: int(a.journal.usage.Requests), ToolCalls: a.journal.calls,
		},
	)
	var b store.Batch
	for _, k := range kinds {
		b.Entries = append(b.Entries, item.Entry{Turn: a.journal.turn, Kind: k})
	}
	_, entries, err := a.commit(ctx, b, "")
	for _, e := range entries {
		a.state.Add(e)
	}
	return err
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
