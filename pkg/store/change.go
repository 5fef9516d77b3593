package store

import (
	"context"
	"sync/atomic"

	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// change is one write. The writer runs it inside a transaction that it shares with
// others, perhaps more than once, until one transaction commits; only the last run
// counts.
type change interface {
	// check decides whether the change is allowed. It only reads, and its error refuses only
	// this change. needed is false if nothing has to be written.
	check(tx *bbolt.Tx) (needed bool, err error)
	// write makes the change that check allowed. Its error, a defect or a damaged page,
	// aborts the transaction.
	write(tx *bbolt.Tx) error
	// size is about how many bytes it writes.
	size() int
}

// pending is a change on its way through the writer.
type pending struct {
	change
	// taken is set by whoever comes first: the writer, which then writes and answers, or a
	// caller that gives up.
	taken atomic.Bool
	// err is the answer; it may be read once done is closed.
	err  error
	done chan struct{}
}

func (p *pending) claim() bool { return p.taken.CompareAndSwap(false, true) }

func (p *pending) answer(err error) {
	p.err = err
	close(p.done)
}

// do passes a change to the writer and waits for its outcome. If ctx ends before the writer
// takes the change, it is not written; after that, do keeps waiting, because the caller must
// know the outcome.
func (s *Bolt) do(ctx context.Context, c change) error {
	if err := ctx.Err(); err != nil {
		return rules.Unwritten(err)
	}
	if err := s.usable(); err != nil {
		return err
	}
	p := &pending{change: c, done: make(chan struct{})}
	select {
	case s.queue <- p:
	case <-ctx.Done():
		return rules.Unwritten(ctx.Err())
	case <-s.stopped:
		return rules.Stopping()
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		if p.claim() {
			return rules.Unwritten(ctx.Err())
		}
	case <-s.stopped:
		if p.claim() {
			return rules.Stopping()
		}
	}
	<-p.done
	return p.err
}
