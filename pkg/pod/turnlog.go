package pod

import (
	"context"
	"slices"
	"sync"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// turnLog is the pod's log as a turn sees it.
type turnLog struct {
	a      *actor
	number int64
}

// Append commits in the pod's goroutine. What has cost nothing yet does not wait for space:
// the claim, as until then the submits may be withdrawn, and a summary that a client asked
// for.
func (l *turnLog) Append(ctx context.Context, b worker.Batch) (entries []item.Entry, err error) {
	err = l.write(ctx, l.number > 0 && !claims(b.Kinds), func(detached context.Context) error {
		now := b
		if b.Ending != nil && ctx.Err() == nil && !l.a.joins() {
			now.Kinds = slices.Concat(b.Kinds, b.Ending)
		}
		d, err := l.draft(now)
		if err != nil {
			return err
		}
		err = l.commit(detached, d, now)
		entries = d.entries
		return err
	})
	return entries, err
}

// claims says that a batch claims its turn and does not end it as well.
func claims(kinds []item.Kind) bool {
	if len(kinds) == 0 {
		return false
	}
	_, first := kinds[0].(item.TurnStarted)
	_, last := kinds[len(kinds)-1].(item.TurnEnded)
	return first && !last
}

// Ahead commits in the pod's goroutine, which does nothing else meanwhile, and lets the
// turn go on. While there is no space for it nothing else is stored: its sequences are
// promised.
func (l *turnLog) Ahead(ctx context.Context, b worker.Batch) (worker.Ahead, error) {
	ctx = context.WithoutCancel(ctx)
	var out worker.Ahead
	var refused error
	u := &unstored{ctx: ctx, outcome: make(chan error, 1)}
	drafted := make(chan struct{})
	tell := sync.OnceFunc(func() { close(drafted) })
	finished, err := l.a.begin(ctx, func() {
		defer tell() // Also when it panics.
		var d *draft
		if d, refused = l.draft(b); refused != nil {
			return
		}
		promised := slices.Clone(d.entries)
		out.Entries, out.Joins = promised, l.a.joins()
		tell()
		u.try = func() error {
			d.entries, l.a.promised = slices.Clone(promised), nil
			err := l.commit(ctx, d, b)
			switch {
			case noSpace(err):
				l.a.promised = err
			case err == nil && !sameSeqs(promised, d.entries):
				err = item.Errorf(item.KindInternal, "INTERNAL", "the log of pod %s was written by another than its owner", l.a.id)
			}
			return err
		}
		l.a.attempt(u, true)
	})
	if err != nil {
		return worker.Ahead{}, err
	}
	if <-drafted; refused != nil {
		return worker.Ahead{}, refused
	}
	out.Stored = func() error {
		if err := <-finished; err != nil {
			return err
		}
		return <-u.outcome
	}
	return out, nil
}

// draft says what the pod is once a batch of the turn is stored.
func (l *turnLog) draft(b worker.Batch) (*draft, error) {
	batch := store.Batch{Dequeue: b.Claims}
	for _, k := range b.Kinds {
		batch.Entries = append(batch.Entries, item.Entry{Turn: l.number, Kind: k})
	}
	s := l.a.situation
	s.waiting, s.until = b.Waiting, b.Until
	return l.a.draft(batch, s)
}

func (l *turnLog) commit(ctx context.Context, d *draft, b worker.Batch) error {
	_, err := l.a.write(ctx, d, b.Done...)
	if err == nil {
		l.a.leave(b.Claims)
		l.a.turn.over = l.number > 0 && !l.a.journal.open
		if len(l.a.unstored) == 0 {
			l.a.release()
		}
	}
	return err
}

// Live shows a fragment at once, past the pod's goroutine.
func (l *turnLog) Live(d item.Delta) { l.a.live.Publish(d) }

func sameSeqs(a, b []item.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b item.Entry) bool { return a.Seq == b.Seq })
}
