package pod_test

import (
	"slices"
	"strings"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// steer gives the pod text for the running turn.
func (h *house) steer(text string) pod.Submitted {
	h.t.Helper()
	got, err := h.host.Submit(h.t.Context(), pod.Submit{
		Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, Mode: item.ModeSteer, RequestID: text, ParseRefs: true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func (h *house) wantInbox(want ...string) {
	h.t.Helper()
	waiting, err := h.host.Inbox(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	for _, w := range waiting {
		got = append(got, w.Text)
	}
	if !slices.Equal(got, want) {
		h.t.Errorf("inbox %q, want %q", got, want)
	}
}

// A submit that steers joins at the next step, with its files; a queued one waits for its
// own turn.
func TestSteerJoinsAtTheNextStep(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working)
	h.write("a.txt", "what is in it")
	s := h.submit("go")
	<-g.waiting
	queued := h.submit("later")
	if got := h.steer("look at @a.txt"); !got.Queued {
		t.Errorf("steered %+v", got)
	}
	h.steer("and hurry")
	h.wantInbox("later", "look at @a.txt", "and hurry")
	close(g.open)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	h.ended(queued)
	body := h.body(2)
	for _, want := range []string{"look at @a.txt", "what is in it", "and hurry"} {
		if !strings.Contains(body, want) {
			t.Errorf("the second request lacks %q: %s", want, body)
		}
	}
	if strings.Contains(body, "later") {
		t.Errorf("what was queued joined the turn: %s", body)
	}
	promoted := kinds[item.Promoted](h.log())
	if len(promoted) != 1 || !slices.Equal(promoted[0].RequestIDs, []string{"look at @a.txt", "and hurry"}) {
		t.Errorf("promoted %+v", promoted)
	}
	h.wantTexts("user: go", "assistant: so far", "user: look at @a.txt", "file_ref: [File: a.txt]\nwhat is in it", "user: and hurry",
		"assistant: next", "user: later", "assistant: next")
	h.wantInbox()
}

// One that comes while the last answer streams makes the turn continue.
func TestSteerAtTheFinish(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.answer, func(c *options) { c.Limits.MaxGoOns = -1 })
	s := h.submit("go")
	<-g.waiting
	h.steer("one more")
	close(g.open)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	h.wantTexts("user: go", "assistant: so far and the rest", "user: one more", "assistant: next")
}

// For an idle pod it is a submit like any other.
func TestSteerAnIdlePod(t *testing.T) {
	h := newHouse(t, steps())
	got := h.steer("go")
	if end := h.ended(got); got.Queued || end.Outcome != item.OutcomeFinished || len(kinds[item.Promoted](h.log())) != 0 {
		t.Errorf("steered %+v, end %+v", got, end)
	}
}

// One that an interceptor refuses leaves the inbox with an alert; the turn continues and
// the model does not see it.
func TestSteerRefused(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working, with(&edges{submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
		if strings.Contains(s.Text, "forbidden") {
			return s.Cancel("it is forbidden")
		}
		return s.Continue()
	}}))
	s := h.submit("go")
	<-g.waiting
	h.steer("something forbidden")
	h.steer("something else")
	close(g.open)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	h.wantInbox()
	if body := h.body(2); strings.Contains(body, "forbidden") || !strings.Contains(body, "something else") {
		t.Errorf("the model is sent %s", body)
	}
	if w := h.warned(); len(w) != 1 || !strings.Contains(w[0], "could not join the turn: edges cancelled the submit: it is forbidden") {
		t.Errorf("alerts %q", w)
	}
}

// A waiting submit can be withdrawn until a turn takes it.
func TestWithdraw(t *testing.T) {
	g := newGate()
	taking, taken := make(chan struct{}), make(chan struct{})
	h := newHouse(t, g.working, with(&edges{submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
		if s.Text == "steered" {
			close(taking)
			<-taken
		}
		return s.Continue()
	}}))
	s := h.submit("go")
	<-g.waiting
	withdraw := func(id string) error { return h.host.Withdraw(t.Context(), "p", id) }
	queued := h.submit("queued")
	if err := withdraw(queued.RequestID); err != nil {
		t.Error(err)
	}
	wantError(t, withdraw(queued.RequestID), item.KindNotFound, "NOT_WAITING")
	wantError(t, withdraw(s.RequestID), item.KindNotFound, "NOT_WAITING")
	h.steer("steered")
	close(g.open)
	<-taking
	wantError(t, withdraw("steered"), item.KindPrecondition, "TAKEN")
	close(taken)
	h.ended(s)
	h.wantInbox()
	h.wantTexts("user: go", "assistant: so far", "user: steered", "assistant: next")
	if got, err := h.host.Submit(t.Context(), pod.Submit{
		Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "queued"}}, RequestID: queued.RequestID, ParseRefs: true,
	}); err != nil || !got.Duplicate {
		t.Errorf("a submit that was taken back is admitted again: %+v, %v", got, err)
	}
}

// A steering submit counts toward the limit of the inbox like any other.
func TestSteerIsBounded(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working, func(c *options) { c.MaxInbox = 1 })
	s := h.submit("go")
	<-g.waiting
	h.steer("one")
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "two"}}, Mode: item.ModeSteer})
	wantError(t, err, item.KindExhausted, "INBOX_FULL")
	close(g.open)
	h.ended(s)
}

// Cancel ends only the turn: a submit meant to steer it, and one made after the cancel,
// get their own turns.
func TestCancelDropsNothing(t *testing.T) {
	g := newGate()
	h := newHouse(t, g.working)
	s := h.submit("go")
	h.inFlight()
	steered := h.steer("steered")
	queued := h.submit("queued")
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	after := h.submit("after")
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "cancelled by a client")
	for _, waiting := range []pod.Submitted{steered, queued, after} {
		if end := h.ended(waiting); end.Outcome != item.OutcomeFinished {
			t.Errorf("end %+v", end)
		}
	}
}

// Submits that waited when podd was killed are announced and run in order, after the open
// turn; one that steers joins that turn.
func TestInboxOverAKill(t *testing.T) {
	g := newGate()
	f := new(faulty)
	h := newHouse(t, g.working, func(c *options) { f.Store, c.Store = c.Store, f })
	s := h.submit("go")
	<-g.waiting
	h.submit("first")
	last := h.submit("second")
	h.steer("steered")
	h.kill(f)
	h.recovered(1)
	close(g.open)
	h.ended(s)
	h.ended(last)
	h.wantAlerts("turns go on in p; queued submits run in p (3)")
	var order []string
	for _, text := range texts(h.log()) {
		if user, ok := strings.CutPrefix(text, "user: "); ok {
			order = append(order, user)
		}
	}
	if !slices.Equal(order, []string{"go", "steered", "first", "second"}) {
		t.Errorf("order %q", order)
	}
}
