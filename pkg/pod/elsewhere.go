package pod

import (
	"cmp"
	"context"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Noticed wakes those who follow logs, watch pods or read alerts: other nodes may have changed something. alert is the last
// alert, 0 if that is not known.
func (h *Host) Noticed(alert item.Seq) {
	h.listeners.alerts.Advance(alert)
	h.listeners.fleetChanged()
}

// elsewhere says whether another node has the pod that an error is about.
func elsewhere(err error) bool {
	reason := item.ReasonOf(err)
	return reason == store.ReasonNotOwner || reason == store.ReasonNodeAway
}

// elsewhere follows the log of another node's pod: after each notice, which comes at least each second, it reads on.
func (s *stream) elsewhere(ctx context.Context, idOrName string) error {
	for caughtUp := false; !s.gone; caughtUp = true {
		changes := s.logs.listeners.changes.Load()
		rec, err := s.logs.store.Pod(ctx, cmp.Or(s.pod, idOrName))
		if err != nil {
			return err
		}
		if s.pod = rec.ID; caughtUp {
			err = s.readTo(ctx, rec.Last)
		} else {
			err = s.catchUp(ctx, rec.Last)
		}
		if err == nil {
			err = s.logs.listeners.more(ctx, changes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
