package pod_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// wing are the lines of a wing's entries in a pod's log.
func (h *house) wing(pod, wing string) (lines []string) {
	h.t.Helper()
	for e, err := range h.host.Logs.Wing(h.t.Context(), pod, wing) {
		if err != nil {
			h.t.Fatal(err)
		}
		lines = append(lines, e.Kind.(item.WingEntry).Line)
	}
	return lines
}

// An entry of a wing is stored while a turn runs, and after it. The model sees nothing of it but the note in the same
// commit, at its next step.
func TestRecord(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working)
	s := h.submit("go")
	<-g.waiting
	e := item.WingEntry{Wing: "mail", Name: "letter", Line: "a letter from ann", Data: `{"secret":"data"}`}
	seq, err := h.host.Record(t.Context(), "p", e, item.Note{Text: "ann writes: hello"})
	if err != nil {
		t.Fatal(err)
	}
	close(g.open)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("the turn ended with %+v", end)
	}
	if body := h.body(2); !strings.Contains(body, "ann writes: hello") || strings.Contains(body, "a letter from ann") || strings.Contains(body, "secret") {
		t.Errorf("the model is sent %s", body)
	}
	if got := h.log()[seq-1]; got.Kind != e || got.Turn != 0 {
		t.Errorf("the log has %+v", got)
	}
	if _, err := h.host.Record(t.Context(), "no such pod", e); item.ReasonOf(err) != "POD_NOT_FOUND" {
		t.Errorf("no pod: %v", err)
	}
}

// A note of a wing may wake an idle pod.
func TestRecordWakes(t *testing.T) {
	h := newHouse(t, greets)
	if _, err := h.host.Record(t.Context(), "p", item.WingEntry{Wing: "mail", Name: "letter", Line: "two\nlines"}); item.ReasonOf(err) != "WING_ENTRY" {
		t.Errorf("two lines: %v", err)
	}
	if _, err := h.host.Record(t.Context(), "p", item.WingEntry{Wing: "mail", Name: "letter", Line: "a letter"}, item.Note{Text: "look", Wake: true}); err != nil {
		t.Fatal(err)
	}
	for e := range h.follow(t.Context(), 0) {
		if end, ok := e.Kind.(item.TurnEnded); ok {
			if end.Outcome != item.OutcomeFinished {
				t.Errorf("the turn ended with %+v", end)
			}
			break
		}
	}
}

// A note of a wing joins the conversation with the wing's origin and name for it, once, also when a rewind to before it comes
// between.
func TestNoteOfAWing(t *testing.T) {
	h := newHouse(t, greets)
	h.run("one")
	place := h.seqOf(ended)
	note := item.Note{Text: "ann writes", Origin: "mail", Ref: "ann/7"}
	if _, err := h.host.Record(t.Context(), "p", item.WingEntry{Wing: "mail", Name: "letter", Line: "a letter"}, note); err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.Rewind(t.Context(), "p", place); err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.run("two")
	h.run("three")
	var joined []item.Item
	for _, k := range kinds[item.ItemAdded](h.log()) {
		if m, ok := k.Item.(item.SystemMessage); ok && m.FromNote() {
			joined = append(joined, m)
		}
	}
	if want := []item.Item{note.Item()}; !slices.Equal(joined, want) {
		t.Errorf("what joined is %+v, want %+v", joined, want)
	}
	if p, release, err := h.host.Keep(t.Context(), "p"); err != nil || len(p.State.Notes) > 0 {
		t.Errorf("notes wait: %+v, %v", p, err)
	} else {
		release()
	}
}

// A wing finds its own entries after a restart and in a fork. A rewind undoes those after it, which the log still has.
func TestWingEntries(t *testing.T) {
	h := newHouse(t, greets)
	record := func(wing, line string) item.Seq {
		seq, err := h.host.Record(t.Context(), "p", item.WingEntry{Wing: wing, Name: "note", Line: line})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	h.run("one")
	record("notes", "first")
	record("mail", "a letter")
	place := record("notes", "second")
	h.run("two")
	record("notes", "third")
	h.restart()
	if _, err := h.host.Fork(t.Context(), "p", "q", place); err != nil {
		t.Fatal(err)
	}
	if _, err := h.host.Rewind(t.Context(), "p", place); err != nil {
		t.Fatal(err)
	}
	record("notes", "fourth")
	for pod, want := range map[string][]string{"p": {"first", "second", "fourth"}, "q": {"first", "second"}} {
		if got := h.wing(pod, "notes"); !slices.Equal(got, want) {
			t.Errorf("the notes of %s are %q, want %q", pod, got, want)
		}
	}
	if all := kinds[item.WingEntry](h.log()); len(all) != 5 {
		t.Errorf("the log has %+v", all)
	}
	for _, err := range h.host.Logs.Wing(t.Context(), "no such pod", "notes") {
		if item.ReasonOf(err) != "POD_NOT_FOUND" {
			t.Errorf("no pod: %v", err)
		}
	}
}

// A wing sees a pod when it is loaded and after each turn. What the log says to run keeps a pod that ends in memory until
// the wing has recorded its end, and nothing afterwards.
func TestWingRunsSomething(t *testing.T) {
	h := newHouse(t, greets)
	hosted, ending := make(chan *pod.Hosted, 9), make(chan error, 9)
	h.host.Attach(pod.Wing{
		Settled: func(p *pod.Hosted) { hosted <- p },
		Ending:  func(_ string, cause error) { ending <- cause },
	})
	if _, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
	kept, release, err := h.host.Keep(t.Context(), "q")
	if err != nil || kept.Pod.Name != "q" || kept.State.Turn.Number != 0 {
		t.Fatalf("kept is %+v, %v", kept, err)
	}
	defer release()
	if p := <-hosted; p.Pod.ID != kept.Pod.ID || p.State.Turn.Number != 0 {
		t.Errorf("loaded: %+v", p)
	}
	if _, err := h.host.Submit(t.Context(), pod.Submit{Pod: "q", Segments: []item.Segment{item.TextSegment{Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	p := <-hosted
	if p.State.Turn.Number != 1 || p.State.Turn.Open {
		t.Errorf("after the turn: %+v", p.State.Turn)
	}
	says := func(state item.JobState) error {
		_, err := p.Record(t.Context(), func(time.Time, fold.State) []item.Kind {
			return []item.Kind{item.Job{ID: "7", CallID: "c", State: state}}
		})
		return err
	}
	if err := says(item.JobRunning); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan error)
	go func() { deleted <- h.host.Delete(context.Background(), "q") }()
	if cause := <-ending; item.KindOf(cause) != item.KindNotFound {
		t.Errorf("the pod ends because %v", cause)
	}
	if err := says(item.JobEnded); err != nil {
		t.Errorf("the end of a pod that ends: %v", err)
	}
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	<-p.Life().Done()
	if cause := context.Cause(p.Life()); item.ReasonOf(cause) != "POD_NOT_FOUND" {
		t.Errorf("its life ended because %v", cause)
	}
	if err := says(item.JobRunning); item.ReasonOf(err) != "POD_NOT_FOUND" {
		t.Errorf("an entry of a pod that is gone: %v", err)
	}
}
