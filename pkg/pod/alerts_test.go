package pod_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// unanswered are the texts of the unacknowledged alerts about questions.
func (h *house) unanswered() (texts []string) {
	h.t.Helper()
	alerts, err := h.host.Alerts.List(h.t.Context(), pod.AlertQuery{Unacked: true})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, a := range alerts {
		if a.Reason == item.ReasonApprovalWaits {
			texts = append(texts, a.Text)
		}
	}
	return texts
}

// An answer to a question acknowledges its alert, also after a restart, and no alert of
// another question. Retention removes it like others that are acknowledged.
func TestAnAnswerAcknowledgesTheAlert(t *testing.T) {
	var clock leap
	names := &edges{name: "asks", call: func(c interceptor.Call) interceptor.CallVerdict { return c.Ask("run " + c.Arguments) }}
	h := newHouse(t, steps(scripted.Say(shell("touch one"), shell("touch two")), scripted.Say(scripted.Text("done")), scripted.Say(shell("touch one"))), with(names), clock.set)
	s := h.submit("go")
	waiting := h.asked(2)
	if texts := h.unanswered(); len(texts) != 2 {
		t.Fatalf("alerts %q", texts)
	}
	h.resolve(pod.Resolution{CallSeq: waiting[0].CallSeq, By: "ann"})
	for range 2 {
		if texts := h.unanswered(); len(texts) != 1 || texts[0] != waiting[1].AlertText() {
			t.Errorf("alerts after the first answer %q", texts)
		}
		h.restart()
	}
	h.resolve(pod.Resolution{CallSeq: waiting[1].CallSeq, Approve: true, By: "ann"})
	if texts := h.unanswered(); len(texts) != 0 {
		t.Errorf("alerts after the second answer %q", texts)
	}
	h.ended(s)

	// The same question again is another matter, and its alert stays while it is open.
	clock.ahead(2 * store.FoldWithin)
	s = h.submit("again")
	again := h.asked(1)
	if texts := h.unanswered(); !slices.Equal(texts, []string{again[0].AlertText()}) {
		t.Errorf("alerts of the same question again %q", texts)
	}
	if _, err := h.host.Alerts.PurgeAlerts(t.Context(), clock.now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	others := func(text string) bool { return !strings.Contains(text, "waits for approval") }
	if texts := slices.DeleteFunc(h.warned(), others); !slices.Equal(texts, []string{again[0].AlertText()}) {
		t.Errorf("alerts after retention %q", texts)
	}
	h.resolve(pod.Resolution{CallSeq: again[0].CallSeq, By: "ann"})
	h.ended(s)
}
