package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// follower reads one pod's log across all restarts of its podd and checks the stream:
// each entry once, in order, without a gap, the same each time.
type follower struct {
	pod string

	mu      sync.Mutex
	entries []*poddv1.Entry
	// gaps, duplicates and changed count the errors of the stream.
	gaps, duplicates, changed []string
	// claimed are the request ids that turns took or clients withdrew; resumes is how often
	// the last turn was resumed since its last answer.
	claimed map[string]bool
	resumes int
}

func newFollower(pod string) *follower { return &follower{pod: pod, claimed: make(map[string]bool)} }

// raw follows through the plain call, which hides nothing, with its own cursor.
func (f *follower) raw(ctx context.Context, c *client.Client) {
	for ctx.Err() == nil {
		stream, err := c.Pods().Stream(ctx, &poddv1.StreamRequest{Pod: f.pod, AfterSeq: f.last(), Follow: true, Deltas: true})
		for err == nil {
			var m *poddv1.StreamResponse
			if m, err = stream.Recv(); err == nil && m.GetEntry() != nil {
				f.add(m.GetEntry())
			}
		}
		pause(ctx, retryPause)
	}
}

// resuming follows through the client's stream, which reconnects by itself.
func (f *follower) resuming(ctx context.Context, c *client.Client) {
	for ctx.Err() == nil {
		for m, err := range c.Stream(ctx, client.StreamOptions{Pod: f.pod, After: f.last(), Follow: true}) {
			if item.ReasonOf(err) == "STREAM_GAP" {
				f.wrong(&f.gaps, "the client's stream: %v", err)
			}
			if m.GetEntry() != nil {
				f.add(m.GetEntry())
			}
		}
		// podd was not there yet, or was away for too long.
		pause(ctx, retryPause)
	}
}

// retryPause is the pause before the next attempt.
const retryPause = 5 * time.Millisecond

// pause waits; it returns false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// await polls until the condition is true; it returns false when ctx ends first.
func await(ctx context.Context, so func() bool) bool {
	for !so() {
		if !pause(ctx, retryPause) {
			return false
		}
	}
	return true
}

// last is the sequence of the newest entry.
func (f *follower) last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.entries))
}

// add takes the next entry of the stream.
func (f *follower) add(e *poddv1.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch last := int64(len(f.entries)); {
	case e.GetSeq() <= last:
		f.duplicates = append(f.duplicates, fmt.Sprintf("%s: entry %d came again", f.pod, e.GetSeq()))
		if differ(e, f.entries[e.GetSeq()-1]) {
			f.changed = append(f.changed, fmt.Sprintf("%s: entry %d was %v and came again as %v", f.pod, e.GetSeq(), f.entries[e.GetSeq()-1], e))
		}
		return
	case e.GetSeq() > last+1:
		f.gaps = append(f.gaps, fmt.Sprintf("%s: entry %d came after entry %d", f.pod, e.GetSeq(), last))
		// Leave the missing entries empty, so that the next ones are checked separately.
		f.entries = append(f.entries, make([]*poddv1.Entry, e.GetSeq()-last-1)...)
	}
	f.entries = append(f.entries, e)
	for _, id := range slices.Concat(e.GetTurnStarted().GetRequestIds(), e.GetPromoted().GetRequestIds(), e.GetWithdrawn().GetRequestIds()) {
		f.claimed[id] = true
	}
	switch {
	case e.GetTurnStarted() != nil, e.GetTurnEnded() != nil:
		f.resumes = 0
	case e.GetRecovered() != nil:
		f.resumes++
	case e.GetUsage() != nil:
		f.resumes = 0
	}
}

// endOfTurn is the entry at the end of one of the turns; 0 without one.
func (f *follower) endOfTurn(random *rand.Rand) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ends []int64
	for _, e := range f.entries {
		if e.GetTurnEnded() != nil {
			ends = append(ends, e.GetSeq())
		}
	}
	if len(ends) == 0 {
		return 0
	}
	return ends[random.IntN(len(ends))]
}

func (f *follower) wrong(list *[]string, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, f.pod+": "+fmt.Sprintf(format, args...))
}

// has says whether a matching entry came.
func (f *follower) has(match func(*poddv1.Entry) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries {
		if e != nil && match(e) {
			return true
		}
	}
	return false
}

// weary says whether podd would give up the turn if it were ended once more.
func (f *follower) weary() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resumes >= 2
}

// fresh says that the last turn had an answer since it was resumed, if it was.
func (f *follower) fresh() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resumes == 0
}

// answers counts those of the model, and the turns.
func (f *follower) answers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, e := range f.entries {
		if e.GetUsage() != nil || e.GetTurnStarted() != nil {
			n++
		}
	}
	return n
}

func (f *follower) took(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.claimed[id]
}

// compare compares the entries of the stream with the log.
func (f *follower) compare(log []*poddv1.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.entries) != len(log) {
		f.gaps = append(f.gaps, fmt.Sprintf("%s: the stream brought %d entries of %d", f.pod, len(f.entries), len(log)))
	}
	for i := range min(len(log), len(f.entries)) {
		if f.entries[i] != nil && differ(f.entries[i], log[i]) {
			f.changed = append(f.changed, fmt.Sprintf("%s: entry %d was %v and is %v", f.pod, i+1, f.entries[i], log[i]))
		}
	}
}

func differ(a, b *poddv1.Entry) bool { return a.String() != b.String() }
