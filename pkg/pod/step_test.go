package pod_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// The next request leaves once the results that it has are on disk: the log has
// everything that a model was shown.
func TestResultsAreStoredBeforeTheNextRequest(t *testing.T) {
	var stored, early atomic.Bool
	h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.LastUser() != "go":
			return scripted.Say(scripted.Text("elsewhere"))
		case r.Steps() == 0:
			return scripted.Say(shell("echo one"))
		}
		early.Store(!stored.Load())
		return scripted.Say(scripted.Text("answer"))
	})
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	stuck, release := make(chan struct{}), make(chan struct{})
	f.set(func(b store.Batch) error {
		if b.Pod == p.ID && hasResult(b) {
			close(stuck)
			<-release
			stored.Store(true)
		}
		return nil
	})
	s := h.submit("go")
	<-stuck
	// Meanwhile another pod runs whole turns, which gives a wrong request time to leave.
	if _, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		h.runOther()
	}
	close(release)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	if early.Load() {
		t.Error("the request left before its results were stored")
	}
}

// runOther runs a turn of the pod "q".
func (h *house) runOther() {
	h.t.Helper()
	s, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: "q", Segments: []item.Segment{item.TextSegment{Text: "hello"}}})
	if err != nil {
		h.t.Fatal(err)
	}
	for ev, err := range h.host.Logs.Stream(h.t.Context(), pod.StreamQuery{Pod: "q", After: s.Seq, Follow: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if p, err := h.host.Get(h.t.Context(), "q"); ev.Record != nil && err == nil && p.Status.State == item.StateIdle {
			return
		}
	}
}

func hasResult(b store.Batch) bool {
	return slices.ContainsFunc(b.Entries, func(e item.Entry) bool {
		k, ok := e.Kind.(item.ItemAdded)
		if ok {
			_, ok = k.Item.(item.ToolResult)
		}
		return ok
	})
}

// A step has two commits: its call with the start, and its result.
func TestCommitsOfAStep(t *testing.T) {
	const steps = 10
	h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() < steps {
			return scripted.Say(scripted.Text("more"), shell("echo "+strings.Repeat("x", r.Steps())))
		}
		return scripted.Say(scripted.Text("done"))
	})
	commits := 0
	f.set(func(store.Batch) error { commits++; return nil })
	h.run("go")
	// In addition to the steps: the submit, the claim with the setup, the answer with the
	// end.
	if want := 2*steps + 3; commits > want {
		t.Errorf("%d commits for %d steps, want at most %d", commits, steps, want)
	}
}
