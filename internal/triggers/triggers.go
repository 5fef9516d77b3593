package triggers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/checkouts"
	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// The names of the wing and of its kinds of entries. They are in logs, so they never change.
const (
	wing        = "triggers"
	kindSet     = "set"
	kindRemoved = "removed"
	kindState   = "state"
	kindFiles   = "files"
	kindDue     = "due"
	kindFired   = "fired"
	kindEnded   = "ended"
	kindPassed  = "passed"
	kindChanged = "changed"
)

// Config is what the wing needs.
type Config struct {
	Host *pod.Host
	// Checkouts makes those of new pods.
	Checkouts *checkouts.Checkouts
	Webhooks  Webhooks
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Wing is the wing of triggers. The logs have what it knows.
type Wing struct {
	Config
	// poked wakes run.
	poked chan struct{}
	// looks bounds how many pods are looked at at once.
	looks chan struct{}
	// files looks at the files of triggers.
	files *lookout
	// mu guards the fields below.
	mu sync.Mutex
	// homes are the pods in memory that have triggers, by their ids.
	homes map[string]*home
	// next says when to look at a pod; looking are those that a goroutine looks at.
	next    map[string]time.Time
	looking map[string]*glance
	// watched are the pods whose turns others wait for, after which they have triggers or which their fires began: the ids of
	// those.
	watched map[string][]string
}

// glance is a look at a pod, again says that another one follows, and over is closed at the end.
type glance struct {
	again bool
	over  chan struct{}
}

// home is a pod with triggers, as long as it is in memory.
type home struct {
	life context.Context //nolint:containedctx // Another podd may write the log after it.
	// mu is held from a look at the triggers to the commit that changes them.
	mu  lock
	all []*trigger
}

// lock is a lock whose holder may write to the log. A context ends the wait for it.
type lock chan struct{}

func (l lock) Lock() { l <- struct{}{} }

func (l lock) Unlock() { <-l }

// take is Lock until a context ends.
func (l lock) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxLooks is how many pods podd looks at at once.
const maxLooks = 8

// Open opens the wing, before the Host recovers its pods. It ends with the Host.
func Open(c Config) *Wing {
	if c.Now == nil {
		c.Now = time.Now
	}
	w := &Wing{
		Config: c, poked: make(chan struct{}, 1), looks: make(chan struct{}, maxLooks), homes: make(map[string]*home),
		next: make(map[string]time.Time), looking: make(map[string]*glance), watched: make(map[string][]string),
	}
	w.files = newLookout(c.Host, w.poke)
	c.Host.Attach(pod.Wing{Settled: w.settled, Changed: w.changed, Deleting: w.deleting})
	c.Host.Go(w.run)
	return w
}

// now is what the wall clock says, without the clock that stands still while a machine sleeps.
func (w *Wing) now() time.Time { return w.Now().Round(0) }

// settled has triggers looked at: those of a pod that was loaded or whose turn has ended, and those that wait for that.
func (w *Wing) settled(p *pod.Hosted) {
	w.pokeWatching(p.Pod.ID)
	if len(p.State.Pending) > 0 {
		w.poke(p.Pod.ID)
	}
}

// changed has triggers looked at that wait for the turns of a pod which was deleted.
func (w *Wing) changed(c hook.PodChange, id string) {
	if c == hook.PodDeleted {
		w.pokeWatching(id)
	}
}

// pokeWatching has the pods looked at that wait for the turns of a pod.
func (w *Wing) pokeWatching(id string) {
	w.mu.Lock()
	by := slices.Clone(w.watched[id])
	w.mu.Unlock()
	for _, b := range by {
		w.poke(b)
	}
}

// poke has a pod looked at soon.
func (w *Wing) poke(id string) {
	w.mu.Lock()
	w.next[id] = time.Time{}
	if g := w.looking[id]; g != nil {
		g.again = true
	}
	w.mu.Unlock()
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

// tick is how long podd may not notice that a machine slept or a clock was set.
const tick = 10 * time.Second

// run looks at each pod when it is time, until the Host begins to end.
func (w *Wing) run(ctx context.Context) {
	for {
		wait := time.NewTimer(min(max(w.launch().Sub(w.now()), 0), tick))
		select {
		case <-w.poked:
			wait.Stop()
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return
		}
	}
}

// launch starts the looks for which it is time, and returns when the next one is.
func (w *Wing) launch() (next time.Time) {
	now := w.now()
	next = now.Add(tick)
	var due []string
	w.mu.Lock()
	for id, at := range w.next {
		if w.looking[id] != nil {
			continue
		}
		if !at.After(now) {
			w.looking[id] = &glance{over: make(chan struct{})}
			due = append(due, id)
		} else if at.Before(next) {
			next = at
		}
	}
	w.mu.Unlock()
	for _, id := range due {
		w.Host.Go(func(ctx context.Context) { w.lookUntilDone(ctx, id) })
	}
	return next
}

// never is the next look at a pod whose triggers wait for something else than a time.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// lookUntilDone looks at a pod until nothing has changed meanwhile.
func (w *Wing) lookUntilDone(ctx context.Context, id string) {
	w.mu.Lock()
	g := w.looking[id]
	w.mu.Unlock()
	defer close(g.over)
	select {
	case w.looks <- struct{}{}:
		defer func() { <-w.looks }()
	case <-ctx.Done():
		return
	}
	for {
		next, err := w.look(ctx, id)
		if ctx.Err() != nil {
			return
		}
		gone := item.KindOf(err) == item.KindNotFound || item.ReasonOf(err) == store.ReasonNotOwner || item.KindOf(err) == item.KindDataLoss
		if err != nil && !gone {
			w.Host.Logger.Warn("cannot look at the triggers of a pod: podd tries again", "pod", id, "error", err)
			next = w.now().Add(tick)
		}
		if gone {
			w.files.unfollow(id, "")
		}
		w.mu.Lock()
		again := g.again
		g.again = false
		switch {
		case gone || next.IsZero():
			delete(w.next, id)
		default:
			w.next[id] = next
		}
		if !again {
			delete(w.looking, id)
		}
		w.mu.Unlock()
		if !again {
			select {
			case w.poked <- struct{}{}: // For run to count with the new time.
			default:
			}
			return
		}
	}
}

// deleting waits for the look at a pod that has ended: the pod that its fire creates has to be deleted too.
func (w *Wing) deleting(ctx context.Context, p item.Pod) {
	w.mu.Lock()
	g := w.looking[p.ID]
	w.mu.Unlock()
	if g == nil {
		return
	}
	select {
	case <-g.over:
	case <-ctx.Done():
	}
}

// home is a pod's triggers, read from its log once it is in memory.
func (w *Wing) home(ctx context.Context, p *pod.Hosted) (*home, error) {
	w.mu.Lock()
	h := w.homes[p.Pod.ID]
	if h == nil || h.life != p.Life() {
		h = &home{life: p.Life(), mu: make(lock, 1)}
	}
	w.mu.Unlock()
	if err := h.mu.take(ctx); err != nil {
		return nil, err
	}
	defer h.mu.Unlock()
	if h.all == nil {
		all, foreign, err := w.read(ctx, p.Pod.ID, p.State.Pending)
		if err != nil {
			return nil, err
		}
		if err := disown(ctx, p, foreign); err != nil {
			return nil, err
		}
		h.all = all
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.homes[p.Pod.ID]; known != nil && known.life == p.Life() {
		return known, nil
	}
	if h.life.Err() != nil {
		return h, nil // Another life may have begun, whose home stays.
	}
	w.homes[p.Pod.ID] = h
	context.AfterFunc(h.life, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.homes[p.Pod.ID] == h {
			delete(w.homes, p.Pod.ID)
		}
	})
	return h, nil
}

// read reads the triggers of a pod from its pending entries. foreign are those that it has of the pod that it was forked of.
func (w *Wing) read(ctx context.Context, id string, pending []item.Seq) (all []*trigger, foreign []item.Seq, err error) {
	byID := make(map[string]*trigger)
	for _, seq := range pending {
		var e item.Entry
		if err := w.Host.Logs.Entries(ctx, id, seq-1, wings, func(found item.Entry) bool {
			e = found
			return false
		}); err != nil {
			return nil, nil, err
		}
		switch of, ok := ofPod(e); {
		case !ok:
		case of.Pod != id:
			foreign = append(foreign, seq)
		default:
			if byID[of.ID] == nil {
				byID[of.ID] = new(trigger)
			}
			byID[of.ID].take(e)
		}
	}
	all = []*trigger{}
	for _, t := range byID {
		if err := t.prepare(); err != nil {
			return nil, nil, err
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *trigger) int { return strings.Compare(a.Name, b.Name) })
	return all, foreign, nil
}

// ofPod is the pod and the trigger that an entry of the wing is of.
func ofPod(e item.Entry) (of struct{ Pod, ID string }, ok bool) {
	k, _ := e.Kind.(item.WingEntry)
	return of, k.Wing == wing && json.Unmarshal([]byte(k.Data), &of) == nil
}

// take takes what a pending entry says of the trigger.
func (t *trigger) take(e item.Entry) {
	if d, ok := decode[definition](e, kindSet); ok {
		t.definition, t.set = d, e.Seq
	}
	if s, ok := decode[standing](e, kindState); ok {
		s.saw = t.saw
		t.state, t.at = s.state, e.Seq
	}
	if s, ok := decode[sight](e, kindFiles); ok {
		t.saw, t.filed = &s, e.Seq
	}
	if d, ok := decode[due](e, kindDue); ok {
		t.open = append(t.open, opened{d, e.Seq, true})
	}
}

// prepare makes what follows from the definition.
func (t *trigger) prepare() (err error) {
	if t.zone, err = t.location(); err != nil {
		return err
	}
	if t.saw != nil {
		t.view.sight = *t.saw
	}
	t.next, err = t.times(t.Added)
	return err
}

// disown ends what a fork has pending of its source.
func disown(ctx context.Context, p *pod.Hosted, foreign []item.Seq) error {
	if len(foreign) == 0 {
		return nil
	}
	var all []item.Kind
	for _, seq := range foreign {
		all = append(all, item.WingEntry{Wing: wing, Name: kindRemoved, Done: seq})
	}
	_, err := p.Record(ctx, func(time.Time, fold.State) []item.Kind { return all })
	return err
}

// entry is one of the wing.
func entry(kind, line string, object any) item.WingEntry {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // The objects are plain.
	}
	return item.WingEntry{Wing: wing, Name: kind, Line: line, Data: string(data)}
}

// record changes the state of a trigger and stores receipts, in one commit. It returns the entry of the first receipt.
// home.mu is held.
func (t *trigger) record(ctx context.Context, p *pod.Hosted, s state, receipts ...item.Kind) (item.Seq, error) {
	k := entry(kindState, "", standing{t.Pod, t.ID, s})
	k.Pending, k.Done = true, t.at
	all := []item.Kind{k}
	renewed, filed := t.at-t.oldest() > renewAfter, s.saw != t.saw
	if renewed {
		again := entry(kindSet, "", t.definition)
		again.Pending, again.Done = true, t.set
		all = append(all, again)
		filed = s.saw != nil
	}
	if filed {
		all = append(all, sighted(s.saw, t.filed))
	}
	seq, err := p.Record(ctx, func(time.Time, fold.State) []item.Kind { return append(slices.Clip(all), receipts...) })
	if err != nil {
		return 0, err
	}
	t.state, t.at = s, seq
	if renewed {
		seq++
		t.set = seq
	}
	if filed {
		seq++
		t.filed = seq
	}
	return seq + 1, nil
}

// sighted is the entry of what a trigger saw of its files, instead of an earlier one.
func sighted(s *sight, before item.Seq) item.WingEntry {
	k := entry(kindFiles, "", s)
	k.Pending, k.Done = true, before
	return k
}

// oldest is the oldest entry that is pending of the trigger besides its fires.
func (t *trigger) oldest() item.Seq {
	if t.saw != nil {
		return min(t.set, t.at, t.filed)
	}
	return min(t.set, t.at)
}

// renewAfter is how many entries may follow a pending one of a trigger before podd writes it again: nothing removes a pending
// entry, nor what follows it.
const renewAfter = 2048

// renew writes what is pending of a trigger again, if much of the log follows it.
func (w *Wing) renew(ctx context.Context, p *pod.Hosted, h *home, t *trigger) error {
	rec, err := w.Host.Store.Pod(ctx, p.Pod.ID)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if rec.Last-t.oldest() <= renewAfter || !slices.Contains(h.all, t) {
		return nil
	}
	if _, err := t.record(ctx, p, t.state); err != nil || t.at-t.oldest() <= renewAfter {
		return err
	}
	_, err = t.record(ctx, p, t.state)
	return err
}

// alert is an alert of a pod, for the commit with what it tells of.
func (w *Wing) alert(p *pod.Hosted, level item.Level, text string) item.Kind {
	return item.AlertRaised{Alert: item.Alert{Pod: p.Pod.ID, Level: level, Source: "triggers", Text: text, Time: w.now()}}
}

// decode is the object of an entry of the wing.
func decode[T any](e item.Entry, kind string) (object T, ok bool) {
	k, _ := e.Kind.(item.WingEntry)
	if k.Wing != wing || k.Name != kind {
		return object, false
	}
	return object, json.Unmarshal([]byte(k.Data), &object) == nil
}

func wings(k wire.KindNumber) bool { return k == wire.KindWing }
