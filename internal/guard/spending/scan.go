package spending

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// scan reads the requests of all logs since the ledger's day into it.
func (s *Spending) scan(ctx context.Context, l *ledger) error {
	pods, err := s.store.Pods(ctx)
	if err != nil {
		return err
	}
	for _, p := range pods {
		s.mu.Lock()
		after := l.of(p.ID).after
		s.mu.Unlock()
		all, err := s.requests(ctx, p, after, l.since)
		if err != nil {
			return err
		}
		s.mu.Lock()
		l.read(p.ID, all, s.location())
		s.mu.Unlock()
	}
	return nil
}

// requests reads the requests of a pod's own entries above a sequence and since a day. It
// ends at damage: behind it nothing can be read, and the pod can spend nothing.
func (s *Spending) requests(ctx context.Context, p item.Pod, after item.Seq, since string) ([]request, error) {
	from, err := time.ParseInLocation(time.DateOnly, since, s.location())
	if err != nil || p.Status.LastActivity.Before(from) {
		return nil, err
	}
	if p.CreatedAt.After(from) {
		// Earlier entries are those of the pod that it was forked from.
		from = p.CreatedAt
	}
	next, err := store.FirstSince(ctx, s.store, p, max(after+1, p.First), from)
	var all []request
	for err == nil {
		var page []store.Record
		page, err = s.store.Read(ctx, p.ID, next-1, 0)
		for _, r := range page {
			next = r.Seq + 1
			if wire.KindOf(r.Entry) != wire.KindUsage {
				continue
			}
			e, err := r.Decode()
			if u, ok := e.Kind.(item.RequestUsage); ok && err == nil && !e.Time.Before(from) {
				all = append(all, request{e.Seq, e.Time, u})
			}
		}
		if len(page) == 0 {
			break
		}
	}
	if unreadable(err) {
		s.Logger.Warn("a pod's log cannot be read to its end: what it spent after that does not count", "pod", p.ID, "error", err)
		err = nil
	}
	return all, err
}

// unreadable says that a log is damaged, gone or shorter than a record of it said.
func unreadable(err error) bool {
	switch item.KindOf(err) {
	case item.KindDataLoss, item.KindNotFound, item.KindOutOfRange:
		return true
	}
	return false
}
