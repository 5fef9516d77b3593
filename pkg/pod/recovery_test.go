package pod_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// wantAlerts compares the alerts of recovery with texts that they contain, in order.
func (h *house) wantAlerts(want ...string) {
	h.t.Helper()
	alerts, err := h.host.Alerts.List(h.t.Context(), pod.AlertQuery{})
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	for _, a := range alerts {
		if a.Source == "recovery" {
			got = append(got, a.Text)
		}
	}
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.Contains(got[i], want[i])
	}
	if !ok {
		h.t.Errorf("alerts %q, want %q", got, want)
	}
}

// A turn that lay still for long waits for a person, over any number of starts, if the settings say so. What it had
// begun is looked up before.
func TestResumeWithin(t *testing.T) {
	for name, c := range map[string]struct {
		within, still time.Duration
		waits         bool
	}{
		"always":    {within: 0, still: 1000 * time.Hour},
		"ask":       {within: 1, still: time.Second, waits: true},
		"not long":  {within: 12 * time.Hour, still: 11 * time.Hour},
		"long":      {within: 12 * time.Hour, still: 13 * time.Hour, waits: true},
		"back then": {within: time.Hour, still: -time.Hour}, // The clock was put back.
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{}, 1)
			var later time.Duration
			h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
				switch {
				case r.Steps() == 0:
					return scripted.Say(waits)
				case r.Attempt == 1:
					asked <- struct{}{}
				}
				return scripted.Say(scripted.Text("done"))
			}, func(o *options) {
				at := later
				o.Now = func() time.Time { return time.Now().Add(at) }
				o.ResumeWithin = c.within
			})
			s := h.submit("go")
			h.marked()
			f.set(func(store.Batch) error { return errKilled })
			h.write("go", "")
			later = c.still
			h.kill(f)
			if !c.waits {
				h.wantAlerts("turns go on in p (interrupted: shell)")
			} else {
				p := h.paused()
				if !p.Status.Pause.FromStart() || len(h.model.Requests()) != 1 {
					t.Errorf("status %+v, %d requests", p.Status, len(h.model.Requests()))
				}
				later *= 2
				h.kill(f)
				h.paused()
				const says = "paused until podctl resume --all: p"
				h.wantAlerts(says+" (interrupted: shell)", says)
				h.resume()
			}
			<-asked
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			later = 0
		})
	}
}

// A question is a person's turn already: its pod is not paused.
func TestResumeWithinAndAQuestion(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x")), scripted.Say(scripted.Text("done"))), unsandboxed, func(o *options) { o.ResumeWithin = 1 })
	s := h.submit("go")
	h.asked(1)
	h.kill(f)
	h.wantAlerts("waiting for an answer: p")
	h.yes()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A pod goes on with its sub-pods, which a start paused with it.
func TestResumeReachesAll(t *testing.T) {
	h := spawning(t, 2, chain(waits), func(o *options) { o.ResumeWithin = 1 })
	s := h.submit("go")
	h.marked()
	h.close()
	h.write("go", "")
	h.open()
	for _, p := range h.pods() {
		h.awaitPod(p.ID, func(p item.Pod) bool { return p.Status.Pause.FromStart() })
	}
	h.resume()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}
