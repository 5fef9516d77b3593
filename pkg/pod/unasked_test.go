package pod_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/triggers"
	"podd/pkg/item"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// What begins without a person: triggers that are set, changed, paused and removed, at times and at events, and letters, while
// the pod works, is deleted, restored and forked, with stops and kills. Each acknowledged event and letter counts once; each due
// time has one receipt; each fire has one submit, which one turn takes.
func TestAnythingUnasked(t *testing.T) {
	anything(t,
		"letter", "letter", "trigger", "trigger", "event", "event", "event", "event", "hold", "unhold", "untrigger", "later", "later", "clock", "again",
		"submit", "begin", "steer", "withdraw", "cancel", "pause", "resume", "approve", "approve", "fork", "stop", "kill", "kill", "delete", "restore", "restore",
	)
}

// unasked is what clients learned of letters and triggers.
type unasked struct {
	// letters are the texts of letters that may not have been accepted; those that were are notes.
	letters []string
	// events are the ids of acknowledged events.
	events map[string]bool
}

// fact is what an entry of triggers says.
type fact struct {
	ID, Name, Event, To, Cause string
	N                          int64
	Count                      int
	Due, First, Last           time.Time
	Seq                        item.Seq
}

func (m *machine) doUnasked(action string) {
	fires := m.fires
	name := []string{"hourly", "event"}[m.choices.IntN(2)]
	switch {
	case action == "letter":
		m.letter(m.name("letter"))
		return
	case action == "later":
		time.Sleep([]time.Duration{time.Second, time.Minute, time.Hour, 5 * time.Hour}[m.choices.IntN(4)])
		return
	case fires == nil:
		return
	}
	switch action {
	case "trigger":
		spec := triggers.Spec{Prompt: "queue of a trigger", Event: name == "event", Skip: m.chance(4), Missed: []string{"", "skip", "all:3"}[m.choices.IntN(3)]}
		if m.chance(3) {
			spec.New, spec.Prompt = "new-"+name+"-{n}", "child of a trigger"
		}
		if name == "hourly" {
			spec.Every = time.Hour
		} else {
			spec.Missed = ""
		}
		change := m.chance(3)
		m.call(action, func(ctx context.Context, _ *pod.Host) error {
			_, err := fires.Set(ctx, triggers.Setting{Pod: "p", Name: name, By: "ann", Change: change, Spec: spec})
			return err
		}, func() {})
	case "untrigger":
		m.call(action, func(ctx context.Context, _ *pod.Host) error { return fires.Remove(ctx, "p", name) }, func() {})
	case "hold", "unhold":
		m.call(action, func(ctx context.Context, _ *pod.Host) error {
			_, err := fires.Pause(ctx, "p", name, "ann", action == "unhold")
			return err
		}, func() {})
	case "event":
		if id := fmt.Sprint("event", m.choices.IntN(8)); m.chance(2) {
			m.event(id, "event")
		} else {
			m.event(m.name("event"), name)
		}
	}
}

func (m *machine) letter(text string) {
	mail := m.mail
	m.mu.Lock()
	if !slices.Contains(m.unasked.letters, text) {
		m.unasked.letters = append(m.unasked.letters, text)
	}
	m.mu.Unlock()
	m.call("letter", func(ctx context.Context, _ *pod.Host) error {
		_, err := mail.Notify(ctx, &poddv1.NotifyRequest{Pod: "p", Text: text, Wake: len(text)%2 == 0, RequestId: text}, "ann")
		return err
	}, func() {
		m.unasked.letters = slices.DeleteFunc(m.unasked.letters, func(other string) bool { return other == text })
		if !slices.Contains(m.notes, text) {
			m.notes = append(m.notes, text)
		}
	})
}

func (m *machine) event(id, name string) {
	fires := m.fires
	var got triggers.Receipt
	m.call("event", func(ctx context.Context, _ *pod.Host) (err error) {
		got, _, err = fires.Fire(ctx, triggers.Event{Pod: "p", Name: name, ID: id})
		return err
	}, func() {
		if got.Seq == 0 {
			m.t.Errorf("event %s was acknowledged without an entry: %+v", id, got)
		}
		if m.unasked.events == nil {
			m.unasked.events = map[string]bool{}
		}
		m.unasked.events[id] = true
	})
}

// calm says that nothing waits of what begins without a person. What was paused goes on.
func (m *machine) calm() bool {
	m.mu.Lock()
	letters := slices.Clone(m.unasked.letters)
	m.mu.Unlock()
	for _, text := range letters {
		m.letter(text)
	}
	if m.fires == nil {
		return len(letters) == 0
	}
	all, err := m.fires.List(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	calm := len(letters) == 0
	for _, t := range all {
		if t.State.Paused != "" {
			_, err := m.fires.Pause(m.t.Context(), "p", t.Name, "ann", true)
			calm = calm && err == nil
		}
		calm = calm && t.State.Waiting+t.State.Working == 0 && t.State.Paused == ""
	}
	return calm
}

// unaskedOnce checks the receipts, and takes the submits of fires out of taken and withdrawn.
func (m *machine) unaskedOnce(log []item.Entry, taken, withdrawn map[string]int) {
	own, err := m.host.Get(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	notes := map[string]int{}
	for _, k := range kinds[item.Note](log) {
		if notes[k.Text]++; strings.HasPrefix(k.Text, "letter ") && notes[k.Text] > 1 {
			m.t.Errorf("%s is in the log twice", k.Text)
		}
	}
	r := receipts{t: m.t, own: own.ID, taken: taken, withdrawn: withdrawn, ids: map[string]string{}, dues: map[string]int{}, fires: map[string]int{},
		events: map[string]int{}, times: map[string][]fact{}}
	for _, e := range log {
		if k, ok := e.Kind.(item.WingEntry); ok && k.Wing == "triggers" {
			r.add(k)
		}
	}
	r.contiguous()
	for id := range m.unasked.events {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.events)), func(key string) bool { return strings.HasSuffix(key, " "+id) }) {
			m.t.Errorf("the event %s was acknowledged, and is lost", id)
		}
	}
	all, err := m.fires.List(m.t.Context(), "p")
	if err != nil {
		m.t.Fatal(err)
	}
	for fire, n := range r.dues {
		there := slices.ContainsFunc(all, func(t triggers.Trigger) bool { return strings.HasPrefix(fire, "trigger/"+r.ids[t.Name]+"/") })
		if n != 1 || r.fires[fire] > 1 || there && r.fires[fire] == 0 {
			m.t.Errorf("%s is due %d times and fired %d times", fire, n, r.fires[fire])
		}
	}
}

// receipts are those of a log. fires are named as their submits are.
type receipts struct {
	t                *testing.T
	own              string
	taken, withdrawn map[string]int
	// ids are those of the triggers that have a name now, times the receipts of due times of each.
	ids         map[string]string
	times       map[string][]fact
	dues, fires map[string]int
	// events are the ids of triggers and events.
	events map[string]int
}

func (r *receipts) add(k item.WingEntry) {
	var o fact
	if !slices.Contains([]string{"set", "due", "passed", "fired"}, k.Name) {
		return
	}
	if k.Name == "set" {
		k.Data = strings.Replace(k.Data, `"event":true`, `"event":""`, 1) // There it is the condition.
	}
	if err := json.Unmarshal([]byte(k.Data), &o); err != nil {
		r.t.Fatal(err)
	}
	fire := fmt.Sprintf("trigger/%s/%d", o.ID, o.N)
	switch k.Name {
	case "set":
		r.ids[o.Name] = o.ID
	case "due":
		r.dues[fire]++
		o.First, o.Last, o.Count = o.Due, o.Due, 1
	case "fired":
		if r.fires[fire]++; o.Seq > 0 && o.To == r.own && r.taken[fire]+r.withdrawn[fire] != 1 {
			r.t.Errorf("%s has a submit, taken %d times and withdrawn %d times", fire, r.taken[fire], r.withdrawn[fire])
		}
		if o.Cause != "" && !strings.HasPrefix(o.Cause, "the trigger was removed") {
			r.t.Errorf("%s failed: %s", fire, o.Cause)
		}
		delete(r.taken, fire)
	}
	switch {
	case k.Name != "due" && k.Name != "passed":
	case o.Event != "":
		if r.events[o.ID+" "+o.Event]++; r.events[o.ID+" "+o.Event] > 1 {
			r.t.Errorf("the event %s counts twice for trigger %s", o.Event, o.ID)
		}
	default:
		r.times[o.ID] = append(r.times[o.ID], o)
	}
}

// contiguous checks that each due time has one receipt.
func (r *receipts) contiguous() {
	for id, all := range r.times {
		slices.SortFunc(all, func(a, b fact) int { return a.First.Compare(b.First) })
		for i, f := range all {
			if i > 0 && !f.First.Equal(all[i-1].Last.Add(time.Hour)) || !f.Last.Equal(f.First.Add(time.Duration(f.Count-1)*time.Hour)) {
				r.t.Errorf("trigger %s: %d due times from %v to %v, after %+v", id, f.Count, f.First, f.Last, all[:i])
			}
		}
	}
}
