package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
)

// writer is what a store knows of the end of a log that it appends to.
type writer struct {
	// turn is held while a batch is written.
	turn chan struct{}
	// last is the log's last sequence; -1 if it isn't known.
	last item.Seq
	// fence is that of the head when last was read.
	fence int64
}

func newWriter() *writer { return &writer{turn: make(chan struct{}, 1), last: -1} }

func (s *Store) writerOf(pod string) *writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writers[pod]
	if w == nil {
		w = newWriter()
		s.writers[pod] = w
	}
	return w
}

// claimed begins a new writer: that of an earlier claim can't write any more.
func (s *Store) claimed(pod string, w *writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers[pod] = w
}

// lost forgets a writer whose pod another podd deleted or took.
func (s *Store) lost(pod string, w *writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writers[pod] == w {
		delete(s.writers, pod)
	}
}

func (s *Store) forget(pod string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writers, pod)
}

// append writes a batch. The caller has the writer's turn. If the connection breaks before
// the answer, it waits until the outcome is known.
func (s *Store) append(ctx context.Context, w *writer, c *appending) (store.Appended, error) {
	for {
		err := s.try(ctx, w, c)
		if !isUnknown(err) {
			return c.out, s.fault(err)
		}
		// From here on the caller must know the outcome.
		ctx = context.WithoutCancel(ctx)
		s.log.Warn("a write got no answer; finding out whether it is stored", "database", s.where, "pod", c.Pod, "error", err)
		written, err := s.settle(ctx, w, c)
		if err != nil || written {
			return c.out, err
		}
	}
}

// try writes a batch once.
func (s *Store) try(ctx context.Context, w *writer, c *appending) error {
	ok, err := s.tryPlain(ctx, w, c)
	if err != nil {
		return err
	}
	if ok {
		w.last += item.Seq(len(c.Entries))
		return nil
	}
	c.out = store.Appended{}
	if c.Create != nil {
		err = s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if err := s.createPod(ctx, tx, *c.Create, 1, 0); err != nil {
				return err
			}
			return c.careful(ctx, tx, w)
		})
	} else {
		err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error { return c.careful(ctx, tx, w) })
	}
	if err != nil {
		w.last = -1
	}
	switch item.ReasonOf(err) {
	case store.ReasonPodNotFound, store.ReasonStaleEpoch:
		s.lost(c.Pod, w)
	}
	return err
}

// The waits between two attempts to reach a database that does not answer.
const (
	againFirst = 50 * time.Millisecond
	againMost  = 2 * time.Second
)

// settle finds out whether a batch was written, as soon as the database answers again.
func (s *Store) settle(ctx context.Context, w *writer, c *appending) (written bool, err error) {
	w.last = -1
	for wait := againFirst; ; wait = min(2*wait, againMost) {
		written, err = s.outcome(ctx, w, c)
		if item.ReasonOf(err) != store.ReasonAway {
			return written, err
		}
		select {
		case <-time.After(wait):
		case <-s.leaving:
			return false, err
		}
	}
}

// outcome asks whether a batch was written. It raises the fence of the head, so that
// a transaction that is still on its way is either waited for or refused.
func (s *Store) outcome(ctx context.Context, w *writer, c *appending) (written bool, err error) {
	var batch []byte
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "UPDATE heads SET fence = fence + 1 WHERE pod = $1 AND epoch = $2 RETURNING batch", c.Pod, int64(c.Epoch)).
			Scan(&batch)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && c.Create != nil:
			return nil // Neither is the pod.
		case errors.Is(err, pgx.ErrNoRows):
			return rules.Stale(c.Pod, c.Epoch+1, c.Epoch)
		}
		return err
	})
	return err == nil && bytes.Equal(batch, c.id), err
}
