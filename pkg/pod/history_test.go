package pod_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// edits answers "edit" with a write and a command, and anything else with a word.
func edits(_ context.Context, r scripted.Request) scripted.Reply {
	last := r.Messages[len(r.Messages)-1]
	if last.CallID == "" && strings.Contains(r.LastUser(), "edit") {
		return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"a.txt","content":"x"}`}, shell("true"))
	}
	return scripted.Say(scripted.Text("said: " + r.LastUser()))
}

// seqOf is the last entry that matches.
func (h *house) seqOf(match func(item.Entry) bool) item.Seq {
	h.t.Helper()
	log := h.log()
	for _, e := range slices.Backward(log) {
		if match(e) {
			return e.Seq
		}
	}
	h.t.Fatal("no such entry")
	return 0
}

func ended(e item.Entry) bool {
	_, ok := e.Kind.(item.TurnEnded)
	return ok
}

// A rewind undoes the later part of the log: requests don't have it, the log keeps it,
// numbers and ids are not reused, and its cost stays; this survives restarts, and a
// rewind of a rewind.
func TestRewind(t *testing.T) {
	h := newHouse(t, edits)
	h.run("one")
	first := h.seqOf(ended)
	h.run("edit two")
	paid := h.usage()
	got, err := h.host.Rewind(t.Context(), "p", first)
	if err != nil || !slices.Equal(got.Files, []string{"a.txt"}) || got.Commands != 1 {
		t.Fatalf("rewound %+v, %v", got, err)
	}
	h.lastRequest("three", []string{"one", "three"}, []string{"two"})
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Turn != 3 || p.Status.Usage.Input <= paid.Input {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	h.restart()
	h.lastRequest("four", []string{"one", "three", "four"}, []string{"two"})
	// A rewind to before the rewind itself: what it undid is effective again.
	if _, err := h.host.Rewind(t.Context(), "p", got.Seq-1); item.ReasonOf(err) != "TAKEN_BACK" {
		t.Errorf("a place that was taken back: %v", err)
	}
	if _, err := h.host.Rewind(t.Context(), "p", got.Seq); err != nil {
		t.Fatal(err)
	}
	h.lastRequest("five", []string{"one", "five"}, []string{"two", "three", "four"})
	h.restart()
	h.lastRequest("six", []string{"one", "five", "six"}, []string{"two", "three", "four"})
}

// A rewind undoes what turns did, but no note that still waits for one. A note of an
// undone turn waits again, unless it was also left after that entry.
func TestRewindPassesNotes(t *testing.T) {
	h := newHouse(t, steps())
	first := h.notify("before", false)
	h.run("one")
	h.notify("between", false)
	h.run("two")
	h.notify("after", false)
	if _, err := h.host.Rewind(t.Context(), "p", first); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h.restart()
		if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle {
			t.Fatalf("pod %+v, %v", p, err)
		}
		if _, err := h.host.Rewind(t.Context(), "p", first); err != nil {
			t.Fatal(err)
		}
	}
	before := len(h.log())
	h.run("three")
	var notes []string
	for _, it := range items(h.log()[before:]) {
		if m, ok := it.(item.SystemMessage); ok && m.Origin == item.OriginNote {
			notes = append(notes, m.Text)
		}
	}
	if !slices.Equal(notes, []string{"before", "after"}) {
		t.Errorf("notes %q", notes)
	}
}

// A rewind starts nothing: if it undoes part of a turn that a note started, it closes the
// turn where it began, and a person decides about it. The pod's state says so, over a
// restart and to followers.
func TestRewindToANoteThatWakes(t *testing.T) {
	h := newHouse(t, steps())
	note := h.notify("wake up", true)
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
	if _, err := h.host.Rewind(t.Context(), "p", note); err != nil {
		t.Fatal(err)
	}
	for _, again := range []func(){func() {}, h.restart, func() { h.nothingInFlight() }} {
		again()
		if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateInterrupted || p.Status.Turn != 2 {
			t.Errorf("pod %+v, %v", p.Status, err)
		}
	}
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	h.resume()
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 3 })
	if n := len(h.model.Requests()); n != 2 || strings.Count(h.body(2), "wake up") != 1 {
		t.Errorf("the model was asked %d times, and told %s", n, h.body(n))
	}
}

// After a rewind a note that no turn has taken still wakes the pod, once the pod is not
// paused.
func TestRewindKeepsANoteThatWakes(t *testing.T) {
	for name, below := range map[string]bool{"below the place": true, "above it": false} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps())
			h.run("one")
			to := h.seqOf(ended)
			h.pause()
			if note := h.notify("wake up", true); below {
				to = note
			}
			if _, err := h.host.Rewind(t.Context(), "p", to); err != nil {
				t.Fatal(err)
			}
			h.restart()
			if p := h.paused(); p.Status.Turn != 1 {
				t.Errorf("pod %+v", p.Status)
			}
			h.resume()
			h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 2 })
		})
	}
}

// A fork starts nothing in parallel to its source: a turn that a note is about to start
// there is closed as interrupted in the fork.
func TestForkStartsNothing(t *testing.T) {
	for name, busy := range map[string]bool{"a busy pod": true, "a pod that is held": false} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			h := newHouse(t, g.answer)
			var s pod.Submitted
			if busy {
				s = h.submit("go")
				<-g.waiting
			} else {
				h.pause()
			}
			h.notify("wake up", true)
			f, err := h.host.Fork(t.Context(), "p", "q", 0)
			if err != nil {
				t.Fatal(err)
			}
			if f.Pod.Status.State != item.StateInterrupted || f.Pod.Status.Turn != 1 {
				t.Errorf("fork %+v", f.Pod.Status)
			}
			forked := h.logOf("q")
			h.verify()
			if end, ok := forked[len(forked)-1].Kind.(item.TurnEnded); !ok || end.Outcome != item.OutcomeInterrupted {
				t.Errorf("the fork's log ends with %+v", forked[len(forked)-1])
			}
			if got := texts(forked); got[len(got)-1] != "note: wake up" {
				t.Errorf("messages %q", got)
			}
			close(g.open)
			if busy {
				h.ended(s)
			} else {
				h.resume()
				h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
			}
			h.folds("q")
			// It continues when a person resumes it.
			if _, err := h.host.Resume(t.Context(), "q"); err != nil {
				t.Fatal(err)
			}
			h.awaitPod("q", func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 2 })
			if n := len(kinds[item.TurnStarted](h.logOf("q"))); n != 2 {
				t.Errorf("the fork has %d turns", n)
			}
		})
	}
}

func (h *house) usage() item.Usage {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	return p.Status.Usage
}

// lastRequest runs a turn and checks what its last request has and has not.
func (h *house) lastRequest(text string, has, lacks []string) {
	h.t.Helper()
	if end := h.run(text); end.Outcome != item.OutcomeFinished {
		h.t.Fatalf("end %+v", end)
	}
	requests := h.model.Requests()
	body := string(requests[len(requests)-1])
	for _, word := range has {
		if !strings.Contains(body, "said: "+word) && !strings.Contains(body, `"`+word+`"`) {
			h.t.Errorf("the request of %q lacks %q: %s", text, word, body)
		}
	}
	for _, word := range lacks {
		if strings.Contains(body, "said: "+word) || strings.Contains(body, "edit "+word) {
			h.t.Errorf("the request of %q has %q", text, word)
		}
	}
}

// Neither a rewind nor a fork separates a call from its result; the refusal names a valid
// entry.
func TestCutBetweenCallAndResult(t *testing.T) {
	h := newHouse(t, edits)
	h.run("edit")
	call := h.seqOf(func(e item.Entry) bool { _, ok := e.Kind.(item.ToolStarted); return ok })
	_, err := h.host.Rewind(t.Context(), "p", call)
	wantError(t, err, item.KindPrecondition, "OPEN_CALL")
	_, err = h.host.Fork(t.Context(), "p", "q", call)
	wantError(t, err, item.KindPrecondition, "OPEN_CALL")
	for seq, kind := range map[item.Seq]item.ErrorKind{0: item.KindInvalid, 9999: item.KindOutOfRange} {
		if _, err := h.host.Rewind(t.Context(), "p", seq); item.KindOf(err) != kind {
			t.Errorf("rewind to %d: %v", seq, err)
		}
	}
}

// A fork continues separately: the parent's log does not change, even in the middle of a
// turn, which the fork closes as interrupted.
func TestFork(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer)
	s := h.submit("go")
	<-g.waiting
	f, err := h.host.Fork(t.Context(), "p", "q", 0)
	if err != nil {
		t.Fatal(err)
	}
	before := len(h.logOf("p"))
	close(g.open)
	h.ended(s)
	forked := h.logOf("q")
	h.verify()
	if end, ok := forked[len(forked)-1].Kind.(item.TurnEnded); !ok || end.Outcome != item.OutcomeInterrupted {
		t.Errorf("the fork's log ends with %+v", forked[len(forked)-1])
	}
	if f.Pod.Name != "q" || len(h.logOf("p")) <= before {
		t.Errorf("forked %+v", f)
	}
	got, err := h.host.Submit(t.Context(), pod.Submit{Pod: "q", Segments: []item.Segment{item.TextSegment{Text: "alone"}}})
	if err != nil {
		t.Fatal(err)
	}
	for e := range h.followPod(t.Context(), "q", got.Seq) {
		if ended(e) {
			break
		}
	}
	for _, e := range h.logOf("p") {
		if s, ok := e.Kind.(item.Submitted); ok && s.Text == "alone" {
			t.Error("the parent got the fork's submit")
		}
	}
	if err := h.host.Delete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if log := h.logOf("q"); len(log) < before {
		t.Errorf("the fork has %d entries after its parent is gone", len(log))
	}
}

// Entries that a fork appends are not older than the shared ones, even if the clock was
// set back.
func TestForkAfterAClockSetBack(t *testing.T) {
	var clock leap
	h := newHouse(t, steps(), clock.set)
	clock.ahead(eightDays)
	h.run("from the future")
	clock.ahead(0)
	if _, err := h.host.Fork(t.Context(), "p", "q", 0); err != nil {
		t.Fatal(err)
	}
	h.noteFor("q", item.Note{Text: "now"})
	h.verify()
}
