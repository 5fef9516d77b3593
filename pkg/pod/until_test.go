package pod_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// fence is an interceptor that pauses each request until a time while it is closed.
type fence struct {
	mu    sync.Mutex
	until time.Time
	again chan struct{}
	asked int
}

func newFence(until time.Time) *fence { return &fence{until: until, again: make(chan struct{})} }

func (f *fence) edges() *edges { return &edges{name: "fence", request: f.decide} }

func (f *fence) decide(r interceptor.Request) interceptor.RequestVerdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.until.IsZero() {
		return r.Continue()
	}
	return r.PauseUntil("closed", f.until, f.again)
}

// set gives the fence another time, and it wants to be asked again.
func (f *fence) set(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = until
	close(f.again)
	f.again = make(chan struct{})
}

// A pause until a time shows that time and raises no alert, also after podd was killed; it
// ends when the interceptor changes its mind.
func TestPauseUntilATime(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	fc, f := newFence(tomorrow), new(faulty)
	h := newHouse(t, steps(scripted.Say(shell("true"))), with(fc.edges()), func(c *options) { f.Store, c.Store = c.Store, f })
	s := h.submit("go")
	want := func() {
		t.Helper()
		p := h.paused()
		pause := p.Status.Pause
		if p.Status.Reason != "fence paused the pod: closed" || !p.Status.WaitUntil.Equal(tomorrow) || pause.By != "fence" || pause.At != "before_request 1" || !pause.Until.Equal(tomorrow) {
			t.Errorf("status %+v, pause %+v", p.Status, pause)
		}
	}
	want()
	for i := range 5 {
		h.kill(f)
		h.recovered(i + 1)
		want()
	}
	for _, w := range h.warned() {
		if strings.Contains(w, "closed") {
			t.Errorf("alert %q", w)
		}
	}
	fc.set(time.Time{})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	if p := h.get(); p.Status.Pause != nil || !p.Status.WaitUntil.IsZero() || p.Status.State != item.StateIdle {
		t.Errorf("status %+v", p.Status)
	}
}

// get is the pod.
func (h *house) get() item.Pod {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// An interceptor that changes its mind between its verdict and the pause is asked again.
func TestPauseUntilChangesAtOnce(t *testing.T) {
	fc := newFence(time.Now().Add(time.Hour))
	once := &edges{name: "fence", request: func(r interceptor.Request) interceptor.RequestVerdict {
		v := fc.decide(r)
		if fc.asked == 1 {
			fc.set(time.Time{})
		}
		return v
	}}
	h := newHouse(t, steps(), with(once))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || fc.asked != 2 {
		t.Errorf("end %+v after asking %d times", end, fc.asked)
	}
}

// Who resumes the pod earlier lets this turn go on until that time, also after podd was
// killed; another interceptor still decides, and the next turn waits again.
func TestResumeBeforeTheTime(t *testing.T) {
	fc, f := newFence(time.Now().Add(time.Hour)), new(faulty)
	g := newGate()
	var mu sync.Mutex
	var decided int
	inner := &edges{name: "inner", request: func(r interceptor.Request) interceptor.RequestVerdict {
		mu.Lock()
		defer mu.Unlock()
		decided++
		return r.Continue()
	}}
	h := newHouse(t, g.working, with(fc.edges(), inner), func(c *options) { f.Store, c.Store = c.Store, f })
	s := h.submit("go")
	h.paused()
	h.resume()
	<-g.waiting
	if p := h.get(); len(p.Status.Lifted) != 1 || p.Status.Lifted[0].By != "fence" {
		t.Errorf("status %+v", p.Status)
	}
	h.kill(f)
	close(g.open)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || decided < 2 {
		t.Errorf("end %+v, the other one decided %d times", end, decided)
	}
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle })
	if p := h.get(); p.Status.Pause != nil || len(p.Status.Lifted) != 0 {
		t.Errorf("status %+v", p.Status)
	}
	next := h.submit("next")
	h.paused()
	// A later time is another pause, also for a turn that a person let go on.
	h.resume()
	h.ended(next)
	later := h.submit("later")
	h.paused()
	fc.mu.Lock()
	fc.until = fc.until.Add(time.Hour)
	fc.mu.Unlock()
	h.resume()
	if p := h.paused(); p.Status.Pause.Until.Before(time.Now().Add(90 * time.Minute)) {
		t.Errorf("pause %+v", p.Status.Pause)
	}
	h.resume()
	h.ended(later)
}

// A pause until a time ends with its turn; a person's pause replaces it and stays.
func TestPauseUntilAndAPerson(t *testing.T) {
	fc := newFence(time.Now().Add(time.Hour))
	h := newHouse(t, steps(), with(fc.edges()))
	s := h.submit("go")
	h.paused()
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Pause == nil })

	s = h.submit("again")
	h.paused()
	h.pause()
	fc.set(time.Time{})
	if p := h.paused(); p.Status.Reason != "lunch" {
		t.Errorf("status %+v", p.Status)
	}
	h.restart()
	if p := h.paused(); p.Status.Reason != "lunch" {
		t.Errorf("status %+v", p.Status)
	}
	h.resume()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}
