package retention

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// Store is what a Sweeper needs from a store.
type Store interface {
	Pods(ctx context.Context) ([]item.Pod, error)
	Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error)
	Inbox(ctx context.Context, pod string) ([]store.Waiting, error)
	Purge(ctx context.Context, p store.Purge) error
}

// Alerts removes old alerts.
type Alerts interface {
	PurgeAlerts(ctx context.Context, before time.Time) (int, error)
}

// Sweeper applies a policy to all pods of a store.
type Sweeper struct {
	// Node is the name of this podd among those that share the store: it visits its own pods.
	Node   string
	Store  Store
	Alerts Alerts
	Policy Policy
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time

	rules *fold.Rules
	// seen has the last visit to each pod.
	seen map[string]visit
}

// visit is a check of a log.
type visit struct {
	// last was the end of the log, and due is when its age requires another visit; zero for
	// never.
	last item.Seq
	due  time.Time
}

// Run sweeps now and then at each interval, until ctx ends. It logs errors.
func (s *Sweeper) Run(ctx context.Context, every time.Duration) {
	if s.Policy.Off() {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Logger.Warn("cannot remove old entries", "error", err)
		}
		s.Logger.Debug("checked the age and the size of all logs")
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep visits each pod once. A log that cannot be read, or that is being written, is left
// for the next time.
func (s *Sweeper) Sweep(ctx context.Context) error {
	pods, err := s.Store.Pods(ctx)
	if err != nil {
		return err
	}
	if s.rules == nil {
		// A mark does not depend on prices or on pruning.
		limiter := func(l []item.OutputLimit) fold.Limiter { return tool.LimitsOf(l).Hold }
		if s.rules, err = fold.NewRules(fold.ContextConfig{Limiter: limiter}); err != nil {
			return err
		}
	}
	before := s.seen
	s.seen = make(map[string]visit, len(pods))
	for _, p := range pods {
		if p.Node != s.Node {
			continue
		}
		if v, ok := before[p.ID]; ok && v.last == p.Last && (v.due.IsZero() || s.Now().Before(v.due)) {
			s.seen[p.ID] = v
			continue
		}
		due, err := s.pod(ctx, p)
		switch reason := item.ReasonOf(err); {
		case err == nil:
			s.seen[p.ID] = visit{last: p.Last, due: due}
		case item.KindOf(err) == item.KindDataLoss, reason == store.ReasonLogGrew, reason == store.ReasonPodNotFound, reason == store.ReasonStillWaiting:
			s.Logger.Debug("skipped a log", "pod", p.ID, "error", err)
		default:
			return err
		}
	}
	if s.Policy.Age <= 0 {
		return nil
	}
	_, err = s.Alerts.PurgeAlerts(ctx, s.Now().Add(-s.Policy.Age))
	return err
}

// pod removes old entries of a pod's log and says when to visit it again.
func (s *Sweeper) pod(ctx context.Context, p item.Pod) (due time.Time, err error) {
	if p.Last == 0 {
		return time.Time{}, nil
	}
	var size int
	log := fold.Open(s.reader(ctx, p, &size), 0, p.Last)
	o := &outline{log: log, fold: s.rules.New()}
	if err := log.Replay(o.fold, p.Last, func(e item.Entry) { o.add(e, size) }); err != nil {
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
	upTo, reason, ok, due := s.Policy.cut(o, first, s.Now())
	// Do not remove only the mark of an earlier purge.
	if !ok || upTo <= p.First {
		return due, nil
	}
	mark, err := log.Mark(s.rules, upTo, item.Purged{At: s.Now().UTC(), From: o.from(upTo), Reason: reason})
	if err != nil {
		return due, err
	}
	if err := s.Store.Purge(ctx, store.Purge{Pod: p.ID, UpTo: upTo, Last: p.Last, Mark: mark}); err != nil {
		return due, err
	}
	s.Logger.Info("removed old entries", "pod", p.ID, "up_to", int64(upTo), "because", reason)
	return due, nil
}

// pageLen is how many records one read returns at most.
const pageLen = 256

// reader reads a log. size is the size of the last entry that it returned.
func (s *Sweeper) reader(ctx context.Context, p item.Pod, size *int) fold.Reader {
	return func(after item.Seq, _ fold.Selection) iter.Seq2[item.Entry, error] {
		return func(yield func(item.Entry, error) bool) {
			for after := max(after, p.First-1); after < p.Last; {
				page, err := s.Store.Read(ctx, p.ID, after, pageLen)
				if err != nil {
					yield(item.Entry{}, err)
					return
				}
				for _, r := range page {
					e, err := r.Decode()
					*size, after = len(r.Entry), r.Seq
					if !yield(e, err) || err != nil {
						return
					}
				}
			}
		}
	}
}
