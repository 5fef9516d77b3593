// Package report says what pods work on, what they used, and what their models are asked with.
package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// MaxSeriesDays is how many days a series of usage has at most.
const MaxSeriesDays = 366

// SeriesQuery selects a series of usage.
type SeriesQuery struct {
	// Pod is a name or an id: its requests and those of its sub-pods. Empty means all pods,
	// each request once.
	Pod string
	// Only says whether a pod is wanted; nil wants all.
	Only func(item.Pod) bool
	// Days is how many days there are, the last of them today: 1 to MaxSeriesDays.
	Days int
	// ByPod asks for the sum of each pod, not of each day.
	ByPod bool
}

// Series is what pods used in some days, from their logs.
type Series struct {
	// Sums are in the order of their days, or of their pods' names.
	Sums []UsageSum
	// First and Last are days such as "2026-01-31".
	First, Last string
	// Damaged are the names of the pods of which entries before damage do not count, Purged
	// those of which entries of these days were purged.
	Damaged, Purged []string
}

// UsageSum is what the requests of a day, or of a pod, used.
type UsageSum struct {
	// Day is empty in the sum of a pod; Pod and Name in that of a day.
	Day, Pod, Name string
	fold.Spent
	// Largest is the input of the largest request in tokens, without those of sub-pods.
	Largest int64
}

// Usage sums up what pods used in the last days, of which today is one. Requests before a fork are those of the pod that
// was forked.
func Usage(ctx context.Context, h *pod.Host, q SeriesQuery) (Series, error) {
	if q.Days < 1 || q.Days > MaxSeriesDays {
		return Series{}, item.Errorf(item.KindInvalid, "BAD_DAYS", "the number of days must be 1 to %d, not %d", MaxSeriesDays, q.Days)
	}
	pods, err := h.SelectPods(ctx, q.Pod)
	if err != nil {
		return Series{}, err
	}
	if q.Only != nil {
		pods = slices.DeleteFunc(pods, func(p item.Pod) bool { return !q.Only(p) })
	}
	now := h.Now()
	year, month, day := now.Date()
	from := time.Date(year, month, day-q.Days+1, 0, 0, 0, 0, now.Location())
	s := &series{
		store: h.Store, query: q, from: from, models: h.Settings().Models, sums: make(map[string]*UsageSum),
		Series: Series{First: from.Format(time.DateOnly), Last: now.Format(time.DateOnly)},
	}
	for _, p := range pods {
		err := s.add(ctx, p)
		switch item.KindOf(err) {
		case item.KindDataLoss:
			s.Damaged = append(s.Damaged, p.Name)
			err = nil
		case item.KindNotFound, item.KindOutOfRange:
			err = nil // It was deleted or purged meanwhile.
		}
		if err != nil {
			return Series{}, err
		}
	}
	for _, sum := range s.sums {
		s.Sums = append(s.Sums, *sum)
	}
	slices.SortFunc(s.Sums, func(a, b UsageSum) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Name, b.Name)) })
	return s.Series, nil
}

// series is a Series that is being made.
type series struct {
	Series
	store  store.Store
	query  SeriesQuery
	from   time.Time
	models fold.Models
	// sums are by their days or by the ids of their pods.
	sums map[string]*UsageSum
}

// add counts the requests in a pod's own part of its log.
func (s *series) add(ctx context.Context, p item.Pod) error {
	if p.Status.LastActivity.Before(s.from) {
		return nil
	}
	parts, err := s.store.Parts(ctx, p.ID)
	if err != nil {
		return err
	}
	if err := s.purged(ctx, p); err != nil {
		return err
	}
	for _, part := range parts {
		if part.Owner != p.ID {
			continue
		}
		if part.From, err = store.FirstSince(ctx, s.store, p, part.From, s.from); err != nil {
			return err
		}
		for part.To >= part.From {
			found, next, err := s.store.Scan(ctx, part, func(entry []byte) bool { return wire.KindOf(entry) == wire.KindUsage })
			for _, r := range found {
				s.count(p, r)
			}
			if err != nil {
				return err
			}
			part.From = next
		}
	}
	return nil
}

// purged notes a pod of which entries of the days are gone.
func (s *series) purged(ctx context.Context, p item.Pod) error {
	if p.First <= 1 {
		return nil
	}
	page, err := s.store.Read(ctx, p.ID, p.First-1, 1)
	if err != nil || len(page) == 0 {
		return err
	}
	e, err := page[0].Decode()
	if _, purged := e.Kind.(item.Purged); err == nil && purged && !e.Time.Before(s.from) {
		s.Purged = append(s.Purged, p.Name)
	}
	return nil
}

// count adds a request to its sum.
func (s *series) count(p item.Pod, r store.Record) {
	e, err := r.Decode()
	u, ok := e.Kind.(item.RequestUsage)
	sub := u.Purpose == item.PurposeSubPod
	if err != nil || !ok || e.Time.Before(s.from) || sub && s.query.Pod == "" {
		return // It is older, of a newer podd, or in the log of the sub-pod.
	}
	key := e.Time.In(s.from.Location()).Format(time.DateOnly)
	sum := UsageSum{Day: key}
	if s.query.ByPod {
		key, sum = p.ID, UsageSum{Pod: p.ID, Name: p.Name}
	}
	if s.sums[key] == nil {
		s.sums[key] = &sum
	}
	s.sums[key].Add(u, s.models)
	if !sub {
		s.sums[key].Largest = max(s.sums[key].Largest, u.Usage.Input)
	}
}
