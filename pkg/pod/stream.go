package pod

import (
	"context"
	"iter"

	"podd/pkg/item"
	"podd/pkg/live"
	"podd/pkg/store"
)

// StreamQuery says what a stream shows.
type StreamQuery struct {
	// Pod is a name or an id.
	Pod string
	// After is exclusive; 0 starts with the first entry.
	After item.Seq
	// Follow continues with new entries; otherwise the stream ends after CaughtUp.
	Follow bool
	// Deltas adds live fragments; with Follow only.
	Deltas bool
}

// StreamEvent is one element of a stream: one of Record, Deltas, InFlight and
// CaughtUp.
type StreamEvent struct {
	// Record is the next entry, as stored.
	Record *store.Record
	// Deltas are live fragments.
	Deltas []item.Delta
	// InFlight is all text in flight.
	InFlight []item.Delta
	// CaughtUp says that the log has been sent up to this sequence.
	CaughtUp *item.Seq
}

// Stream returns a pod's log above a sequence, each entry once and in order. It ends with
// an error when ctx ends, unless the consumer stops first. A slow consumer delays no
// other: the log waits for it, and fragments come in larger pieces.
func (l *Logs) Stream(ctx context.Context, q StreamQuery) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		s := &stream{logs: l, cursor: q.After, yield: yield}
		if err := s.run(ctx, q); err != nil {
			yield(StreamEvent{}, err)
		}
	}
}

// stream is one running stream.
type stream struct {
	logs   *Logs
	pod    string
	cursor item.Seq
	yield  func(StreamEvent, error) bool
	// gone says that the consumer has stopped.
	gone bool
}

func (s *stream) run(ctx context.Context, q StreamQuery) error {
	if !q.Follow {
		rec, err := s.logs.store.Pod(ctx, q.Pod)
		if err != nil {
			return err
		}
		s.pod = rec.ID
		return s.catchUp(ctx, rec.Last)
	}
	a, release, err := s.logs.pods.acquire(ctx, q.Pod)
	if elsewhere(err) {
		return s.elsewhere(ctx, q.Pod)
	}
	if err != nil {
		return err
	}
	defer release()
	s.pod = a.id
	r := a.journal.live.Subscribe(q.Deltas)
	defer r.Close()
	if err := s.catchUp(ctx, r.Head()); err != nil {
		return err
	}
	return s.follow(ctx, r)
}

// catchUp sends the log up to a sequence that it has, and says so. It always reads, so
// that a cursor that the log does not have is an error.
func (s *stream) catchUp(ctx context.Context, head item.Seq) error {
	if err := s.page(ctx); err != nil {
		return err
	}
	if err := s.readTo(ctx, head); err != nil {
		return err
	}
	cursor := s.cursor
	s.emit(StreamEvent{CaughtUp: &cursor})
	return nil
}

// follow sends new entries until the consumer, ctx or the pod ends.
func (s *stream) follow(ctx context.Context, r *live.Reader) error {
	for !s.gone {
		u, err := r.Next(ctx, s.cursor)
		if err != nil {
			return err
		}
		if err := s.readTo(ctx, u.Head); err != nil {
			return err
		}
		if len(u.InFlight) > 0 {
			s.emit(StreamEvent{InFlight: u.InFlight})
		}
		if len(u.Deltas) > 0 {
			s.emit(StreamEvent{Deltas: u.Deltas})
		}
	}
	return nil
}

// readTo sends the records above the cursor up to head.
func (s *stream) readTo(ctx context.Context, head item.Seq) error {
	for s.cursor < head && !s.gone {
		if err := s.page(ctx); err != nil {
			return err
		}
	}
	return nil
}

// page sends the next records.
func (s *stream) page(ctx context.Context) error {
	records, err := s.logs.store.Read(ctx, s.pod, s.cursor, pageLen)
	for i := range records {
		s.emit(StreamEvent{Record: &records[i]})
		s.cursor = records[i].Seq
	}
	return err
}

func (s *stream) emit(e StreamEvent) {
	if !s.gone {
		s.gone = !s.yield(e, nil)
	}
}
