package pod

import (
	"context"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// turnLog is the pod's log from a turn's point of view.
type turnLog struct {
	a      *actor
	number int64
}

// Append commits in the pod's goroutine. A batch that has cost nothing yet does not wait
// for space: the claim, because until then the submits may be withdrawn, and a summary
// that a client requested.
func (l *turnLog) Append(ctx context.Context, b worker.Batch) (now worker.Now, err error) {
	err = l.write(ctx, l.number > 0 && !claims(b.Kinds), func(detached context.Context) error {
		batch := b
		if b.Ending != nil && ctx.Err() == nil && !l.a.joins() {
			batch.Kinds = slices.Concat(b.Kinds, b.Ending)
		}
		err := l.try(detached, batch, true)
		if b.Open != nil && item.ReasonOf(err) == store.ReasonNoSpace {
			err = l.try(detached, batch, false)
		}
		now = l.a.journal.stands()
		return err
	})
	return now, err
}

// Look looks in the pod's goroutine, which serves the turn until that has ended.
func (l *turnLog) Look(look func(*fold.Context)) error {
	return l.a.mailbox.do(context.WithoutCancel(l.a.host.base), func() { look(l.a.journal.carried) })
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

// draft is the pod's state once a batch of the turn is stored.
func (l *turnLog) draft(b worker.Batch) (*draft, error) {
	batch := store.Batch{Dequeue: b.Claims}
	for _, k := range b.Kinds {
		batch.Entries = append(batch.Entries, item.Entry{Turn: l.number, Kind: k})
	}
	s := l.a.journal.situation
	s.waiting, s.until = b.Waiting, b.Until
	return l.a.journal.draft(batch, s)
}

func (l *turnLog) try(ctx context.Context, b worker.Batch, whole bool) error {
	if b.Open != nil {
		b.Kinds = slices.Concat(b.Open(&l.a.journal.state.Turn, whole), b.Kinds)
	}
	d, err := l.draft(b)
	if err != nil {
		return err
	}
	return l.commit(ctx, d, b)
}

func (l *turnLog) commit(ctx context.Context, d *draft, b worker.Batch) error {
	_, err := l.a.journal.write(ctx, d, b.Done...)
	if err == nil {
		l.a.inbox.leave(b.Claims)
		l.a.turns.now.stored = true
		if l.a.turns.now.over = l.number > 0 && !l.a.journal.state.Turn.Open; l.a.turns.now.over {
			l.a.turns.now.leave()
		}
		if len(l.a.backlog.unstored) == 0 {
			l.a.backlog.release()
		}
	}
	return err
}

// write runs f, which commits, in the pod's goroutine, even if ctx has ended: what
// happened has to be stored also when the turn was cancelled. Without space it runs f
// again when f may wait, until ctx, whose cause is then the error, or the pod ends.
func (l *turnLog) write(ctx context.Context, mayWait bool, f func(context.Context) error) error {
	detached := context.WithoutCancel(ctx)
	u := &unstored{ctx: ctx, try: func() error { return f(detached) }, outcome: make(chan error, 1)}
	if err := l.a.mailbox.do(detached, func() { l.a.backlog.attempt(u, mayWait && l.a.closing == nil) }); err != nil {
		return err
	}
	select {
	case err := <-u.outcome:
		return err
	case <-ctx.Done():
	}
	// A pod that has ended has already given it up.
	_ = l.a.mailbox.do(detached, func() { l.a.backlog.giveUp(l.a.closing) })
	return <-u.outcome
}

// Live shows a fragment at once, without the pod's goroutine.
func (l *turnLog) Live(d item.Delta) { l.a.journal.live.Publish(d) }
