package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// unread is the part of a log that was not read yet. It is read from its end.
type unread struct {
	pod item.Pod
	// parts are oldest first.
	parts []store.Part
	// newest is no older than the newest entry of the parts.
	newest time.Time
	// back is the entry that a rewind went back to, while entries above it are read; otherwise 0.
	back item.Seq
}

// open finds the logs to read.
func (r *run) open(ctx context.Context) error {
	var pods []item.Pod
	var err error
	if r.q.Pod == "" {
		pods, err = r.store.Pods(ctx)
	} else {
		var p item.Pod
		p, err = r.store.Pod(ctx, r.q.Pod)
		pods = []item.Pod{p}
	}
	if err != nil {
		return err
	}
	if r.q.Only != nil {
		pods = slices.DeleteFunc(pods, func(p item.Pod) bool { return !r.q.Only(p) })
	}
	var all []store.Part
	for _, p := range pods {
		parts, err := r.store.Parts(ctx, p.ID)
		switch {
		case gone(err) && r.q.Pod == "":
			continue
		case item.KindOf(err) == item.KindDataLoss:
			r.warn(err)
			continue
		case err != nil:
			return err
		}
		all = append(all, parts...)
	}
	own := once(all)
	for _, p := range pods {
		l := &unread{pod: p, parts: own[p.ID], newest: p.Status.LastActivity}
		if len(l.parts) > 0 && !l.newest.Before(r.q.Since) {
			r.logs = append(r.logs, l)
		}
	}
	slices.SortStableFunc(r.logs, func(a, b *unread) int { return b.newest.Compare(a.newest) })
	return nil
}

// once gives each record to one pod: the one that wrote it if it is there, otherwise the
// first fork. It returns the parts by pod, oldest first.
func once(parts []store.Part) map[string][]store.Part {
	own := make(map[string][]store.Part)
	taken := make(map[string][]store.Part) // By owner.
	give := func(foreign bool) {
		for _, p := range parts {
			if (p.Pod != p.Owner) != foreign {
				continue
			}
			for _, rest := range without(p, taken[p.Owner]) {
				own[p.Pod] = append(own[p.Pod], rest)
				taken[p.Owner] = append(taken[p.Owner], rest)
			}
		}
	}
	give(false)
	give(true)
	for _, list := range own {
		slices.SortFunc(list, func(a, b store.Part) int { return int(a.From - b.From) })
	}
	return own
}

// without is a part without the records of others.
func without(p store.Part, others []store.Part) []store.Part {
	left := []store.Part{p}
	for _, o := range others {
		var next []store.Part
		for _, p := range left {
			if before := p; before.From < o.From {
				before.To = min(before.To, o.From-1)
				next = append(next, before)
			}
			if after := p; after.To > o.To {
				after.From = max(after.From, o.To+1)
				next = append(next, after)
			}
		}
		left = next
	}
	return left
}

// carve takes the newest range off, of so many records.
func (l *unread) carve(per item.Seq) *job {
	last := &l.parts[len(l.parts)-1]
	part := *last
	part.From = max(part.From, part.To-per+1)
	if last.To = part.From - 1; last.To < last.From {
		l.parts = l.parts[:len(l.parts)-1]
	}
	return &job{log: l, part: part}
}

// takenBack says whether a rewind took an entry back. It gets the rewinds and the hits of the
// log, the newest first.
func (l *unread) takenBack(f found) bool {
	if f.seq <= l.back {
		l.back = 0
	}
	back := l.back > 0
	if !back {
		l.back = f.back
	}
	return back
}

// gone says that a pod was deleted.
func gone(err error) bool {
	kind := item.KindOf(err)
	return kind == item.KindNotFound && !errors.Is(err, context.Canceled)
}
