package pod_test

import (
	"context"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// works reads a watch of all pods until the work of the pod p is as wanted.
func (h *house) works(want func(item.Pod, pod.Work) bool) pod.Work {
	h.t.Helper()
	for c, err := range h.host.Watch(h.t.Context(), true) {
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
	return pod.Work{}
}

// A watcher that asks learns when the turn began, what runs, how full the context is and
// what the turn and the day cost; after a restart, when no pod is in memory, the same.
func TestWorkOfAPod(t *testing.T) {
	g := newGate()
	answers := func(ctx context.Context, r scripted.Request) scripted.Reply {
		reply := g.answer(ctx, r)
		reply.Usage = &item.Usage{Input: 1_000_000, CachedInput: 500_000, Output: 1000}
		return reply
	}
	h := newHouse(t, answers, priced(map[string]float64{"m": 1}))
	for range h.host.Watch(t.Context(), true) {
		break
	}
	s := h.submit("go")
	<-g.waiting
	busy := h.works(func(_ item.Pod, w pod.Work) bool { return !w.Began.IsZero() && w.Tokens > 0 })
	var began time.Time
	for _, e := range h.log() {
		if _, ok := e.Kind.(item.TurnStarted); ok {
			began = e.Time
		}
	}
	if !busy.Began.Equal(began) || busy.Turn.USD != 0 || busy.Day.USD != 0 {
		t.Errorf("while it runs: %+v, began %v", busy, began)
	}
	close(g.open)
	h.ended(s)
	const cost = .56
	done := h.works(func(p item.Pod, _ pod.Work) bool { return p.Status.State == item.StateIdle })
	if !done.Began.IsZero() || done.Turn.USD != cost || done.Day.USD != cost || done.Tokens < 1_000_000 {
		t.Errorf("afterwards: %+v", done)
	}
	h.restart()
	if again := h.works(func(item.Pod, pod.Work) bool { return true }); again != done {
		t.Errorf("after a restart: %+v, not %+v", again, done)
	}
	h.run("more")
	if later := h.works(func(item.Pod, pod.Work) bool { return true }); later.Turn.USD != cost || later.Day.USD != 2*cost {
		t.Errorf("after a second turn: %+v", later)
	}
	// Who does not ask gets nothing of it.
	for c := range h.host.Watch(t.Context(), false) {
		if c.Work != nil {
			t.Errorf("work %+v", c.Work)
		}
		break
	}
}

// The first answer does not wait for the logs of many pods; they follow bit by bit.
func TestWorkOfManyPods(t *testing.T) {
	h := newHouse(t, scripted.Answers(scripted.Say(scripted.Text("done"))))
	h.run("go")
	for _, name := range []string{"q", "r"} {
		if _, err := h.host.Fork(t.Context(), "p", name, 0); err != nil {
			t.Fatal(err)
		}
	}
	h.restart()
	before := pod.FoldEntries(1)
	t.Cleanup(func() { pod.FoldEntries(before) })
	known := make(map[string]bool)
	for c, err := range h.host.Watch(t.Context(), true) {
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
	got := pod.Paces([]int{0, 100, 1100, 2100, 50, 60, 2050})
	want := []int{0, 100, 550, 700, 0, 10, 1000}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("paces %v, want %v", got, want)
		}
	}
}
