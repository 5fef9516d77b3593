package pod_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// asks is an interceptor that asks a person about calls with this text.
func asks(text string) *edges {
	return &edges{name: "asks", call: func(c interceptor.Call) interceptor.CallVerdict {
		if strings.Contains(c.Arguments, text) {
			return c.Ask("may it run?")
		}
		return c.Continue()
	}}
}

// A call that asks is listed, shows what will run, and runs once when a person agrees.
// The log says who did.
func TestApproved(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("echo x >> ran"))), with(asks("ran")))
	s := h.submit("go")
	q := h.asked(1)[0]
	if q.PodName != "p" || q.Turn != 1 || q.Tool != "shell" || q.Question != "asks asks: may it run?" || len(q.Digest) != 32 ||
		!strings.Contains(q.Arguments, "echo x >> ran") || !q.Expires.After(q.Time) || h.exists("ran") {
		t.Errorf("asked %+v", q)
	}
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && p.Status.Reason == "waiting for approval"
	})
	if w := h.warned(); !slices.ContainsFunc(w, func(text string) bool { return strings.Contains(text, "waits for approval: asks asks") }) {
		t.Errorf("alerts %q", w)
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest, By: "ann"})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
		t.Errorf("end %+v, ran %q", end, h.read("ran"))
	}
	r := kinds[item.ApprovalResolved](h.log())
	if len(r) != 1 || !r[0].Approved || r[0].By != "ann" {
		t.Errorf("resolved %+v", r)
	}
	h.asked(0)
}

// A client that sees the alert about a question finds the question in the list, however late
// the pod itself learns that both are stored.
func TestAStoredQuestionIsListed(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x >> ran"))), with(asks("ran")))
	stored, seen := make(chan struct{}), make(chan struct{})
	f.mu.Lock()
	f.onAppended = func(b store.Batch) {
		if holds[item.ApprovalRequested](b) {
			close(stored)
			<-seen
		}
	}
	f.mu.Unlock()
	s := h.submit("go")
	<-stored
	waiting, err := h.host.Approvals(t.Context(), "")
	close(seen)
	if err != nil || len(waiting) != 1 || waiting[0].PodName != "p" || waiting[0].Tool != "shell" {
		t.Errorf("%+v, %v", waiting, err)
	}
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true, By: "ann"})
	h.ended(s)
}

// The model learns who denied a call and why, and continues.
func TestDeniedByAPerson(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")))
	s := h.submit("go")
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, By: "ann", Reason: "use the other branch"})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.exists("ran") {
		t.Errorf("end %+v", end)
	}
	if !strings.Contains(h.body(2), "denied by ann: use the other branch") {
		t.Errorf("the model is not told: %s", h.body(2))
	}
}

// Of two answers at once one counts. The other client learns who answered and when.
func TestTwoAnswers(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("echo x >> ran"))), with(asks("ran")))
	s := h.submit("go")
	q := h.asked(1)[0]
	errs := make([]error, 2)
	names := []string{"ann", "bob"}
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			_, errs[i] = h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq, Approve: true, By: name})
		})
	}
	wg.Wait()
	lost := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if lost < 0 || errs[1-lost] != nil {
		t.Fatalf("answers %v", errs)
	}
	wantError(t, errs[lost], item.KindPrecondition, "APPROVAL_RESOLVED")
	h.ended(s)
	var at time.Time
	for _, e := range h.log() {
		if r, ok := e.Kind.(item.ApprovalResolved); ok {
			at = e.Time
			if r.By != names[1-lost] {
				t.Errorf("the log says %+v", r)
			}
		}
	}
	want := fmt.Sprintf("already approved by %s at %s", names[1-lost], at.UTC().Format(time.DateTime+"Z"))
	if !strings.Contains(errs[lost].Error(), want) {
		t.Errorf("error %v, want %q", errs[lost], want)
	}
	if h.read("ran") != "x\n" {
		t.Errorf("ran %q", h.read("ran"))
	}
	h.restart()
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq})
	wantError(t, err, item.KindPrecondition, "APPROVAL_RESOLVED")
	_, err = h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: 1})
	wantError(t, err, item.KindNotFound, "APPROVAL_NOT_FOUND")
}

// A question that expires is a denial.
func TestExpiredApproval(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")), func(c *options) { c.ApprovalTime = time.Nanosecond })
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || h.exists("ran") {
		t.Errorf("end %+v", end)
	}
	r := kinds[item.ApprovalResolved](h.log())
	if len(r) != 1 || r[0].Approved || r[0].By != "podd" || !strings.Contains(h.body(2), "expired without an answer at") {
		t.Errorf("resolved %+v; the model is sent %s", r, h.body(2))
	}
}

// A question that expired while podd was down is a denial after the restart.
func TestApprovalExpiresWhilePoddIsDown(t *testing.T) {
	late := time.Duration(0)
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")), func(c *options) {
		passed := late
		c.Now = func() time.Time { return time.Now().Add(passed) }
	})
	s := h.submit("go")
	h.asked(1)
	late = 8 * 24 * time.Hour
	h.restart()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.exists("ran") {
		t.Errorf("end %+v", end)
	}
	if r := kinds[item.ApprovalResolved](h.log()); len(r) != 1 || r[0].Approved {
		t.Errorf("resolved %+v", r)
	}
}

// A call rewritten after its approval asks again, and an answer to the earlier form is
// refused, whether or not the rewritten call would ask by itself.
func TestRewriteAfterApproval(t *testing.T) {
	for _, again := range []string{"", "and that?"} {
		t.Run(again, func(t *testing.T) {
			times := 0
			h := newHouse(t, steps(scripted.Say(shell("echo x >> first"))), with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
				if strings.Contains(c.Arguments, "> new") {
					if again != "" {
						return c.Ask(again)
					}
					return c.Continue()
				}
				if times++; times > 1 {
					return c.Rewrite(`{"command":"echo y >> new"}`)
				}
				return c.Ask("may it?")
			}}))
			s := h.submit("go")
			first := h.asked(1)[0]
			h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
			var second pod.Approval
			for second = h.asked(1)[0]; second.Digest == first.Digest; second = h.asked(1)[0] {
				t.Log("still the first")
			}
			if second.CallSeq != first.CallSeq || !strings.Contains(second.Arguments, "> new") || second.Question == "" {
				t.Errorf("second %+v", second)
			}
			_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
			wantError(t, err, item.KindPrecondition, "APPROVAL_CHANGED")
			if h.exists("first") || h.exists("new") {
				t.Error("a call ran without approval")
			}
			h.resolve(pod.Resolution{CallSeq: second.CallSeq, Approve: true, Digest: second.Digest})
			h.ended(s)
			if h.exists("first") || h.read("new") != "y\n" {
				t.Errorf("first ran: %v, new %q", h.exists("first"), h.read("new"))
			}
			if n := len(kinds[item.ApprovalRequested](h.log())); n != 2 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// A call that interceptors deny after its approval does not run.
func TestNarrowedAfterApproval(t *testing.T) {
	times := 0
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		if times++; times > 1 {
			return c.Deny("too late")
		}
		return c.Ask("may it?")
	}}))
	s := h.submit("go")
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
	h.ended(s)
	if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, "too late") || h.exists("ran") {
		t.Errorf("results %+v", r)
	}
}

// Cancel withdraws the questions of its turn.
func TestCancelWithdraws(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch ran"), shell("touch ran2"))), with(asks("ran")))
	s := h.submit("go")
	q := h.asked(2)[0]
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.asked(0)
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq, Approve: true})
	wantError(t, err, item.KindPrecondition, "APPROVAL_WITHDRAWN")
	if h.exists("ran") || h.exists("ran2") {
		t.Error("a call ran without approval")
	}
	if end := h.run("next"); end.Outcome != item.OutcomeFinished {
		t.Errorf("next end %+v", end)
	}
}

// Calls that need no approval run, and their results are stored, while others wait.
func TestOtherCallsRunMeanwhile(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch first; echo 1"), shell("touch asked; echo 2"), shell("touch last; echo 3"))), with(asks("asked")))
	s := h.submit("go")
	n := 0
	for e := range h.follow(t.Context(), s.Seq) {
		if k, ok := e.Kind.(item.ItemAdded); ok {
			if _, ok := k.Item.(item.ToolResult); ok {
				n++
			}
		}
		if n == 2 {
			break
		}
	}
	if !h.exists("first") || !h.exists("last") || h.exists("asked") {
		t.Error("the wrong calls ran")
	}
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || !h.exists("asked") || len(results(h.log())) != 3 {
		t.Errorf("end %+v", end)
	}
}

// A question stays open over any number of stops and kills of podd, and its call runs
// once when a person agrees.
func TestApprovalOverRestarts(t *testing.T) {
	f := new(faulty)
	h := newHouse(t, steps(scripted.Say(shell("echo x >> ran"), shell("echo y >> other"))), with(asks("ran")),
		func(c *options) { f.Store, c.Store = c.Store, f })
	s := h.submit("go")
	q := h.asked(1)[0]
	for i := range 6 {
		if i%2 == 0 {
			h.restart()
		} else {
			h.kill(f)
		}
		h.recovered(i + 1)
		h.await(func(p item.Pod) bool { return p.Status.State == item.StateWaiting })
		if again := h.asked(1)[0]; again.CallSeq != q.CallSeq || again.Digest != q.Digest || !again.Expires.Equal(q.Expires) || !again.Time.Equal(q.Time) {
			t.Errorf("after restart %d: %+v, before %+v", i, again, q)
		}
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" || len(h.read("other")) > 2 {
		t.Errorf("end %+v, ran %q, other %q", end, h.read("ran"), h.read("other"))
	}
	if n := len(kinds[item.ApprovalRequested](h.log())); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A call that was approved but had not begun when podd was killed runs once, without
// another question.
func TestKilledBetweenApprovalAndStart(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x >> ran"))))
	h.config = func(old func(*options)) func(*options) {
		return func(c *options) { old(c); with(asks("ran"))(c) }
	}(h.config)
	h.restart()
	s := h.submit("go")
	q := h.asked(1)[0]
	check, refused := full(func(b store.Batch) bool { return holds[item.ToolStarted](b) })
	f.set(check)
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true})
	<-refused
	if h.exists("ran") {
		t.Error("the call ran before its start was stored")
	}
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
		t.Errorf("end %+v, ran %q", end, h.read("ran"))
	}
	if n := len(kinds[item.ApprovalRequested](h.log())); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Questions are listed for all pods, the oldest first, and for one.
func TestApprovalsOfAllPods(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true"))), with(asks("true")))
	for _, name := range []string{"q", "r"} {
		if _, err := h.host.Create(t.Context(), name, item.PodSpec{Dir: h.dir}); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"r", "p"} {
		if _, err := h.host.Submit(t.Context(), pod.Submit{Pod: name, Segments: []item.Segment{item.TextSegment{Text: "go"}}}); err != nil {
			t.Fatal(err)
		}
		h.asked(i + 1)
	}
	all := h.asked(2)
	if all[0].PodName != "r" || all[1].PodName != "p" {
		t.Errorf("all %+v", all)
	}
	for name, want := range map[string]int{"p": 1, "q": 0, "r": 1} {
		if got, err := h.host.Approvals(t.Context(), name); err != nil || len(got) != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, q := range all {
		if _, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: q.Pod, CallSeq: q.CallSeq, Approve: true}); err != nil {
			t.Error(err)
		}
	}
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Status.Turn == 1 })
}
