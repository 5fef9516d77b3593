package retention

import (
	"context"
	"log/slog"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Store is what a Sweeper needs of a store.
type Store interface {
	Pods(ctx context.Context) ([]item.Pod, error)
	Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error)
	Inbox(ctx context.Context, pod string) ([]store.Waiting, error)
	Purge(ctx context.Context, p store.Purge) error
	PurgeAlerts(ctx context.Context, before time.Time) (int, error)
}

// Sweeper removes what a policy lets go of all pods of a store.
type Sweeper struct {
	Store  Store
	Policy Policy
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time

	// seen says of each pod when it must be looked at again.
	seen map[string]visit
}

// visit is a look at a log.
type visit struct {
	// last was the end of the log, and due is when its age asks for another look; zero
	// for never.
	last item.Seq
	due  time.Time
}

// Run sweeps now and then every so often, until ctx ends. What goes wrong is logged.
func (s *Sweeper) Run(ctx context.Context, every time.Duration) {
	if s.Policy.Off() {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Logger.Warn("old entries were not removed", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep looks at each pod once. A log that cannot be read, or is written to in that
// moment, is left for the next time.
func (s *Sweeper) Sweep(ctx context.Context) error {
	pods, err := s.Store.Pods(ctx)
	if err != nil {
		return err
	}
	before := s.seen
	s.seen = make(map[string]visit, len(pods))
	for _, p := range pods {
		if v, ok := before[p.ID]; ok && v.last == p.Last && (v.due.IsZero() || s.Now().Before(v.due)) {
			s.seen[p.ID] = v
			continue
		}
		due, err := s.pod(ctx, p)
		switch reason := item.ReasonOf(err); {
		case err == nil:
			s.seen[p.ID] = visit{last: p.Last, due: due}
		case item.KindOf(err) == item.KindDataLoss, reason == store.ReasonLogGrew, reason == store.ReasonPodNotFound, reason == store.ReasonStillWaiting:
			s.Logger.Debug("log was left as it is", "pod", p.ID, "error", err)
		default:
			return err
		}
	}
	if s.Policy.Age <= 0 {
		return nil
	}
	_, err = s.Store.PurgeAlerts(ctx, s.Now().Add(-s.Policy.Age))
	return err
}

// pod removes what a pod's log has to lose and says when to look again.
func (s *Sweeper) pod(ctx context.Context, p item.Pod) (due time.Time, err error) {
	if p.Last == 0 {
		return time.Time{}, nil
	}
	var o outline
	err = s.read(ctx, p, p.Last, func(e item.Entry, size int) { o.add(e, size) })
	if err != nil {
		return time.Time{}, err
	}
	waiting, err := s.Store.Inbox(ctx, p.ID)
	if err != nil {
		return time.Time{}, err
	}
	var first item.Seq
	if len(waiting) > 0 {
		first = waiting[0].Seq
	}
	upTo, reason, ok, due := s.Policy.cut(&o, first, s.Now())
	// The mark of an earlier purge is not removed for itself alone.
	if !ok || upTo <= p.First {
		return due, nil
	}
	return due, s.purge(ctx, p, upTo, o.from(upTo), reason)
}

func (s *Sweeper) purge(ctx context.Context, p item.Pod, upTo, from item.Seq, reason string) error {
	mark, err := s.mark(ctx, p, upTo, newSummary(s.Now().UTC(), from, reason))
	if err != nil {
		return err
	}
	err = s.Store.Purge(ctx, store.Purge{Pod: p.ID, UpTo: upTo, Last: p.Last, Mark: mark})
	if err != nil {
		return err
	}
	s.Logger.Info("old entries were removed", "pod", p.ID, "up_to", int64(upTo), "because", reason)
	return nil
}

// mark is the entry that takes the place of all up to a sequence.
func (s *Sweeper) mark(ctx context.Context, p item.Pod, upTo item.Seq, sum *summary) (item.Entry, error) {
	if err := s.read(ctx, p, upTo, func(e item.Entry, _ int) { sum.add(e) }); err != nil {
		return item.Entry{}, err
	}
	// What stays may prune what goes: the mark counts what can't be seen any more.
	whole, err := newPruned()
	if err != nil {
		return item.Entry{}, err
	}
	rest, err := newPruned()
	if err != nil {
		return item.Entry{}, err
	}
	rest.add(sum.entry())
	err = s.read(ctx, p, p.Last, func(e item.Entry, _ int) {
		whole.add(e)
		if e.Seq > upTo {
			rest.add(e)
		}
	})
	sum.mark.Totals.PrunedTokens = whole.tokens - rest.tokens
	return sum.entry(), err
}

// pageLen is how many records one read asks for.
const pageLen = 256

// read gives the entries of a log up to a sequence to fn.
func (s *Sweeper) read(ctx context.Context, p item.Pod, upTo item.Seq, fn func(e item.Entry, size int)) error {
	for after := p.First - 1; after < upTo; {
		page, err := s.Store.Read(ctx, p.ID, after, int(min(pageLen, upTo-after)))
		if err != nil {
			return err
		}
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				return err
			}
			fn(e, len(r.Entry))
			after = r.Seq
		}
	}
	return nil
}
