package pod_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/store"
)

// A task withdrawn while there is no space to begin it, or to store the withdrawal, does
// not begin when there is.
func TestTaskThatCannotBeTakenBackYet(t *testing.T) {
	var f faulty
	h := spawning(t, 1, map[string]scripted.Handler{"go": steps(scripted.Say(spawn(`{"task":"child"}`)))},
		func(c *options) { f.Store, c.Store = c.Store, &f })
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	f.set(func(b store.Batch) error {
		if b.Pod != p.ID && len(b.Entries) > 0 && b.Admit == nil {
			return errFull
		}
		return nil
	})
	s := h.submit("go")
	for len(h.pods()) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no pod was spawned")
		}
	}
	child := h.only()
	h.cannotGoOn(child.ID)
	if _, _, err := h.host.Cancel(t.Context(), "p", "enough"); err != nil {
		t.Error(err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	f.set(nil)
	h.awaitPod(child.ID, func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Queued == 0 })
	if child = h.only(); child.Status.Usage.Requests > 0 {
		t.Errorf("child %+v", child)
	}
	for _, k := range kinds[item.TurnEnded](h.logOf(child.ID)) {
		if k.Outcome != item.OutcomeCancelled {
			t.Errorf("the child's turn ended: %+v", k)
		}
	}
}

// A sub-pod that is loaded after its caller's turn has ended does not continue.
func TestNobodyWaitsWhenLoaded(t *testing.T) {
	var f faulty
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child"}`)), scripted.Say(scripted.Text("done"))),
		"child": steps(scripted.Say(waits), scripted.Say(scripted.Text("child is done"))),
	}, func(c *options) { f.Store, c.Store = c.Store, &f })
	s := h.submit("go")
	h.marked()
	child := h.only()
	h.close()
	h.inStore(func(s store.Store) error {
		p, err := s.Pod(t.Context(), "p")
		if err != nil {
			return err
		}
		p.Spec.SubPods = 0
		return s.UpdateSpec(t.Context(), p.ID, p.Spec)
	})
	f.claim(func(id string) error {
		if id == child.ID {
			return errFull
		}
		return nil
	})
	h.open()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	f.claim(nil)
	h.write("go", "")
	for range h.followPod(t.Context(), child.ID, 0) {
		if ends := h.ends(child.ID); len(ends) > 0 {
			break
		}
	}
	if got := h.outcomes(); len(got) != 1 || got[0] != item.OutcomeCancelled {
		t.Errorf("outcomes %v", got)
	}
	if n := len(h.model.Requests()); n != 3 {
		t.Errorf("the model was asked %d times", n)
	}
}

// What a sub-pod used is billed to its caller even if the caller is cancelled and there
// is no space for the result.
func TestBillWithoutSpaceForTheResult(t *testing.T) {
	var f faulty
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(usageOf(100, 0, spawn(`{"task":"child"}`))),
		"child": steps(usageOf(1000, 0, waits)),
	}, func(c *options) { f.Store, c.Store = c.Store, &f })
	s := h.submit("go")
	h.marked()
	f.set(func(b store.Batch) error {
		for _, e := range b.Entries {
			if k, ok := e.Kind.(item.ItemAdded); ok {
				if r, ok := k.Item.(item.ToolResult); ok && strings.Contains(r.Summary, "did not finish") {
					return errFull
				}
			}
		}
		return nil
	})
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Error(cancelled, err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled || end.Usage.Input != 1100 {
		t.Errorf("end %+v", end)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Usage.Input != 1100 {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
}
