package store

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// change is one write. The writer runs it inside a transaction that it shares with
// others, perhaps more than once, until one transaction commits; only the last run
// counts.
type change interface {
	// check decides whether the change may be made, and reads only: its error
	// refuses this change and no other. needed is false when the database is as it
	// should be already.
	check(tx *bbolt.Tx) (needed bool, err error)
	// write makes the change that check allowed. Its error, a defect or a damaged
	// page, takes the transaction back.
	write(tx *bbolt.Tx) error
	// size is about how many bytes it writes.
	size() int
}

// pending is a change on its way through the writer.
type pending struct {
	change
	// taken is set by whoever decides: the writer, which then writes and answers,
	// or a caller that gives up before.
	taken atomic.Bool
	// err is the answer; it may be read once done is closed.
	err  error
	done chan struct{}
}

func (p *pending) take() bool { return p.taken.CompareAndSwap(false, true) }

func (p *pending) answer(err error) {
	p.err = err
	close(p.done)
}

// do hands a change to the writer and waits for its outcome. When ctx ends before
// the writer takes the change it is not written; afterwards do waits all the same,
// because the caller must know.
func (s *Bolt) do(ctx context.Context, c change) error {
	if err := ctx.Err(); err != nil {
		return notWritten(err)
	}
	if err := s.usable(); err != nil {
		return err
	}
	p := &pending{change: c, done: make(chan struct{})}
	select {
	case s.queue <- p:
	case <-ctx.Done():
		return notWritten(ctx.Err())
	case <-s.stopped:
		return errClosed()
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		if p.take() {
			return notWritten(ctx.Err())
		}
	case <-s.stopped:
		if p.take() {
			return errClosed()
		}
	}
	<-p.done
	return p.err
}

func notWritten(err error) error { return fmt.Errorf("not written: %w", err) }
