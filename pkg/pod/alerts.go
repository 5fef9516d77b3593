package pod

import (
	"context"
	"iter"

	"podd/pkg/item"
	"podd/pkg/store"
)

// AlertQuery chooses alerts.
type AlertQuery struct {
	// Pod is a name or an id; empty means all pods and the daemon itself.
	Pod string
	// After is exclusive.
	After item.Seq
	// Unacked leaves out acknowledged ones.
	Unacked bool
	// Limit is the most that List gives; 0 means 1,000.
	Limit int
}

// Alerts gives stored alerts, oldest first.
func (h *Host) Alerts(ctx context.Context, q AlertQuery) ([]item.Alert, error) {
	sq, err := h.alertQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	return h.Store.Alerts(ctx, sq)
}

// StreamAlerts gives stored alerts above a sequence and goes on with what comes,
// until ctx ends.
func (h *Host) StreamAlerts(ctx context.Context, q AlertQuery) iter.Seq2[item.Alert, error] {
	return func(yield func(item.Alert, error) bool) {
		sq, err := h.alertQuery(ctx, q)
		if err != nil {
			yield(item.Alert{}, err)
			return
		}
		r := h.alerts.Subscribe(false)
		defer r.Close()
		for {
			head := r.Head()
			more, err := h.alertPages(ctx, &sq, yield)
			if err == nil && more {
				// Those up to head that were passed over are not asked for again.
				sq.After = max(sq.After, head)
				_, err = r.Next(ctx, sq.After)
			}
			if err != nil {
				yield(item.Alert{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// alertPages yields the alerts of a query to the end and moves its cursor along.
// more is false when the consumer wants no more.
func (h *Host) alertPages(ctx context.Context, q *store.AlertQuery, yield func(item.Alert, error) bool) (more bool, err error) {
	for {
		alerts, err := h.Store.Alerts(ctx, *q)
		if err != nil || len(alerts) == 0 {
			return true, err
		}
		for _, a := range alerts {
			if !yield(a, nil) {
				return false, nil
			}
			q.After = a.Seq
		}
	}
}

// AckAlerts marks alerts as seen.
func (h *Host) AckAlerts(ctx context.Context, seqs []item.Seq) error {
	return h.Store.AckAlerts(ctx, seqs)
}

func (h *Host) alertQuery(ctx context.Context, q AlertQuery) (store.AlertQuery, error) {
	sq := store.AlertQuery{After: q.After, Unacked: q.Unacked, Limit: q.Limit}
	if q.Pod != "" {
		rec, err := h.Store.Pod(ctx, q.Pod)
		if err != nil {
			return sq, err
		}
		sq.Pod = rec.ID
	}
	return sq, nil
}
