package pod_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// leap is a clock that can be advanced.
type leap struct{ by atomic.Int64 }

func (l *leap) now() time.Time        { return time.Now().Add(time.Duration(l.by.Load())) }
func (l *leap) set(c *options)        { c.Now = l.now }
func (l *leap) ahead(d time.Duration) { l.by.Store(int64(d)) }

const eightDays = 8 * 24 * time.Hour

// tooLate answers an expired question, and checks podd's error.
func (h *house) tooLate(q pod.Approval) {
	h.t.Helper()
	for _, r := range []pod.Resolution{{Approve: true}, {Approve: true, Always: true}, {}} {
		r.Pod, r.CallSeq, r.Digest = "p", q.CallSeq, q.Digest
		_, err := h.host.Resolve(h.t.Context(), r)
		wantError(h.t, err, item.KindPrecondition, "APPROVAL_EXPIRED")
		if !strings.Contains(fmt.Sprint(err), "expired at "+q.Expires.Format(time.DateTime+"Z")) {
			h.t.Errorf("error %v does not say when", err)
		}
	}
	if p, err := h.host.Get(h.t.Context(), "p"); err != nil || len(p.Spec.Rules) != 0 {
		h.t.Errorf("rules %+v, %v", p.Spec.Rules, err)
	}
}

// deniedByTime checks that the call did not run and that the model learns why.
func (h *house) deniedByTime(s pod.Submitted) {
	h.t.Helper()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.exists("ran") {
		h.t.Errorf("end %+v, ran: %v", end, h.exists("ran"))
	}
	r := kinds[item.ApprovalResolved](h.log())
	if len(r) != 1 || r[0].Approved || r[0].By != "podd" || !strings.Contains(h.body(2), "expired without an answer at") {
		h.t.Errorf("resolved %+v; the model is sent %s", r, h.body(2))
	}
}

// The stored time decides, not a timer: a laptop that slept for a week wakes up with the
// question still open, and the answer comes too late.
func TestExpiredWhileTheMachineSlept(t *testing.T) {
	var clock leap
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")), clock.set)
	s := h.submit("go")
	q := h.asked(1)[0]
	clock.ahead(eightDays)
	h.tooLate(q)
	h.deniedByTime(s)
	h.asked(0)
}

// A pod that cannot continue after a restart does not extend the time of its question.
func TestExpiredWhileThePodIsStuck(t *testing.T) {
	var clock leap
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")), clock.set)
	s := h.submit("go")
	q := h.asked(1)[0]
	h.close()
	moved := h.dir + "-moved"
	if err := os.Rename(h.dir, moved); err != nil {
		t.Fatal(err)
	}
	clock.ahead(eightDays)
	h.open()
	h.await(func(item.Pod) bool {
		p, err := h.host.Get(t.Context(), "p")
		return err == nil && strings.Contains(p.Status.Reason, "blocked")
	})
	h.tooLate(q)
	if err := os.Rename(moved, h.dir); err != nil {
		t.Fatal(err)
	}
	h.deniedByTime(s)
}

// A clock set back to before the end of the log reopens no question.
func TestExpiryOutlivesAClockSetBack(t *testing.T) {
	var clock leap
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), with(asks("ran")), clock.set)
	s := h.submit("go")
	q := h.asked(1)[0]
	clock.ahead(eightDays)
	h.notify("later", false)
	clock.ahead(0)
	h.tooLate(q)
	h.deniedByTime(s)
}

// A waiting call checks the clock regularly: timers stop while a machine sleeps.
func TestWaitUntilFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		expired := make(chan bool)
		go func() { expired <- pod.WaitUntil(t.Context(), clock.now, clock.now().Add(7*24*time.Hour), nil) }()
		synctest.Wait()
		clock.ahead(eightDays)
		begun := time.Now()
		if !<-expired || time.Since(begun) > time.Hour {
			t.Errorf("it waited for %s after the clock had passed the time", time.Since(begun))
		}
	})
}
