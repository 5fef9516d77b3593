package report

import (
	"context"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// Work is what a pod works on and costs. It is comparable.
type Work struct {
	// Began is when the running turn began; zero between turns.
	Began time.Time
	// Step counts its answered requests; 0 between turns.
	Step int
	// Tools are those that run, with commas between them.
	Tools string
	// TokensPerSecond is how fast the model writes; 0 while it does not.
	TokensPerSecond int
	// Tokens is the estimated size of the next request, Window that of the model; 0 if unknown.
	Tokens, Window int
	// Turn is what the running or the last turn cost. Day is what all requests since midnight
	// did. Both include sub-pods.
	Turn, Day fold.Spent
}

// observer looks at the work of pods for one watcher, and remembers what it has read.
type observer struct {
	host *pod.Host
	pods map[string]*observed
	// works says that a pod had a running turn when the observer looked last, measures that
	// the pace of an answer was not known yet.
	works, measures bool
	// folded is how many entries of pods that are not in memory were folded in this round;
	// behind says that more are left to the next one.
	folded item.Seq
	behind bool
}

// foldedEntries is how many entries are folded in one round, so that many pods do not hold
// up the first answer.
var foldedEntries item.Seq = 20_000

func newObserver(h *pod.Host) *observer { return &observer{host: h, pods: make(map[string]*observed)} }

// observed is what the observer knows of a pod: when the turn of an entry began, how long
// the answer was when it was first seen, and what the log of a day up to an entry cost.
type observed struct {
	turn  item.Seq
	began time.Time

	bytes, last int
	since       time.Time

	day   time.Time
	upTo  item.Seq
	spent fold.Spent

	// rest is what the log up to the entry at says while the pod is not in memory.
	rest pod.Standing
	at   item.Seq
}

// look is a pod's work now.
func (o *observer) look(ctx context.Context, p item.Pod) (w Work, err error) {
	k := o.pods[p.ID]
	if k == nil {
		k = new(observed)
		o.pods[p.ID] = k
	}
	if w.Day, err = o.today(ctx, p, k); err != nil {
		return Work{}, err
	}
	s, answered, loaded := o.host.Standing(p.ID)
	if !loaded {
		if s, err = o.stored(ctx, p, k); err != nil {
			return Work{}, err
		}
	}
	w.Tokens, w.Window, w.Turn = s.Tokens, s.Window, s.Turn
	if !loaded || s.Began == 0 {
		return w, nil
	}
	w.Tools, w.Step = s.Tools, s.Step
	o.works = true
	w.TokensPerSecond = k.pace(answered, o.host.Now()) * 1000 / s.Kilo
	o.measures = o.measures || answered > 0 && w.TokensPerSecond == 0
	w.Began, err = o.begin(ctx, p.ID, k, s.Began)
	return w, err
}

// stored is what the log of a pod says that is not in memory; nothing if that is damaged, or is
// left to the next round.
func (o *observer) stored(ctx context.Context, p item.Pod, k *observed) (pod.Standing, error) {
	if k.at == p.Last {
		return k.rest, nil
	}
	k.rest = pod.Standing{}
	if p.Status.State == item.StateRunning {
		return k.rest, nil // By another podd, which knows more than the log does.
	}
	if o.folded >= foldedEntries {
		o.behind = true
		return k.rest, nil
	}
	o.folded += p.Last - p.First + 1
	k.at = p.Last
	f, err := o.host.Logs.Fold(ctx, p.ID)
	if err != nil {
		return k.rest, readable(err)
	}
	k.rest = pod.StandingOf(&f.State, f.Context)
	return k.rest, nil
}

// begin is when the turn of an entry began.
func (o *observer) begin(ctx context.Context, pod string, k *observed, turn item.Seq) (time.Time, error) {
	if k.turn != turn {
		page, err := o.host.Store.Read(ctx, pod, turn-1, 1)
		if err != nil || len(page) == 0 {
			return time.Time{}, readable(err)
		}
		e, err := page[0].Decode()
		if err != nil {
			return time.Time{}, readable(err)
		}
		k.turn, k.began = turn, e.Time
	}
	return k.began, nil
}

// leastPace is how long an answer is watched before its pace is known.
const leastPace = 500 * time.Millisecond

// pace is how many bytes a second the answer grew since it was first seen.
func (k *observed) pace(bytes int, now time.Time) int {
	if bytes == 0 || bytes < k.last || k.since.IsZero() {
		k.bytes, k.since = bytes, now
	}
	k.last = bytes
	if d := now.Sub(k.since); d >= leastPace {
		return int(float64(bytes-k.bytes) / d.Seconds())
	}
	return 0
}

// today is what a pod's own entries since midnight cost. Those of before a fork are another
// pod's.
func (o *observer) today(ctx context.Context, p item.Pod, k *observed) (fold.Spent, error) {
	year, month, day := o.host.Now().Date()
	from := time.Date(year, month, day, 0, 0, 0, 0, o.host.Now().Location())
	if !k.day.Equal(from) {
		k.day, k.upTo, k.spent = from, 0, fold.Spent{}
	}
	if p.CreatedAt.After(from) {
		from = p.CreatedAt
	}
	if k.upTo >= p.Last || p.Status.LastActivity.Before(from) {
		return k.spent, nil
	}
	if k.upTo == 0 {
		first, err := store.FirstSince(ctx, o.host.Store, p, p.First, from)
		if err != nil {
			return k.spent, readable(err)
		}
		k.upTo = first - 1
	}
	models := o.host.Settings().Models
	isUsage := func(kind wire.KindNumber) bool { return kind == wire.KindUsage }
	err := o.host.Logs.Entries(ctx, p.ID, k.upTo, isUsage, func(e item.Entry) bool {
		k.upTo = e.Seq
		if u, ok := e.Kind.(item.RequestUsage); ok && !e.Time.Before(from) {
			k.spent.Add(u, models)
		}
		return true
	})
	if err == nil {
		k.upTo = max(k.upTo, p.Last)
	}
	return k.spent, readable(err)
}

// readable is err, unless a log is damaged, gone or shorter than its record said: of such a
// pod less is known.
func readable(err error) error {
	switch item.KindOf(err) {
	case item.KindDataLoss, item.KindNotFound, item.KindOutOfRange:
		return nil
	}
	return err
}

// next is how long a watcher may wait before it has to look again: not at all while logs are
// left to read, a second at most while a turn runs, else until the next day. 0, for ever, without an
// observer.
func (o *observer) next() time.Duration {
	if o == nil {
		return 0
	}
	works, measures, behind := o.works, o.measures, o.behind
	o.works, o.measures, o.behind, o.folded = false, false, false, 0
	switch {
	case behind:
		return time.Nanosecond
	case measures:
		return leastPace
	case works:
		return time.Second
	}
	now := o.host.Now()
	year, month, day := now.Date()
	return time.Date(year, month, day+1, 0, 0, 1, 0, now.Location()).Sub(now)
}

// forget forgets a deleted pod.
func (o *observer) forget(id string) {
	if o != nil {
		delete(o.pods, id)
	}
}
