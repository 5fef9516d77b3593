package search

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// MaxLimit is how many hits one search returns.
const MaxLimit = 1000

// maxText is how long the text may be, in bytes.
const maxText = 1024

// Query says what to look for.
type Query struct {
	Text string
	// Pod is a name or an id; empty means all pods, but not those in the trash.
	Pod string
	// Only says whether a pod is wanted; nil wants all.
	Only func(item.Pod) bool
	// Kinds limits the search to these; empty means all.
	Kinds []Kind
	// Since leaves out what is older; the zero time means nothing.
	Since time.Time
	// Limit is how many hits to return, at most MaxLimit; 0 means that.
	Limit int
	// Warn gets a sentence for each log that could not be searched completely.
	Warn func(string)
}

// Hit is an entry with the text.
type Hit struct {
	// Pod and Name are the pod that wrote the entry or, if that was deleted, a fork of it. If
	// the query names a pod, they are that pod.
	Pod, Name string
	Seq       item.Seq
	Turn      int64
	Time      time.Time
	Kind      Kind
	Excerpt
	// TakenBack says that a rewind took the entry back.
	TakenBack bool
}

// Searcher searches the logs of a store. All searches together use at most two threads.
type Searcher struct {
	store store.Store
	slots chan struct{}
}

// workers is how many ranges of logs are read at once.
const workers = 2

// New makes a Searcher.
func New(s store.Store) *Searcher {
	return &Searcher{store: s, slots: make(chan struct{}, workers)}
}

// Search returns the entries that have the text, the newest first.
func (s *Searcher) Search(ctx context.Context, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		if err := q.check(); err != nil {
			yield(Hit{}, err)
			return
		}
		r := &run{Searcher: s, q: q, needle: newNeedle(q.Text), wanted: newWanted(q.Kinds), per: firstPer, width: workers, left: q.Limit}
		if r.left == 0 {
			r.left = MaxLimit
		}
		if err := r.open(ctx); err != nil {
			yield(Hit{}, err)
			return
		}
		for r.left > 0 && (len(r.logs) > 0 || len(r.hits) > 0) {
			if err := r.round(ctx); err != nil {
				yield(Hit{}, err)
				return
			}
			for _, h := range r.ready() {
				if !yield(h, nil) {
					return
				}
			}
		}
	}
}

func (q Query) check() error {
	switch {
	case q.Text == "":
		return item.Errorf(item.KindInvalid, "EMPTY_TEXT", "the text to search for is empty")
	case len(q.Text) > maxText:
		return item.Errorf(item.KindInvalid, "LONG_TEXT", "the text to search for has %d bytes: give at most %d", len(q.Text), maxText)
	case q.Limit < 0 || q.Limit > MaxLimit:
		return item.Errorf(item.KindInvalid, "BAD_LIMIT", "the number of hits must be 1 to %d, not %d", MaxLimit, q.Limit)
	}
	for _, kind := range q.Kinds {
		if _, known := stored[kind]; !known {
			return item.Errorf(item.KindInvalid, "UNKNOWN_KIND", "unknown kind %q", kind)
		}
	}
	return nil
}

// run is one search.
type run struct {
	*Searcher
	q      Query
	needle *needle
	wanted wanted
	// logs are those with records that were not read yet, the one with the newest first.
	logs []*unread
	// per is how many records a job reads, width how many jobs a round has.
	per   item.Seq
	width int
	// hits were found and may have newer ones before them; left is how many may still be
	// returned.
	hits []Hit
	left int
}

// A round has few jobs where hits are close together, so that a search soon has enough, and
// many where hits are rare, so that no thread waits for another.
const (
	firstPer = 64
	maxWidth = 64
)

// round reads the next ranges of the logs with the newest entries.
func (r *run) round(ctx context.Context) error {
	if len(r.logs) == 0 {
		return nil
	}
	jobs := r.carve()
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() { j.read(ctx, r) })
	}
	all.Wait()
	before := len(r.hits)
	for _, j := range jobs {
		if err := r.take(j); err != nil {
			return err
		}
	}
	if r.width = min(2*r.width, maxWidth); len(r.hits) > before {
		r.width = workers
	}
	r.logs = slices.DeleteFunc(r.logs, func(l *unread) bool { return len(l.parts) == 0 || l.newest.Before(r.q.Since) })
	slices.SortStableFunc(r.logs, func(a, b *unread) int { return b.newest.Compare(a.newest) })
	return nil
}

// carve takes ranges from the logs with the newest entries.
func (r *run) carve() (jobs []*job) {
	for _, l := range r.logs {
		for len(l.parts) > 0 && len(jobs) < r.width {
			jobs = append(jobs, l.carve(r.per))
		}
	}
	return jobs
}

// take adds what a job found. Jobs of one log are taken in the order in which they were
// carved.
func (r *run) take(j *job) error {
	for _, f := range slices.Backward(j.found) {
		if back := j.log.takenBack(f); f.hit != nil {
			f.hit.TakenBack = back
			r.hits = append(r.hits, *f.hit)
		}
	}
	if j.bytes > 0 {
		r.per = item.Seq(min(max(j.records*store.ScanBytes/j.bytes, 16), 1<<16))
		j.log.newest = j.oldest
	}
	if item.KindOf(j.err) == item.KindDataLoss {
		r.warn(j.err)
		return nil
	}
	return j.err
}

func (r *run) warn(err error) {
	if r.q.Warn != nil {
		r.q.Warn(err.Error())
	}
}

// hit is an entry that has the text.
func (r *run) hit(e item.Entry) (Hit, bool) {
	for _, p := range pieces(e.Kind) {
		if len(r.q.Kinds) > 0 && !slices.Contains(r.q.Kinds, p.kind) {
			continue
		}
		if start, end, ok := r.needle.find([]byte(p.text)); ok {
			return Hit{Seq: e.Seq, Turn: e.Turn, Time: e.Time, Kind: p.kind, Excerpt: excerpt(p.text, start, end)}, true
		}
	}
	return Hit{}, false
}

// ready are the hits that have no newer ones before them.
func (r *run) ready() []Hit {
	slices.SortStableFunc(r.hits, func(a, b Hit) int { return b.Time.Compare(a.Time) })
	r.hits = r.hits[:min(len(r.hits), r.left)]
	n := len(r.hits)
	if len(r.logs) > 0 {
		newest := r.logs[0].newest
		n = 0
		for n < len(r.hits) && !r.hits[n].Time.Before(newest) {
			n++
		}
	}
	out := r.hits[:n]
	r.hits = r.hits[n:]
	r.left -= n
	return out
}
