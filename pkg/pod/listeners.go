package pod

import (
	"log/slog"
	"sync/atomic"

	"podd/internal/live"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
)

// listeners hear of what was committed: hooks, and whoever follows the alerts. Its methods
// may be called from any goroutine.
type listeners struct {
	hooks  atomic.Pointer[hook.Fanout]
	alerts *live.Broadcast
	log    *slog.Logger
}

// announce tells them what was committed.
func (l *listeners) announce(pod string, records []store.Record, alerts []item.Alert) {
	for _, r := range records {
		l.hooks.Load().Entry(pod, func() item.Entry {
			e, err := r.Decode()
			if err != nil {
				l.log.Error("entry could not be copied for a hook", "pod", pod, "seq", r.Seq, "error", err)
			}
			return e
		})
	}
	for _, alert := range alerts {
		l.hooks.Load().Alert(alert)
		l.alerts.Advance(alert.Seq)
	}
}

// changed tells hooks of a change of a pod's life.
func (l *listeners) changed(c hook.PodChange, id, name string) {
	l.hooks.Load().Pod(hook.PodEvent{Change: c, ID: id, Name: name})
}
