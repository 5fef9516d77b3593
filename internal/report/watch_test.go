package report_test

import (
	"context"
	"testing"
	"time"

	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// works reads a watch of all pods until the work of the pod p is as wanted.
func (h *house) works(want func(item.Pod, report.Work) bool) report.Work {
	h.t.Helper()
	for c, err := range report.Watch(h.t.Context(), h.host, true) {
		if err != nil {
			h.t.Fatal(err)
		}
		if c.Pod == nil {
			continue
		}
		if c.Work == nil {
			h.t.Fatal("a change comes without the pod's work")
		}
		if p := *c.Pod; p.Name == "p" && want(p, *c.Work) {
			return *c.Work
		}
	}
	return report.Work{}
}

// A watcher that asks learns when the turn began, what runs, how full the context is and
// what the turn and the day cost; after a restart, when no pod is in memory, the same.
func TestWorkOfAPod(t *testing.T) {
	waiting, open := make(chan struct{}), make(chan struct{})
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		reply := scripted.Say(scripted.Text("next"))
		if r.LastUser() == "go" {
			close(waiting)
			reply = scripted.Say(scripted.Text("so far"), scripted.Wait(open), scripted.Text(" and the rest"))
		}
		reply.Usage = &item.Usage{Input: 1_000_000, CachedInput: 500_000, Output: 1000}
		return reply
	})
	for range report.Watch(t.Context(), h.host, true) {
		break
	}
	h.submit("go")
	<-waiting
	busy := h.works(func(_ item.Pod, w report.Work) bool { return !w.Began.IsZero() && w.Tokens > 0 })
	var began time.Time
	for _, e := range h.log() {
		if _, ok := e.Kind.(item.TurnStarted); ok {
			began = e.Time
		}
	}
	if !busy.Began.Equal(began) || busy.Turn.Cost != 0 || busy.Day.Cost != 0 {
		t.Errorf("while it runs: %+v, began %v", busy, began)
	}
	close(open)
	h.ended(1)
	const cost = .56
	done := h.works(func(p item.Pod, _ report.Work) bool { return p.Status.State == item.StateIdle })
	if !done.Began.IsZero() || done.Turn.Cost != cost || done.Day.Cost != cost || done.Tokens < 1_000_000 {
		t.Errorf("afterwards: %+v", done)
	}
	h.restart()
	if again := h.works(func(item.Pod, report.Work) bool { return true }); again != done {
		t.Errorf("after a restart: %+v, not %+v", again, done)
	}
	h.submit("more")
	h.ended(2)
	if later := h.works(func(item.Pod, report.Work) bool { return true }); later.Turn.Cost != cost || later.Day.Cost != 2*cost {
		t.Errorf("after a second turn: %+v", later)
	}
	// Who does not ask gets nothing of it.
	for c := range report.Watch(t.Context(), h.host, false) {
		if c.Work != nil {
			t.Errorf("work %+v", c.Work)
		}
		break
	}
}

// The first answer does not wait for the logs of many pods; they follow bit by bit.
func TestWorkOfManyPods(t *testing.T) {
	h := newHouse(t, scripted.Answers(scripted.Say(scripted.Text("done"))))
	h.submit("go")
	h.ended(1)
	for _, name := range []string{"q", "r"} {
		if _, err := h.host.Fork(t.Context(), "p", name, 0); err != nil {
			t.Fatal(err)
		}
	}
	h.restart()
	report.FoldEntries(t, 1)
	known := make(map[string]bool)
	for c, err := range report.Watch(t.Context(), h.host, true) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Pod != nil && c.Work.Tokens > 0 {
			known[c.Pod.Name] = true
		}
		if c.Complete && len(known) != 1 {
			t.Errorf("at first it knows %v", known)
		}
		if len(known) == 3 {
			break
		}
	}
}

// The pace of an answer is measured from where it was first seen, and starts over with the next answer.
func TestPaceOfAnAnswer(t *testing.T) {
	got := report.Paces([]int{0, 100, 1100, 2100, 50, 60, 2050})
	want := []int{0, 100, 550, 700, 0, 10, 1000}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("paces %v, want %v", got, want)
		}
	}
}
