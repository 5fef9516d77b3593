package search

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// job reads a range of a log.
type job struct {
	log  *unread
	part store.Part
	// found are the rewinds and the hits, the oldest first.
	found []found
	// oldest is the time of the oldest record.
	oldest         time.Time
	records, bytes int
	err            error
}

// found is an entry that has the text or is a rewind.
type found struct {
	seq item.Seq
	hit *Hit
	// back is where a rewind went back to.
	back item.Seq
}

func (j *job) read(ctx context.Context, r *run) {
	for j.part.From <= j.part.To {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			j.err = context.Cause(ctx)
			return
		}
		fatal := j.scan(ctx, r)
		<-r.slots
		if fatal {
			return
		}
	}
}

// scan reads the next records of the range. It says whether the others cannot be read.
func (j *job) scan(ctx context.Context, r *run) (fatal bool) {
	records, next, err := r.store.Scan(ctx, j.part, func(entry []byte) bool {
		if j.records == 0 {
			e, _ := wire.DecodeEntry(entry) // A damaged one has the zero time.
			j.oldest = e.Time
		}
		j.records++
		j.bytes += len(entry)
		return r.mayHave(entry)
	})
	j.part.From = next
	for _, rec := range records {
		e, err := rec.Decode()
		if err != nil {
			continue // A newer podd wrote it.
		}
		f := found{seq: e.Seq}
		if h, ok := r.hit(e); ok && !e.Time.Before(r.q.Since) {
			h.Pod, h.Name = j.log.pod.ID, j.log.pod.Name
			f.hit = &h
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			f.back = k.To
		}
		if f.hit != nil || f.back > 0 {
			j.found = append(j.found, f)
		}
	}
	if err == nil {
		return false
	}
	lost := item.KindOf(err) == item.KindDataLoss
	if !lost || j.err == nil {
		j.err = err
	}
	return !lost
}

// mayHave says whether a stored entry must be decoded.
func (r *run) mayHave(entry []byte) bool {
	kind, it := wire.Peek(entry)
	switch {
	case kind == wire.KindRewind:
		return true
	case kind == wire.KindItem:
		return r.wanted.items.has(int(it)) && (r.needle.isIn(entry) || it == wire.ItemToolCall && r.needle.maybeEscaped(entry))
	}
	return r.wanted.kinds.has(int(kind)) && r.needle.isIn(entry)
}
