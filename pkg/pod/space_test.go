package pod_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

var errFull = item.Errorf(item.KindExhausted, "NO_SPACE", "there is no space left on the disk")

// full refuses everything from the first batch that match finds. refused is closed at
// that one.
func full(match func(store.Batch) bool) (check func(store.Batch) error, refused chan struct{}) {
	refused = make(chan struct{})
	once := sync.OnceFunc(func() { close(refused) })
	seen := false
	var mu sync.Mutex
	return func(b store.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if seen = seen || match(b); seen {
			once()
			return errFull
		}
		return nil
	}, refused
}

// fill makes the disk full from the first batch that match finds, submits something and waits
// until the pod says that it waits for space.
func (h *house) fill(f *faulty, match func(store.Batch) bool) pod.Submitted {
	h.t.Helper()
	check, refused := full(match)
	f.set(check)
	s := h.submit("go")
	<-refused
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.Contains(p.Status.Reason, "no space")
	})
	return s
}

// A list shows the current state of each pod, including what it could not store.
func TestListOnAFullDisk(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	if _, err := h.host.Create(t.Context(), "a", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	s := h.fill(f, holds[item.RequestUsage])
	for dir, want := range map[string][]string{"": {"a", "p"}, h.dir: {"p"}} {
		list, err := h.host.List(t.Context(), dir)
		if err != nil || len(list) != len(want) {
			t.Fatalf("listed %+v, %v", list, err)
		}
		for i, r := range list {
			p, err := h.host.Get(t.Context(), want[i])
			if got := r; err != nil || r.Name != want[i] || !reflect.DeepEqual(got, p) {
				t.Errorf("listed %+v, want %+v, %v", got, p, err)
			}
		}
	}
	f.set(nil)
	h.ended(s)
}

// wantNoSpace fails unless exactly one alert says that the disk was full, once the pod says that it is not.
func (h *house) wantNoSpace() {
	h.t.Helper()
	h.await(func(p item.Pod) bool { return !strings.Contains(p.Status.Reason, "no space") })
	alerts, err := h.host.Alerts.List(h.t.Context(), pod.AlertQuery{})
	n := 0
	for _, a := range alerts {
		if strings.Contains(a.Text, "no space") {
			n++
		}
	}
	if err != nil || n != 1 {
		h.t.Errorf("%d alerts about space in %+v, %v", n, alerts, err)
	}
}

// A model's answer waits while the disk is full, at any point of the turn. With space the
// turn continues where it was: nothing is requested or run twice.
func TestFullDiskInTheMiddleOfATurn(t *testing.T) {
	for name, match := range map[string]func(store.Batch) bool{
		"claim":   holds[item.TurnStarted],
		"setup":   holds[item.Setup],
		"answer":  holds[item.RequestUsage],
		"results": func(b store.Batch) bool { return strings.Contains(shape(b.Entries), "ToolResult") },
		"end":     holds[item.TurnEnded],
	} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x >> ran")), scripted.Say(scripted.Text("done"))))
			s := h.fill(f, match)
			f.set(nil)
			if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
				t.Errorf("end %+v", end)
			}
			if r := recoveries(h.log()); len(r) != 0 {
				t.Errorf("recovered %+v", r)
			}
			if got, n := h.read("ran"), len(h.model.Requests()); got != "x\n" || n != 2 {
				t.Errorf("the model was asked %d times, the command left %q", n, got)
			}
			h.nothingInFlight()
			h.wantNoSpace()
			h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle })
		})
	}
}

// A pod that waited for space shows what its next turn waits for.
func TestStateAfterAFullDisk(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x >> ran"))), with(asks("ran")))
	s := h.fill(f, holds[item.TurnStarted])
	f.set(nil)
	q := h.asked(1)[0]
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Reason != "waiting for approval" {
		t.Errorf("status %+v, %v", p.Status, err)
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true})
	h.ended(s)
	h.wantNoSpace()
}

// A cancel is effective even while it can't be stored: the answer says so, and with space
// the turn ends as cancelled. Text that the person has read stays.
func TestCancelOnAFullDisk(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Text("half of it"), shell("echo x >> ran"))))
	s := h.fill(f, holds[item.RequestUsage])
	for range 2 {
		turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough")
		wantError(t, err, item.KindExhausted, "NO_SPACE")
		if turn != 1 || !cancelled {
			t.Errorf("turn %d, cancelled %v", turn, cancelled)
		}
	}
	f.set(nil)
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.wantTexts("user: go", "assistant: half of it")
	if n := len(h.model.Requests()); n != 1 || h.exists("ran") {
		t.Errorf("the model was asked %d times, the command ran: %v", n, h.exists("ran"))
	}
	h.wantNoSpace()
}

// A cancel says so, too, if it is the database that does not answer.
func TestCancelWithoutTheDatabase(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Text("done"))))
	refused := make(chan struct{})
	once := sync.OnceFunc(func() { close(refused) })
	f.set(func(b store.Batch) error {
		if !holds[item.RequestUsage](b) && !holds[item.TurnEnded](b) {
			return nil
		}
		once()
		return item.Errorf(item.KindUnavailable, store.ReasonAway, "the database does not answer")
	})
	s := h.submit("go")
	<-refused
	_, cancelled, err := h.host.Cancel(t.Context(), "p", "enough")
	wantError(t, err, item.KindUnavailable, store.ReasonAway)
	if !cancelled {
		t.Error("not cancelled")
	}
	f.set(nil)
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
}

// A cancel that fits the disk ends the turn at once, although the waiting answer does not
// fit. Its cost is still stored.
func TestCancelOfWhatDoesNotFit(t *testing.T) {
	answers := func(b store.Batch) bool {
		return slices.ContainsFunc(b.Entries, func(e item.Entry) bool {
			u, ok := e.Kind.(item.RequestUsage)
			return ok && u.Purpose == ""
		})
	}
	h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Text("half of it"))))
	check, refused := full(answers)
	f.set(check)
	s := h.submit("go")
	<-refused
	f.set(func(b store.Batch) error {
		if answers(b) {
			return errFull
		}
		return nil
	})
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	if u := kinds[item.RequestUsage](h.log()); len(u) != 1 || u[0].Purpose != item.PurposeDiscarded {
		t.Errorf("billed %+v", u)
	}
}

// A stopping podd does not wait for space. Its turn resumes at the next start.
func TestStopOnAFullDisk(t *testing.T) {
	for name, match := range map[string]func(store.Batch) bool{"answer": holds[item.RequestUsage], "end": holds[item.TurnEnded]} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Text("done"))))
			s := h.fill(f, match)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h.host.Close(ctx)
			f.set(nil)
			h.restart()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
			if r := recoveries(h.log()); len(r) != 1 {
				t.Errorf("recovered %+v", r)
			}
		})
	}
}

// Deleting pods may be what makes space: it does not wait for space.
func TestDeleteOnAFullDisk(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	if _, err := h.host.Create(t.Context(), "other", item.PodSpec{Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
	check, refused := full(holds[item.RequestUsage])
	f.set(check)
	if _, err := h.host.Submit(t.Context(), pod.Submit{Pod: "other", Segments: []item.Segment{item.TextSegment{Text: "go"}}}); err != nil {
		t.Fatal(err)
	}
	<-refused
	if err := h.host.Delete(t.Context(), "other"); err != nil {
		t.Error(err)
	}
}

// A compaction requested by a person fails on a full disk and does not wait for it.
func TestCompactOnAFullDisk(t *testing.T) {
	h, f := newFaultyHouse(t, readLoop(2), func(c *options) { c.Compaction.KeepTokens = 1 })
	h.run("go")
	check, _ := full(holds[item.Compaction])
	f.set(check)
	_, err := h.host.Compact(t.Context(), "p")
	wantError(t, err, item.KindExhausted, "NO_SPACE")
	f.set(nil)
	if end := h.run("more"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}
