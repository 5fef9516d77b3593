package pod_test

import (
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// After a rewind while a turn waits for its workspace, the turn begins on the rewound
// history. verify finds a turn number that is used twice.
func TestRewindBeforeATurnBegins(t *testing.T) {
	h, g := newHangingHouse(t, steps())
	seq := h.notify("note one", true)
	h.await(func(p item.Pod) bool { return p.Status.Turn == 1 && p.Status.State == item.StateIdle })
	g.hang(h.dir)
	s := h.submit("go")
	h.silent()
	if _, err := h.host.Rewind(t.Context(), "p", seq); err != nil {
		t.Fatal(err)
	}
	g.letGo()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A turn takes the notes that wait when it begins.
func TestNotesOfARewindBeforeATurnBegins(t *testing.T) {
	h, g := newHangingHouse(t, steps())
	h.run("first")
	seq := h.notify("note zero", false)
	h.run("second")
	h.notify("note one", false)
	g.hang(h.dir)
	s := h.submit("go")
	h.silent()
	if _, err := h.host.Rewind(t.Context(), "p", seq); err != nil {
		t.Fatal(err)
	}
	g.letGo()
	h.ended(s)
	requests := h.model.Requests()
	last := string(requests[len(requests)-1])
	for _, note := range []string{"note zero", "note one"} {
		if n := strings.Count(last, note); n != 1 {
			t.Errorf("the request has %q %d times", note, n)
		}
	}
}

// A pause acknowledged before a turn begins holds that turn.
func TestPauseBeforeATurnBegins(t *testing.T) {
	h, g := newHangingHouse(t, steps())
	g.hang(h.dir)
	s := h.submit("go")
	h.silent()
	if _, err := h.host.Pause(t.Context(), "p", "stop"); err != nil {
		t.Fatal(err)
	}
	g.letGo()
	h.await(func(p item.Pod) bool { return p.Status.State == item.StatePaused })
	if err := h.host.Withdraw(t.Context(), "p", s.RequestID); err != nil {
		t.Errorf("the submit cannot be taken back: %v", err)
	}
	if _, err := h.host.Resume(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	h.run("again")
	if n := len(kinds[item.TurnStarted](h.log())); n != 1 {
		t.Errorf("%d turns began", n)
	}
}

// A rewind that has to end a turn first succeeds although a submit waits.
func TestRewindOfAStuckTurnBeforeAnother(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Text("hm, hm"), waits), scripted.Say(scripted.Text("done"))))
	s := h.submit("go")
	h.marked()
	queued := h.submit("queued")
	back := h.away("")
	h.cannotGoOn("p")
	if _, err := h.host.Rewind(t.Context(), "p", s.Seq); err != nil {
		t.Errorf("rewind: %v", err)
	}
	if !slices.ContainsFunc(h.log(), func(e item.Entry) bool { _, ok := e.Kind.(item.Rewind); return ok }) {
		t.Error("the log has no rewind")
	}
	back()
	h.write("go", "")
	h.ended(queued)
}
