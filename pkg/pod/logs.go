package pod

import (
	"context"
	"iter"
	"log/slog"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// Logs read what pods did: as it is, as a stream, summed up, folded. Reading does not
// need a pod's goroutine. Its methods may be called from any goroutine.
type Logs struct {
	store    store.Store
	log      *slog.Logger
	settings func() *settings
	// Only a following stream uses pods and listeners.
	pods      *loaded
	listeners *listeners
}

// Entries passes the entries of a pod's log above after, in order, to fn until it returns false. From 0 it begins with
// the first that the log still has, whatever was purged. want says which kinds are decoded; nil wants all. An entry that
// can't be decoded ends it: KindDataLoss, reason DAMAGED.
func (l *Logs) Entries(ctx context.Context, pod string, after item.Seq, want func(wire.KindNumber) bool, fn func(item.Entry) bool) error {
	for ctx.Err() == nil {
		records, err := l.page(ctx, pod, after)
		for _, r := range records {
			after = r.Seq
			if want != nil && !want(wire.KindOf(r.Entry)) {
				continue
			}
			e, err := wire.DecodeEntry(r.Entry)
			if err != nil {
				return damaged(pod, r.Seq, err)
			}
			if !fn(e) {
				return nil
			}
		}
		if err != nil || len(records) == 0 {
			return err
		}
	}
	return context.Cause(ctx)
}

// Wing are the entries of a wing in a pod's log, in order, without those that a rewind undid. An error is the last element.
func (l *Logs) Wing(ctx context.Context, idOrName, wing string) iter.Seq2[item.Entry, error] {
	return func(yield func(item.Entry, error) bool) {
		rec, err := l.store.Pod(ctx, idOrName)
		if err != nil {
			yield(item.Entry{}, err)
			return
		}
		for e, err := range fold.Open(l.reader(ctx, rec.ID), 0, rec.Last).Entries(0, fold.Wings) {
			if k, _ := e.Kind.(item.WingEntry); (err != nil || k.Wing == wing) && !yield(e, err) {
				return
			}
		}
	}
}

// page is the next part of a log; from 0 the first one that the log still has.
func (l *Logs) page(ctx context.Context, pod string, after item.Seq) ([]store.Record, error) {
	records, err := l.store.Read(ctx, pod, after, pageLen)
	if after > 0 || item.ReasonOf(err) != store.ReasonPurged {
		return records, err
	}
	p, err := l.store.Pod(ctx, pod)
	if err != nil {
		return nil, err
	}
	return l.store.Read(ctx, pod, p.First-1, pageLen)
}

// Fold folds a pod's log, with the models and rules of today.
func (l *Logs) Fold(ctx context.Context, pod string) (*fold.Fold, error) {
	f, _, err := l.folded(ctx, pod, l.settings())
	return f, err
}

// pageLen is how many records one read of the log requests.
const pageLen = 256

func damaged(pod string, seq item.Seq, cause error) error {
	e := item.Errorf(item.KindDataLoss, "DAMAGED", "the log of pod %s is damaged at entry #%d: entries before it can still be read", pod, seq)
	e.Cause = cause
	return e
}
