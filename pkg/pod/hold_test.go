package pod_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/store"
)

// working is a model whose first answer streams some text, waits until it is released and
// then calls a tool; its second answer ends the turn.
func (g *gate) working(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() > 0 {
		return scripted.Say(scripted.Text("next"))
	}
	g.once.Do(func() { close(g.waiting) })
	return scripted.Say(scripted.Text("so far"), scripted.Wait(g.open), shell("echo x >> ran"))
}

func (h *house) pause() item.Pod {
	h.t.Helper()
	p, err := h.host.Pause(h.t.Context(), "p", "lunch")
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) notify(text string, wake bool) item.Seq {
	h.t.Helper()
	return h.noteFor("p", item.Note{Text: text, Wake: wake})
}

// noteFor leaves a note as wings do.
func (h *house) noteFor(pod string, note item.Note) item.Seq {
	h.t.Helper()
	p, release, err := h.host.Keep(h.t.Context(), pod)
	if err != nil {
		h.t.Fatal(err)
	}
	defer release()
	seq, err := p.Note(note)
	if err != nil {
		h.t.Fatal(err)
	}
	return seq
}

// A pod paused in the middle of an answer finishes the step and stops before the next
// one, also over a restart; a second pause or resume changes nothing.
func TestPauseInMidStream(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			g := newGate()
			h := newHouse(t, g.working)
			s := h.submit("go")
			<-g.waiting
			if p := h.pause(); p.Status.State != item.StateRunning || p.Status.Reason != "pauses at the next step: lunch" {
				t.Errorf("pod %+v", p.Status)
			}
			h.pause()
			close(g.open)
			if p := h.paused(); p.Status.Reason != "lunch" || p.Status.Turn != 1 {
				t.Errorf("pod %+v", p.Status)
			}
			if restart {
				h.restart()
				h.recovered(1)
				h.paused()
			}
			if n := len(h.model.Requests()); n != 1 || h.read("ran") != "x\n" || len(results(h.log())) != 1 {
				t.Errorf("%d requests, ran %q", n, h.read("ran"))
			}
			h.resume()
			h.resume()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
				t.Errorf("end %+v", end)
			}
			if p, err := h.host.Resume(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle || p.Status.Turn != 1 {
				t.Errorf("a pod that is not held: %+v, %v", p.Status, err)
			}
		})
	}
}

// A paused pod accepts submits and runs none of them until it is resumed, then in order.
func TestPausedPodQueues(t *testing.T) {
	f := new(faulty)
	h := newHouse(t, steps(), func(c *options) { f.Store, c.Store = c.Store, f })
	h.pause()
	first, second := h.submit("first"), h.submit("second")
	if !first.Queued || !second.Queued {
		t.Errorf("queued: %v %v", first.Queued, second.Queued)
	}
	h.kill(f)
	if p := h.paused(); p.Queued != 2 || p.Status.Reason != "lunch" {
		t.Errorf("pod %+v", p)
	}
	if n := len(h.model.Requests()); n != 0 {
		t.Errorf("a paused pod asked the model %d times", n)
	}
	h.resume()
	h.ended(second)
	h.wantTexts("user: first", "assistant: nothing left to say", "user: second", "assistant: nothing left to say")
}

// Cancel ends a paused turn; the pod stays paused.
func TestCancelWhilePaused(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working)
	s := h.submit("go")
	<-g.waiting
	h.pause()
	close(g.open)
	h.paused()
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	next := h.submit("next")
	if p := h.paused(); p.Queued != 1 {
		t.Errorf("pod %+v", p)
	}
	h.resume()
	if end := h.ended(next); end.Outcome != item.OutcomeFinished {
		t.Errorf("next end %+v", end)
	}
}

// If podd is killed each time at the same turn, it gives the turn up after a few
// attempts, with an alert; a person resumes the pod, and the model learns of it.
func TestGivenUpAndResumed(t *testing.T) {
	var mu sync.Mutex
	down := true
	asked := make(chan struct{})
	h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		if !down {
			return scripted.Say(scripted.Text("back"))
		}
		asked <- struct{}{}
		return scripted.Say(scripted.Stall{})
	})
	s := h.submit("go")
	for range 4 {
		<-asked
		h.kill(f)
	}
	h.wantEnd(h.ended(s), item.OutcomeInterrupted, "RECOVERY", "stopped 4 times")
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateInterrupted })
	if w := h.warned(); !strings.Contains(w[len(w)-1], "stopped 4 times") {
		t.Errorf("alerts %q", w)
	}
	mu.Lock()
	down = false
	mu.Unlock()
	h.resume()
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 2 })
	if last := h.body(len(h.model.Requests())); !strings.Contains(last, "The last turn was interrupted") {
		t.Errorf("the model is not told: %s", last)
	}
}

// Restarts at which a turn only waited don't count toward those at which it worked.
func TestWaitingIsNotGivenUp(t *testing.T) {
	asked := make(chan struct{}, 1)
	h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(shell("true"))
		}
		if r.Attempt == 3 {
			return scripted.Say(scripted.Text("done"))
		}
		asked <- struct{}{}
		return scripted.Say(scripted.Stall{})
	})
	h.pause()
	s := h.submit("go")
	h.resume()
	<-asked
	h.pause()
	for i := range 5 {
		h.kill(f)
		h.recovered(i + 1)
		h.paused()
	}
	h.resume()
	<-asked
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A note joins a running turn at its next step, after the items of the step.
func TestNotifyDuringATurn(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working)
	s := h.submit("go")
	<-g.waiting
	h.notify("the branch moved", false)
	h.notify("twice", true)
	close(g.open)
	h.ended(s)
	h.wantTexts("user: go", "assistant: so far", "note: the branch moved", "note: twice", "assistant: next")
	if body := h.body(2); !strings.Contains(body, "the branch moved") || !strings.Contains(body, "twice") {
		t.Errorf("the model is not told: %s", body)
	}
	if n := len(kinds[item.TurnStarted](h.log())); n != 1 {
		t.Errorf("%d turns", n)
	}
}

// A note that comes while the last answer streams makes the turn continue.
func TestNotifyAtTheFinish(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer)
	s := h.submit("go")
	<-g.waiting
	h.notify("one more thing", false)
	close(g.open)
	if end := h.ended(s); end.Steps != 2 || end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if !strings.Contains(h.body(2), "one more thing") {
		t.Errorf("the model is not told: %s", h.body(2))
	}
}

// Notes to an idle pod wait for its next turn, in order and over a restart.
func TestNotifyAnIdlePod(t *testing.T) {
	f := new(faulty)
	h := newHouse(t, steps(), func(c *options) { f.Store, c.Store = c.Store, f })
	want := []string{}
	for i := range 20 {
		h.notify(fmt.Sprint("note ", i), false)
		want = append(want, fmt.Sprint("note: note ", i))
		if i == 10 {
			h.kill(f)
		}
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle || len(h.model.Requests()) != 0 {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	h.run("go")
	h.wantTexts(append(want, "user: go", "assistant: nothing left to say")...)
	if body := h.body(1); !strings.Contains(body, "note 0") || !strings.Contains(body, "note 19") {
		t.Errorf("the model is not told: %s", body)
	}
	h.run("again")
	if n := strings.Count(h.body(2), "note 7"); n != 1 {
		t.Errorf("a note was given %d times", n)
	}
}

// A note that wakes starts its own turn, even if podd was killed before it began.
func TestNotifyWakes(t *testing.T) {
	f := new(faulty)
	h := newHouse(t, steps(), func(c *options) { f.Store, c.Store = c.Store, f })
	h.notify("hear", false)
	h.notify("wake up", true)
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
	h.wantTexts("note: hear", "note: wake up", "assistant: nothing left to say")

	check, refused := full(func(b store.Batch) bool { return holds[item.TurnStarted](b) })
	f.set(check)
	h.notify("once more", true)
	<-refused
	h.kill(f)
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 2 })
	if got := texts(h.log()); !slices.Contains(got, "note: once more") {
		t.Errorf("messages %q", got)
	}
}

// A paused pod keeps a note that wakes until it is resumed.
func TestNotifyAPausedPod(t *testing.T) {
	h := newHouse(t, steps())
	h.pause()
	h.notify("wake up", true)
	h.restart()
	if p := h.paused(); p.Status.Turn != 0 {
		t.Errorf("pod %+v", p.Status)
	}
	h.resume()
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
}
