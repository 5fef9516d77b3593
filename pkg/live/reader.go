package live

import (
	"context"

	"podd/pkg/item"
)

// Reader follows a Broadcast. It belongs to one goroutine.
type Reader struct {
	b      *Broadcast
	wake   chan struct{}
	deltas bool

	// b.mu guards the fields below.

	// joined says that the reader has caught up once and gets fragments.
	joined bool
	// seen is how many bytes of each unfinished block the reader has got.
	seen map[*block]int
	// restart is the last restart that the reader has not got yet.
	restart *item.Delta
}

// Update is what a reader does next.
type Update struct {
	// Head is the last sequence of the log. When it is above the reader's cursor, the other
	// fields are empty: the reader reads the log first.
	Head item.Seq
	// InFlight is all text in flight; given once, when the reader has caught up.
	InFlight []item.Delta
	// Deltas are the fragments since then, those of one block in one piece.
	Deltas []item.Delta
}

// Subscribe adds a reader, which gets fragments or is only woken. Close it after use.
func (b *Broadcast) Subscribe(deltas bool) *Reader {
	r := &Reader{b: b, wake: make(chan struct{}, 1), deltas: deltas, seen: make(map[*block]int)}
	b.mu.Lock()
	b.readers[r] = struct{}{}
	b.mu.Unlock()
	return r
}

// Close removes the reader.
func (r *Reader) Close() {
	r.b.mu.Lock()
	delete(r.b.readers, r)
	r.b.mu.Unlock()
}

// Head is the last sequence of the log now.
func (r *Reader) Head() item.Seq {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	return r.b.head
}

// Next waits until there is an update for a reader that has sent the log up to cursor. It
// ends with the context's cause, or, once the reader has caught up, with the cause of
// Broadcast.Close.
func (r *Reader) Next(ctx context.Context, cursor item.Seq) (Update, error) {
	for {
		u, err := r.poll(cursor)
		if err != nil || u.Head > cursor || len(u.InFlight)+len(u.Deltas) > 0 {
			return u, err
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return Update{}, context.Cause(ctx)
		}
	}
}

// poll reads the log's head and the text in flight under one lock, so that the reader
// misses nothing and gets nothing twice.
func (r *Reader) poll(cursor item.Seq) (Update, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	u := Update{Head: r.b.head}
	switch {
	case u.Head > cursor:
		return u, nil
	case r.b.closed != nil:
		return u, r.b.closed
	case !r.deltas:
		return u, nil
	case cursor > u.Head:
		// The reader read the log between a commit and its Advance: it may already have sent
		// text in flight as an entry.
		return u, nil
	}
	fresh := r.drain()
	if r.joined {
		u.Deltas = fresh
	} else {
		u.InFlight, r.joined = fresh, true
	}
	return u, nil
}

// drain returns the text in flight that the reader has not seen, a restart first.
func (r *Reader) drain() []item.Delta {
	var fresh []item.Delta
	if r.restart != nil {
		fresh, r.restart = append(fresh, *r.restart), nil
	}
	for _, k := range r.b.blocks {
		seen, known := r.seen[k]
		d, now := k.after(seen)
		if known && d.Text == "" {
			continue
		}
		fresh = append(fresh, d)
		r.seen[k] = now
	}
	return fresh
}

func (r *Reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
