package pod

import (
	"context"
	"log/slog"
	"sync/atomic"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/live"
	"podd/pkg/store"
)

// listeners get what was committed: hooks, wings, followers of the alerts, and watchers of all pods. Its methods may
// be called from any goroutine.
type listeners struct {
	hooks  atomic.Pointer[hook.Fanout]
	wings  []func(c hook.PodChange, id string)
	alerts *live.Broadcast
	// fleet wakes who watches all pods; changes counts what they may have to look at.
	fleet   *live.Broadcast
	changes atomic.Int64
	log     *slog.Logger
}

func newListeners(log *slog.Logger) *listeners {
	return &listeners{alerts: live.New(0), fleet: live.New(0), log: log}
}

// announce passes on what was committed.
func (l *listeners) announce(pod string, records []store.Record, alerts []item.Alert) {
	for _, r := range records {
		l.hooks.Load().Entry(pod, func() item.Entry {
			e, err := r.Decode()
			if err != nil {
				l.log.Error("cannot copy an entry for a hook", "pod", pod, "seq", r.Seq, "error", err)
			}
			return e
		})
	}
	for _, alert := range alerts {
		l.hooks.Load().Alert(alert)
		l.alerts.Advance(alert.Seq)
	}
	l.fleetChanged()
}

// changed reports a change of a pod's life to hooks and wings.
func (l *listeners) changed(c hook.PodChange, id, name string) {
	l.hooks.Load().Pod(hook.PodEvent{Change: c, ID: id, Name: name})
	for _, wing := range l.wings {
		wing(c, id)
	}
	l.fleetChanged()
}

// fleetChanged wakes the watchers of all pods.
func (l *listeners) fleetChanged() { l.fleet.Advance(item.Seq(l.changes.Add(1))) }

// Announce reports a change of a pod's life that a wing made.
func (h *Host) Announce(c hook.PodChange, id, name string) { h.listeners.changed(c, id, name) }

// Changes counts the changes of pods since the Host began.
func (h *Host) Changes() int64 { return h.listeners.changes.Load() }

// Changed waits until there were more changes of pods than that.
func (h *Host) Changed(ctx context.Context, than int64) error { return h.listeners.more(ctx, than) }

func (l *listeners) more(ctx context.Context, than int64) error {
	r := l.fleet.Subscribe(false)
	defer r.Close()
	_, err := r.Next(ctx, item.Seq(than))
	return err
}
