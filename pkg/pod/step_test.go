package pod_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// The next request leaves while the results that it carries are on their way to the
// disk, and nothing of its answer shows or is stored before they have arrived.
func TestRequestLeavesWhileResultsAreStored(t *testing.T) {
	asked := make(chan struct{})
	h, f := newFaultyHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.LastUser() != "go":
			return scripted.Say(scripted.Text("elsewhere"))
		case r.Steps() == 0:
			return scripted.Say(shell("echo one"))
		}
		close(asked)
		return scripted.Say(scripted.Text("answer"))
	})
	var mine sync.Once
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	stuck, release := make(chan struct{}), make(chan struct{})
	f.set(func(b store.Batch) error {
		if b.Pod == p.ID && hasResult(b) {
			mine.Do(func() {
				close(stuck)
				<-release
			})
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type sight struct {
		ev  pod.StreamEvent
		err error
	}
	seen := make(chan sight, 1000)
	s := h.submit("go")
	go func() {
		defer close(seen)
		for ev, err := range h.host.Stream(ctx, pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
			seen <- sight{ev, err}
		}
	}()
	<-stuck
	<-asked
	// Meanwhile another pod has whole turns: there is time for what must not happen.
	if _, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		h.elsewhere("q")
	}
	for len(seen) > 0 {
		ev := (<-seen).ev
		if slices.ContainsFunc(ev.Deltas, func(d item.Delta) bool { return strings.Contains(d.Text, "answer") }) {
			t.Errorf("shown before its results are on disk: %+v", ev.Deltas)
		}
	}
	for _, e := range h.log() {
		if k, ok := e.Kind.(item.ItemAdded); ok {
			if m, ok := k.Item.(item.AssistantMessage); ok && m.Text == "answer" {
				t.Error("stored before its results")
			}
		}
	}
	close(release)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	cancel()
	for range seen {
	}
}

// elsewhere runs a turn of another pod.
func (h *house) elsewhere(name string) {
	h.t.Helper()
	s, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: name, Segments: []item.Segment{item.TextSegment{Text: "hello"}}})
	if err != nil {
		h.t.Fatal(err)
	}
	for ev, err := range h.host.Stream(h.t.Context(), pod.StreamQuery{Pod: name, After: s.Seq, Follow: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if p, err := h.host.Get(h.t.Context(), name); ev.Record != nil && err == nil && p.Status.State == item.StateIdle {
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

// Results that can't be stored take their request back: it is cancelled, its answer
// never counts, and the turn goes on when they can be.
func TestResultsThatCannotBeStored(t *testing.T) {
	asked, taken := make(chan struct{}), make(chan struct{})
	var once sync.Once
	h, f := newFaultyHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(shell("echo one >> ran"))
		}
		first := false
		once.Do(func() { first = true })
		if first {
			close(asked)
			<-ctx.Done()
			close(taken)
			return scripted.Say(scripted.Text("too early"))
		}
		return scripted.Say(scripted.Text("in time"))
	})
	f.set(func(b store.Batch) error {
		if hasResult(b) {
			<-asked
			return item.Errorf(item.KindInternal, "BROKEN", "the disk is odd")
		}
		return nil
	})
	s := h.submit("go")
	<-taken
	f.set(nil)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	log := h.log()
	if got := results(log); len(got) != 1 || h.read("ran") != "one\n" {
		t.Errorf("results %+v, ran %q", got, h.read("ran"))
	}
	for _, e := range log {
		if k, ok := e.Kind.(item.ItemAdded); ok {
			if m, ok := k.Item.(item.AssistantMessage); ok && m.Text != "in time" {
				t.Errorf("stored: %q", m.Text)
			}
		}
	}
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
	// Beside the steps: the submit, the claim with the setup, the answer with the end.
	if want := 2*steps + 3; commits > want {
		t.Errorf("%d commits for %d steps, want at most %d", commits, steps, want)
	}
}
