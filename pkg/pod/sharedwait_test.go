package pod_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

// submitTo creates a pod and submits to it.
func (h *house) submitTo(name string) pod.Submitted {
	h.t.Helper()
	if _, err := h.host.Create(h.t.Context(), name, item.PodSpec{Dir: h.dir}); err != nil {
		h.t.Fatal(err)
	}
	s, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: name, Segments: []item.Segment{item.TextSegment{Text: "go " + name}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// After one pod was told to wait, the others send nothing until then. One tries first, and
// the others follow.
func TestPodsShareAWait(t *testing.T) {
	z := newSleeper()
	var asked, answering atomic.Int32
	h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply {
		switch asked.Add(1) {
		case 1:
			return scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour)
		case 2:
			answering.Add(1)
			defer answering.Add(-1)
		default:
			if answering.Load() > 0 {
				t.Error("a request left while another one tried")
			}
		}
		return scripted.Say(scripted.Text("fine"))
	}, func(c *options) { c.Retry.Sleep = z.sleep })
	own := h.submit("go")
	<-z.asked
	h.waiting()
	var others []string
	for i := range 4 {
		name := fmt.Sprint("other-", i)
		others = append(others, name)
		h.submitTo(name)
		if d := <-z.asked; d > time.Hour || d < 50*time.Minute {
			t.Errorf("%s waits %s", name, d)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests during the wait", n)
	}
	close(z.wake)
	if end := h.ended(own); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	for _, name := range others {
		h.awaitPod(name, func(p item.Pod) bool { return p.Status.State == item.StateIdle })
	}
	if n := asked.Load(); n != 6 {
		t.Errorf("%d requests in all", n)
	}
	if w := h.warned(); !slices.ContainsFunc(w, func(text string) bool { return strings.Contains(text, "slow down") }) {
		t.Errorf("alerts %q", w)
	}
}

// A pod that has a fallback does not wait for long because another one was told to.
func TestFallbackInsteadOfASharedWait(t *testing.T) {
	h := newHouse(t, onlyModel("m2", func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("fine")) }),
		func(c *options) { c.Fallbacks = refs("m2") })
	h.run("go")
	before := len(h.model.Requests())
	if end := h.run("again"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if n := len(h.model.Requests()) - before; n != 1 {
		t.Errorf("%d requests although the wait lasts", n)
	}
}
