package store

import (
	"errors"
	"time"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// One transaction has at most groupLen changes, and ends with the first one that brings it
// to groupBytes.
const (
	groupLen   = 1024
	groupBytes = 4 << 20
)

// errNothing ends a transaction in which nothing had to be written.
var errNothing = errors.New("nothing to write")

// write is the writer: it commits groups of changes until the store is closed, and then the
// remaining queue.
func (s *Bolt) write() {
	defer close(s.stopped)
	for {
		select {
		case p := <-s.queue:
			s.commit(s.gather(p))
			continue
		case run := <-s.alone:
			run()
			continue
		case <-s.quit:
		}
		select {
		case p := <-s.queue:
			s.commit(s.gather(p))
		default:
			return
		}
	}
}

// gather takes the queued changes, p first.
func (s *Bolt) gather(p *pending) []*pending {
	var group []*pending
	for bytes := 0; ; {
		if p.claim() {
			group = append(group, p)
			bytes += p.size()
		}
		if len(group) == groupLen || bytes >= groupBytes {
			return group
		}
		select {
		case p = <-s.queue:
		default:
			return group
		}
	}
}

// commit writes a group and answers each change once.
func (s *Bolt) commit(group []*pending) {
	for len(group) > 0 {
		if err := s.usableForWriter(); err != nil {
			answerAll(group, err)
			return
		}
		t := s.try(group)
		switch {
		case t.err == nil:
			for i, p := range group {
				p.answer(t.refused[i])
			}
			return
		case t.blamed >= 0:
			// The others did not cause it; try them again without this one.
			group[t.blamed].answer(blame(s.path, t.err))
			group = append(group[:t.blamed:t.blamed], group[t.blamed+1:]...)
		case s.nothingWritten(t):
			answerAll(group, errNoSpace(s.path, t.err))
			return
		default:
			s.fail(t.err)
		}
	}
}

// attempt is one transaction over a group.
type attempt struct {
	// txid is the transaction's number; the file's number is lower until it commits.
	txid int
	// refused has an answer for each change; it is valid only if err is nil.
	refused []error
	// blamed is the index of the change that made the transaction fail, or -1.
	blamed int
	err    error
}

func (s *Bolt) try(group []*pending) attempt {
	t := attempt{refused: make([]error, len(group)), blamed: -1}
	s.swap.RLock()
	defer s.swap.RUnlock()
	began := time.Now()
	t.err = guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			t.txid = tx.ID()
			return t.apply(tx, group)
		})
	})
	switch {
	case t.err == nil:
		s.commits.Add(1)
		s.commitNanos.Add(int64(time.Since(began)))
	case errors.Is(t.err, errNothing):
		t.err = nil
	}
	return t
}

func (t *attempt) apply(tx *bbolt.Tx, group []*pending) error {
	wrote := false
	for i, p := range group {
		t.blamed = i
		needed, err := p.check(tx)
		t.refused[i] = err
		if err != nil || !needed {
			continue
		}
		if err := p.write(tx); err != nil {
			return err
		}
		wrote = true
	}
	t.blamed = -1
	if !wrote {
		return errNothing
	}
	return nil
}

func (s *Bolt) usableForWriter() error {
	select {
	case <-s.failed:
		return s.errFailed()
	default:
		return nil
	}
}

func answerAll(group []*pending, err error) {
	for _, p := range group {
		p.answer(err)
	}
}

// blame is the error of a change that was allowed but could not be written.
func blame(path string, err error) error {
	if _, ok := errors.AsType[*item.Error](err); ok || isFault(err) {
		return err
	}
	e := item.Errorf(item.KindInternal, "INTERNAL", "cannot write to %s: see podd's log", path)
	e.Cause = err
	return e
}
