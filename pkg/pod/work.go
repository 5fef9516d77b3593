package pod

import (
	"context"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// Work is what a pod works on and costs. It is comparable.
type Work struct {
	// Began is when the running turn began; zero between turns.
	Began time.Time
	// Tools are those that run, with commas between them.
	Tools string
	// TokensPerSecond is how fast the model writes; 0 while it does not.
	TokensPerSecond int
	// Tokens is the estimated size of the next request, Window that of the model; 0 if unknown.
	Tokens, Window int
	// Turn is what the running or the last turn cost. Day is what all requests since midnight
	// did. Both include sub-pods.
	Turn, Day Cost
}

// Cost is what requests cost.
type Cost struct {
	// USD is the cost of those with a known price; Unpriced counts the others.
	USD      float64
	Unpriced int64
}

// standing is what the fold of a pod's log says of its work.
type standing struct {
	// began is the entry that began the running turn; 0 between turns.
	began          item.Seq
	tools          string
	tokens, window int
	// kilo is how many bytes 1,000 tokens have.
	kilo int
	turn Cost
}

func (j *journal) standing() *standing { return standingOf(&j.state, j.carried) }

func standingOf(state *fold.State, carried *fold.Context) *standing {
	t := &state.Turn
	s := &standing{
		tokens: carried.Tokens(), window: carried.Window(), kilo: max(carried.BytesOf(1000), 1),
		turn: Cost{t.Spent.Cost, t.Spent.Unpriced},
	}
	if t.Open {
		s.began = t.Began
		var tools []string
		for _, c := range t.Calls {
			if q := t.Question(c.CallID); c.Started != nil && (q == nil || !q.IsOpen()) {
				tools = append(tools, c.Name)
			}
		}
		s.tools = strings.Join(tools, ",")
	}
	return s
}

// observer looks at the work of pods for one watcher, and remembers what it has read.
type observer struct {
	host *Host
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

func newObserver(h *Host) *observer { return &observer{host: h, pods: make(map[string]*observed)} }

// observed is what the observer knows of a pod: when the turn of an entry began, how long
// the answer was when it was first seen, and what the log of a day up to an entry cost.
type observed struct {
	turn  item.Seq
	began time.Time

	bytes, last int
	since       time.Time

	day   time.Time
	upTo  item.Seq
	spent Cost

	// rest is what the log up to the entry at says while the pod is not in memory.
	rest *standing
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
	a, _ := o.host.pods.find(p.ID)
	var s *standing
	if a != nil {
		s = a.presence.standing.Load()
	} else if s, err = o.stored(ctx, p, k); err != nil {
		return Work{}, err
	}
	if s == nil {
		return w, nil
	}
	w.Tokens, w.Window, w.Turn = s.tokens, s.window, s.turn
	if a == nil || s.began == 0 {
		return w, nil
	}
	w.Tools = s.tools
	o.works = true
	bytes := a.journal.live.Answer()
	w.TokensPerSecond = k.pace(bytes, o.host.Now()) * 1000 / s.kilo
	o.measures = o.measures || bytes > 0 && w.TokensPerSecond == 0
	w.Began, err = o.begin(ctx, p.ID, k, s.began)
	return w, err
}

// stored is what the log of a pod says that is not in memory; nil if that is damaged, or is
// left to the next round.
func (o *observer) stored(ctx context.Context, p item.Pod, k *observed) (*standing, error) {
	if k.at == p.Last {
		return k.rest, nil
	}
	k.rest = nil
	if p.Status.State == item.StateRunning {
		return nil, nil // By another podd, which knows more than the log does.
	}
	if o.folded >= foldedEntries {
		o.behind = true
		return nil, nil
	}
	o.folded += p.Last - p.First + 1
	k.at = p.Last
	f, _, err := o.host.Logs.folded(ctx, p.ID, o.host.settings())
	if err != nil {
		return nil, readable(err)
	}
	k.rest = standingOf(&f.State, f.Context)
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
func (o *observer) today(ctx context.Context, p item.Pod, k *observed) (Cost, error) {
	year, month, day := o.host.Now().Date()
	from := time.Date(year, month, day, 0, 0, 0, 0, o.host.Now().Location())
	if !k.day.Equal(from) {
		k.day, k.upTo, k.spent = from, 0, Cost{}
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
	models := o.host.settings().Models
	err := o.host.Logs.readRecords(ctx, p.ID, k.upTo, func(seq item.Seq, body []byte) error {
		k.upTo = seq
		if wire.KindOf(body) != wire.KindUsage {
			return nil
		}
		e, err := wire.DecodeEntry(body)
		if u, ok := e.Kind.(item.RequestUsage); ok && err == nil && !e.Time.Before(from) {
			k.spent.add(u, models)
		}
		return nil
	})
	return k.spent, readable(err)
}

func (c *Cost) add(u item.RequestUsage, models fold.Models) {
	if usd, known := models.Cost(u); known {
		c.USD += usd
	} else {
		c.Unpriced += u.Usage.Requests
	}
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
