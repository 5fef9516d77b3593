package triggers

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Trigger is a trigger as it stands.
type Trigger struct {
	// Pod is the pod that it belongs to, After the name of the pod after whose turns it fires.
	Pod   item.Pod
	After string
	Name  string
	Added time.Time
	// URL is that of a webhook; empty if podd does not listen.
	URL string
	// Own says that the pod's model added it. By is the call that did.
	Own bool
	By  string
	Spec
	State
}

// State is how a trigger stands.
type State struct {
	// Next is when it is due next; zero if it is paused or has no times.
	Next time.Time
	// Fires counts them, Today those of today, Spent what its turns of today cost.
	Fires int64
	Today int
	Spent float64
	// Waiting are the fires without a submit, Working those with a turn that has not ended.
	Waiting, Working int
	// Paused says why it is paused, Last what became of the last due time.
	Paused, Last string
}

// with does something with the triggers of a pod that this podd has. home.mu is held.
func (w *Wing) with(ctx context.Context, idOrName string, do func(p *pod.Hosted, h *home) error) error {
	p, release, err := w.Host.Keep(ctx, idOrName)
	if err != nil {
		return err
	}
	defer release()
	h, err := w.home(ctx, p)
	if err != nil {
		return err
	}
	if err := h.mu.take(ctx); err != nil {
		return err
	}
	defer h.mu.Unlock()
	defer w.poke(p.Pod.ID)
	return do(p, h)
}

// find is a trigger by its name.
func (h *home) find(p item.Pod, name string) (*trigger, error) {
	if i := slices.IndexFunc(h.all, func(t *trigger) bool { return t.Name == name }); i >= 0 {
		return h.all[i], nil
	}
	return nil, item.Errorf(item.KindNotFound, "TRIGGER_NOT_FOUND", "pod %s has no trigger %q: podctl trigger list shows all", p.Name, name)
}

// Setting is what sets a trigger.
type Setting struct {
	Pod, Name string
	Spec
	// Change says that the trigger exists, NewSecret that its webhook gets another secret. By is who sets it; Own says that
	// the pod's model does.
	Change    bool
	NewSecret bool
	By        string
	Own       bool
}

// validName says whether a trigger can have a name: those of pods.
func validName(name string) bool { return len(name) <= maxName && item.ValidPodName(name) }

// Set adds or changes a trigger.
func (w *Wing) Set(ctx context.Context, s Setting) (set Trigger, err error) {
	now := w.now()
	if !validName(s.Name) {
		return set, invalid("a trigger can't be named %q: a name has small letters, digits and dashes, at most %d", s.Name, maxName)
	}
	if most := w.Host.Settings().MaxSubmitBytes / 2; len(s.Prompt) > most {
		return set, invalid("the prompt has %d bytes; the limit is %d, for the text of an event follows it: put long text into a file and name it with @", len(s.Prompt), most)
	}
	if err := s.check(now); err != nil {
		return set, err
	}
	var seen item.Seq
	if s.After != "" {
		after, err := w.Host.Store.Pod(ctx, s.After)
		if err != nil {
			return set, err
		}
		s.After, seen = after.ID, after.Last
	}
	saw, err := w.sees(ctx, s.Pod, &s.Spec)
	if err != nil {
		return set, err
	}
	err = w.with(ctx, s.Pod, func(p *pod.Hosted, h *home) error {
		if s.After == p.Pod.ID {
			return invalid("a pod can't have a trigger after its own turns: each would begin the next")
		}
		if s.Checkout && p.Pod.Spec.Parent != "" {
			return invalid("pod %s is a sub-pod, which stays in the directories of the pod above it: add a trigger with a checkout to that pod", p.Pod.Name)
		}
		if saw != nil {
			saw.From = max(p.State.Turn.Began-1, 0)
		}
		t, err := h.set(ctx, p, s, state{Cursor: now, AfterSeq: seen, saw: saw})
		if err != nil {
			return err
		}
		if s.File == "" {
			w.files.unfollow(p.Pod.ID, t.ID)
		}
		set, err = w.shown(ctx, p.Pod, t)
		return err
	})
	return set, err
}

// set stores the definition of a trigger, which counts from a state on if the condition is new.
func (h *home) set(ctx context.Context, p *pod.Hosted, s Setting, from state) (*trigger, error) {
	now := from.Cursor
	old, err := h.find(p.Pod, s.Name)
	made := &trigger{
		definition: definition{Pod: p.Pod.ID, ID: strings.ToLower(rand.Text()[:12]), Name: s.Name, By: s.By, Own: s.Own, Added: now, Spec: s.Spec},
		state:      from,
	}
	switch {
	case err == nil && !s.Change:
		return nil, item.Errorf(item.KindExists, "TRIGGER_EXISTS", "pod %s has a trigger %q already: change it with podctl trigger edit", p.Pod.Name, s.Name)
	case err != nil && s.Change:
		return nil, err
	case err == nil:
		made.ID, made.Salt, made.Added, made.Own, made.state, made.open, made.ids = old.ID, old.Salt, old.Added, old.Own, old.on(now), old.open, old.ids
		if before, after := condition(old.Spec), condition(s.Spec); before != after {
			made.Added, made.state.Cursor, made.AfterSeq, made.saw = now, now, from.AfterSeq, from.saw
		}
	case s.Own && h.own() >= maxSchedule:
		return nil, item.Errorf(item.KindExhausted, "TOO_MANY_TRIGGERS", "you have %d triggers, which is the most: remove one", maxSchedule)
	case len(h.all) >= maxPod:
		return nil, item.Errorf(item.KindExhausted, "TOO_MANY_TRIGGERS", "pod %s has %d triggers, which is the most: remove one", p.Pod.Name, maxPod)
	}
	if s.NewSecret {
		made.Salt = rand.Text()
	}
	if made.saw == from.saw && made.saw != nil {
		made.saw.Pod, made.saw.ID = made.Pod, made.ID
	}
	if err := made.prepare(); err != nil {
		return nil, err
	}
	if old == nil {
		old = new(trigger)
	}
	verb := map[bool]string{false: "added", true: "changed"}[s.Change]
	definition := entry(kindSet, fmt.Sprintf("trigger %s %s: %s", s.Name, verb, sanitize.Line(made.condition("a pod"))), made.definition)
	definition.Pending, definition.Done = true, old.set
	standing := entry(kindState, "", standing{made.Pod, made.ID, made.state})
	standing.Pending, standing.Done = true, old.at
	all := []item.Kind{definition, standing}
	switch {
	case made.saw != old.saw && made.saw != nil:
		all = append(all, sighted(made.saw, old.filed))
	case made.saw != old.saw:
		all = append(all, item.WingEntry{Wing: wing, Name: kindRemoved, Done: old.filed})
	}
	seq, err := p.Record(ctx, func(time.Time, fold.State) []item.Kind { return all })
	if err != nil {
		return nil, err
	}
	if made.set, made.at, made.filed = seq, seq+1, old.filed; made.saw != old.saw {
		made.filed = seq + 2
	}
	if !s.Change {
		h.all = append(h.all, made)
	} else {
		h.all[slices.Index(h.all, old)] = made
	}
	return made, nil
}

// own counts the triggers that the model of the pod added.
func (h *home) own() (n int) {
	for _, t := range h.all {
		if t.Own {
			n++
		}
	}
	return n
}

// condition are the parts of a spec that say when it is due.
func condition(s Spec) string {
	return fmt.Sprint(s.Cron, "\n", s.Zone, "\n", s.Every, "\n", s.At.UnixNano(), "\n", s.After, "\n", s.On, "\n", s.File)
}

// Remove removes a trigger, and the fires that wait. Its turns go on.
func (w *Wing) Remove(ctx context.Context, idOrName, name string) error {
	return w.remove(ctx, idOrName, name, false)
}

// remove is Remove; own refuses a trigger that a person added.
func (w *Wing) remove(ctx context.Context, idOrName, name string, own bool) error {
	return w.with(ctx, idOrName, func(p *pod.Hosted, h *home) error {
		t, err := h.find(p.Pod, name)
		if err == nil && own && !t.Own {
			err = item.Errorf(item.KindPrecondition, "NOT_YOURS", "a person added trigger %s: only a person removes it", name)
		}
		if err != nil {
			return err
		}
		removed := entry(kindRemoved, fmt.Sprintf("trigger %s removed", name), passed{Pod: p.Pod.ID, ID: t.ID, What: "removed"})
		removed.Done = t.set
		all := []item.Kind{removed, item.WingEntry{Wing: wing, Name: kindRemoved, Done: t.at}}
		if t.saw != nil {
			all = append(all, item.WingEntry{Wing: wing, Name: kindRemoved, Done: t.filed})
			defer w.files.unfollow(p.Pod.ID, t.ID)
		}
		for _, o := range t.open {
			cause := "the trigger was removed"
			if o.tried {
				cause += " while it fired: a pod may have its prompt"
			}
			k := entry(kindFired, "", fired{Pod: p.Pod.ID, ID: t.ID, N: o.N, Cause: cause})
			k.Done = o.seq
			all = append(all, k)
		}
		if _, err := p.Record(ctx, func(time.Time, fold.State) []item.Kind { return all }); err != nil {
			return err
		}
		h.all = slices.DeleteFunc(h.all, func(other *trigger) bool { return other == t })
		return nil
	})
}

// Pause pauses a trigger, or goes on with it. Either a second time changes nothing.
func (w *Wing) Pause(ctx context.Context, idOrName, name, by string, resume bool) (now Trigger, err error) {
	err = w.with(ctx, idOrName, func(p *pod.Hosted, h *home) error {
		t, err := h.find(p.Pod, name)
		if err != nil {
			return err
		}
		if resume == (t.Paused != "") {
			s, what := t.on(w.now()), "paused"
			if s.Paused = "by " + by; resume {
				s.Paused, s.Failed, what = "", 0, "resumed"
			}
			k := entry(kindChanged, fmt.Sprintf("trigger %s %s by %s", name, what, sanitize.Line(by)), passed{Pod: p.Pod.ID, ID: t.ID, What: what, Why: by})
			if _, err := t.record(ctx, p, s, k); err != nil {
				return err
			}
		}
		now, err = w.shown(ctx, p.Pod, t)
		return err
	})
	return now, err
}

// Event is something that fires a trigger.
type Event struct {
	Pod, Name string
	// ID names it, so that it fires once; empty counts always. Data is for the model.
	ID, Data string
}

// Fire fires a trigger. It returns once that is on disk. again says that the event was known.
func (w *Wing) Fire(ctx context.Context, e Event) (r Receipt, again bool, err error) {
	switch {
	case len(e.Data) > w.maxData():
		return r, false, item.Errorf(item.KindExhausted, "EVENT_TOO_LARGE", "the text of the event has %d bytes; the limit is %d: put it into a file and name that", len(e.Data), w.maxData())
	case len(e.ID) > maxEventID:
		return r, false, invalid("the id of the event has %d bytes; the limit is %d", len(e.ID), maxEventID)
	}
	err = w.with(ctx, e.Pod, func(p *pod.Hosted, h *home) error {
		t, err := h.find(p.Pod, e.Name)
		if err != nil {
			return err
		}
		now := w.now()
		if n, ok, err := w.knows(ctx, t, e.ID, now); err != nil || ok {
			r, again = Receipt{Seq: n.seq, Kind: Fired, Number: n.n, Due: n.at, First: n.at, Count: 1, Event: e.ID}, true
			return err
		}
		s := t.on(now)
		r = Receipt{Kind: Pending, Due: now, First: now, Count: 1, Event: e.ID}
		var fires []due
		var receipts []passed
		switch what, why := t.decide(s); {
		case what != "":
			r.Kind, r.Cause = Skipped, why
			receipts = []passed{{What: what, Why: why, Count: 1, First: now, Last: now, Event: e.ID}}
		case len(t.open) >= maxWaiting:
			return item.Errorf(item.KindExhausted, "TRIGGER_BUSY", "%d fires of trigger %s wait already: fire it again later", maxWaiting, e.Name)
		default:
			s.Fires++
			r.Number = s.Fires
			fires = []due{{Pod: p.Pod.ID, ID: t.ID, N: s.Fires, Due: now, Event: e.ID, Data: e.Data}}
		}
		if r.Seq, err = w.store(ctx, p, t, s, fires, receipts); err != nil {
			return err
		}
		if e.ID != "" {
			t.ids[e.ID] = known{r.Number, now, r.Seq}
		}
		return nil
	})
	return r, again, err
}

// maxData is the longest text of an event, in bytes.
func (w *Wing) maxData() int { return min(maxData, w.Host.Settings().MaxSubmitBytes/4) }

// knows says whether podd had an event of a trigger in the last days. home.mu is held.
func (w *Wing) knows(ctx context.Context, t *trigger, id string, now time.Time) (known, bool, error) {
	if id == "" {
		return known{}, false, nil
	}
	if t.ids == nil {
		ids := make(map[string]known)
		err := w.Host.Logs.Entries(ctx, t.Pod, 0, wings, func(e item.Entry) bool {
			if d, ok := decode[due](e, kindDue); ok && d.ID == t.ID && d.Event != "" {
				ids[d.Event] = known{d.N, d.Due, e.Seq}
			} else if r, ok := decode[passed](e, kindPassed); ok && r.ID == t.ID && r.Event != "" {
				ids[r.Event] = known{0, r.Last, e.Seq}
			}
			return true
		})
		if err != nil {
			return known{}, false, err
		}
		t.ids = ids
	}
	for id, k := range t.ids {
		if now.Sub(k.at) > keepIDs {
			delete(t.ids, id)
		}
	}
	k, ok := t.ids[id]
	return k, ok, nil
}

// shown is a trigger for others. home.mu is held, or nobody else has t.
func (w *Wing) shown(ctx context.Context, p item.Pod, t *trigger) (Trigger, error) {
	now := w.now()
	s := t.on(now)
	shown := Trigger{Pod: p, URL: w.url(p, t), Name: t.Name, Added: t.Added, Own: t.Own, By: t.By, Spec: t.Spec, State: State{
		Fires: s.Fires, Today: s.Today, Spent: s.Spent, Waiting: len(t.open), Working: len(s.Under), Paused: s.Paused, Last: s.Last,
	}}
	if t.next != nil && s.Paused == "" {
		shown.Next = t.next(s.Cursor)
	}
	if t.After != "" {
		after, err := w.Host.Store.Pod(ctx, t.After)
		if err != nil && item.KindOf(err) != item.KindNotFound {
			return shown, err
		}
		if shown.After = after.Name; err != nil {
			shown.After = "a deleted pod"
		}
	}
	return shown, nil
}

// List are the triggers of a pod, or of all pods, by what the logs say: also of pods of other nodes.
func (w *Wing) List(ctx context.Context, idOrName string) (all []Trigger, err error) {
	pods, err := w.Host.SelectPods(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	for _, p := range pods {
		triggers, err := w.stored(ctx, p)
		if err != nil {
			if idOrName == "" && item.KindOf(err) == item.KindDataLoss {
				continue // An alert tells of it.
			}
			return nil, err
		}
		for _, t := range triggers {
			shown, err := w.shown(ctx, p, t)
			if err != nil {
				return nil, err
			}
			all = append(all, shown)
		}
	}
	return all, nil
}

// stored are the triggers of a pod by what its log says.
func (w *Wing) stored(ctx context.Context, p item.Pod) ([]*trigger, error) {
	if p.Status.Pending == 0 {
		return nil, nil
	}
	f, err := w.Host.Logs.Fold(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	all, _, err := w.read(ctx, p.ID, f.State.Pending)
	return all, err
}
