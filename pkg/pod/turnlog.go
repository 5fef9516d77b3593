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

// Append commits in the pod's goroutine.
func (l *turnLog) Append(ctx context.Context, b worker.Batch) (entries []item.Entry, err error) {
	doErr := l.a.do(ctx, func() {
		var d *draft
		if d, err = l.draft(b); err == nil {
			err = l.commit(ctx, d, b)
			entries = d.entries
		}
	})
	if doErr != nil {
		return nil, doErr
	}
	return entries, err
}

// Ahead commits in the pod's goroutine, which does nothing else meanwhile, and lets the
// turn go on.
func (l *turnLog) Ahead(ctx context.Context, b worker.Batch) (worker.Ahead, error) {
	var out worker.Ahead
	var refused, failed error
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
		if failed = l.commit(ctx, d, b); failed == nil && !sameSeqs(promised, d.entries) {
			failed = item.Errorf(item.KindInternal, "INTERNAL", "the log of pod %s was written by another than its owner", l.a.id)
		}
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
		return failed
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
	}
	return err
}

// Live shows a fragment at once, past the pod's goroutine.
func (l *turnLog) Live(d item.Delta) { l.a.live.Publish(d) }

func sameSeqs(a, b []item.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b item.Entry) bool { return a.Seq == b.Seq })
}
