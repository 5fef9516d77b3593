package pod

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// AlertQuery selects alerts.
type AlertQuery struct {
	// Pod is a name or an id; empty means all pods and the daemon itself.
	Pod string
	// Only says of the id of a pod, empty for the daemon itself, whether its alerts are
	// wanted; nil wants all.
	Only func(id string) bool
	// After is exclusive.
	After item.Seq
	// Unacked leaves out acknowledged ones.
	Unacked bool
	// Limit is the maximum that List returns; 0 means 1,000.
	Limit int
}

// usualAlerts is how many alerts List returns at most if its query does not say.
const usualAlerts = 1000

// Alerts are the alerts of pods and of podd. Its methods may be called from any
// goroutine.
type Alerts struct {
	store     store.Store
	listeners *listeners
	log       *slog.Logger
	now       func() time.Time
	base      context.Context
	// asking are the calls of a pod that wait for a person.
	asking func(ctx context.Context, id string) ([]Approval, error)
}

// Raise raises an alert that belongs to no pod. It logs one that can't be stored.
func (s *Alerts) Raise(level item.Level, source, text string) {
	alert, err := s.store.RaiseAlert(s.base, item.Alert{Level: level, Source: source, Text: text, Time: s.now(), Count: 1})
	if err != nil {
		s.log.Error("cannot store an alert", "text", text, "error", err)
		return
	}
	s.listeners.announce("", nil, []item.Alert{alert})
}

// HookFailed raises an alert about a hook: one that panicked or was too slow, or one that
// reports its own failure.
func (s *Alerts) HookFailed(text string) { s.Raise(item.LevelWarn, "hook", text) }

// List returns stored alerts, oldest first.
func (s *Alerts) List(ctx context.Context, q AlertQuery) ([]item.Alert, error) {
	sq, err := s.query(ctx, q)
	if err != nil {
		return nil, err
	}
	most := cmp.Or(q.Limit, usualAlerts)
	if q.Only != nil || q.Unacked {
		sq.Limit = 0 // Most of them may be left out.
	}
	var list []item.Alert
	_, err = s.pages(ctx, &sq, func(a item.Alert, _ error) bool {
		if q.Only == nil || q.Only(a.Pod) {
			list = append(list, a)
		}
		return len(list) < most
	})
	return list, err
}

// Stream returns stored alerts above a sequence and continues with new ones, until ctx
// ends.
func (s *Alerts) Stream(ctx context.Context, q AlertQuery) iter.Seq2[item.Alert, error] {
	return func(yield func(item.Alert, error) bool) {
		sq, err := s.query(ctx, q)
		if err != nil {
			yield(item.Alert{}, err)
			return
		}
		r := s.listeners.alerts.Subscribe(false)
		defer r.Close()
		for {
			head := r.Head()
			more, err := s.pages(ctx, &sq, func(a item.Alert, err error) bool {
				return q.Only != nil && !q.Only(a.Pod) || yield(a, err)
			})
			if err == nil && more {
				// Do not read again those up to head that were skipped.
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

// pages yields the alerts of a query to the end and advances its cursor. more is false
// when the consumer stops.
func (s *Alerts) pages(ctx context.Context, q *store.AlertQuery, yield func(item.Alert, error) bool) (more bool, err error) {
	for {
		alerts, err := s.store.Alerts(ctx, *q)
		if err != nil || len(alerts) == 0 {
			return true, err
		}
		settled := s.settled(ctx)
		for _, a := range alerts {
			if a = settled(a); (!q.Unacked || !a.Acked) && !yield(a, nil) {
				return false, nil
			}
			q.After = a.Seq
		}
	}
}

// settled returns a function that acknowledges the alert of a question that is over. It is
// for alerts that were read before the call of settled.
func (s *Alerts) settled(ctx context.Context) func(item.Alert) item.Alert {
	asking := make(map[string][]Approval)
	return func(a item.Alert) item.Alert {
		if a.Acked || a.Reason != item.ReasonApprovalWaits {
			return a
		}
		waiting, known := asking[a.Pod]
		if !known {
			p, err := s.store.Pod(ctx, a.Pod)
			if err == nil && p.Status.Approvals > 0 {
				waiting, err = s.asking(ctx, a.Pod)
			}
			if err != nil {
				return a
			}
			asking[a.Pod] = waiting
		}
		// A question asked soon after an alert with its text has replaced that alert.
		a.Acked = !slices.ContainsFunc(waiting, func(q Approval) bool {
			return q.AlertText() == a.Text && q.Time.Sub(a.Time) <= store.FoldWithin
		})
		return a
	}
}

// Ack marks alerts as seen.
func (s *Alerts) Ack(ctx context.Context, seqs []item.Seq) error {
	return s.store.AckAlerts(ctx, seqs)
}

// PurgeAlerts removes acknowledged alerts that are older than before, and returns how
// many it removed.
func (s *Alerts) PurgeAlerts(ctx context.Context, before time.Time) (removed int, err error) {
	for q := (store.AlertQuery{Unacked: true}); ; {
		page, err := s.store.Alerts(ctx, q)
		if err != nil {
			return 0, err
		}
		if len(page) == 0 {
			return s.store.PurgeAlerts(ctx, before)
		}
		settled := s.settled(ctx)
		var old []item.Seq
		for _, a := range page {
			if q.After = a.Seq; a.Time.Before(before) && settled(a).Acked {
				old = append(old, a.Seq)
			}
		}
		if err := s.Ack(ctx, old); err != nil {
			return 0, err
		}
	}
}

func (s *Alerts) query(ctx context.Context, q AlertQuery) (store.AlertQuery, error) {
	sq := store.AlertQuery{After: q.After, Unacked: q.Unacked, Limit: q.Limit}
	if q.Pod != "" {
		rec, err := s.store.Pod(ctx, q.Pod)
		if err != nil {
			return sq, err
		}
		sq.Pod = rec.ID
	}
	return sq, nil
}
