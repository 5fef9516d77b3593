package pod_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/worker"
)

// endless is a model that never stops calling tools; each answer is billed 100 tokens in
// and 10 out.
func endless(_ context.Context, r scripted.Request) scripted.Reply {
	reply := scripted.Say(shell(fmt.Sprint("echo ", r.Steps())))
	reply.Usage = &item.Usage{Input: 100, Output: 10}
	return reply
}

// atOneDollar prices a token in at one micro-dollar and a token out at ten.
func atOneDollar(c *options) {
	priced(map[string]float64{"m": 1})(c)
	c.Compaction = worker.Compaction{}
}

// wantLimit checks that a turn met a limit after so many requests, that a person is
// alerted, and that the pod takes the next submit.
func (h *house) wantLimit(end item.TurnEnded, outcome item.Outcome, reason string, requests int) {
	h.t.Helper()
	h.wantEnd(end, outcome, reason, "")
	if n := len(h.model.Requests()); n != requests || end.Cause == "" {
		h.t.Errorf("%d requests, want %d: %+v", n, requests, end)
	}
	if w := h.warned(); !slices.ContainsFunc(w, func(text string) bool { return strings.HasSuffix(text, end.Cause) }) {
		h.t.Errorf("alerts %q have none about %q", w, end.Cause)
	}
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle })
}

func TestLimitsOfUse(t *testing.T) {
	tests := []struct {
		name     string
		limits   worker.Limits
		config   func(*options)
		outcome  item.Outcome
		reason   string
		requests int
	}{
		{"tokens", worker.Limits{MaxTokens: 250}, nil, item.OutcomeLimit, "MAX_TOKENS", 3},
		{"tokens of the pod", worker.Limits{TotalTokens: 110}, nil, item.OutcomeLimit, "TOTAL_TOKENS", 1},
		{"cost", worker.Limits{MaxCost: 0.0005}, atOneDollar, item.OutcomeLimit, "MAX_COST", 3},
		{"cost of the pod", worker.Limits{TotalCost: 0.0003}, atOneDollar, item.OutcomeLimit, "TOTAL_COST", 2},
		{"no price", worker.Limits{MaxCost: 1}, func(c *options) { c.ModelName = "nobody-knows-it" }, item.OutcomeFailed, "NO_PRICE", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, endless, func(c *options) {
				if tt.config != nil {
					tt.config(c)
				}
				c.Limits = tt.limits
			})
			h.wantLimit(h.run("go"), tt.outcome, tt.reason, tt.requests)
		})
	}
}

// What a turn may use begins anew with each turn, what the pod may use does not, also
// after a restart.
func TestTotalsCountOverTurns(t *testing.T) {
	h := newHouse(t, endless, func(c *options) { c.Limits = worker.Limits{MaxTokens: 200, TotalTokens: 330} })
	h.wantLimit(h.run("one"), item.OutcomeLimit, "MAX_TOKENS", 2)
	h.restart()
	h.wantLimit(h.run("two"), item.OutcomeLimit, "TOTAL_TOKENS", 3)
	h.wantLimit(h.run("three"), item.OutcomeLimit, "TOTAL_TOKENS", 3)
}

// The limits of a pod's own spec go before the host's.
func TestLimitsOfAPod(t *testing.T) {
	h := newHouse(t, endless, func(c *options) { c.Limits = worker.Limits{MaxSteps: 5, MaxTokens: 1000} })
	if _, err := h.host.Update(t.Context(), "p", to(item.PodSpec{Dir: h.dir, Limits: item.PodLimits{MaxSteps: 2}})); err != nil {
		t.Fatal(err)
	}
	h.wantLimit(h.run("go"), item.OutcomeLimit, "MAX_STEPS", 2)
	if _, err := h.host.Update(t.Context(), "p", to(item.PodSpec{Dir: h.dir, Limits: item.PodLimits{MaxTokens: 110}})); err != nil {
		t.Fatal(err)
	}
	h.wantLimit(h.run("again"), item.OutcomeLimit, "MAX_TOKENS", 3)
}

// The same call with the same result five times in ten steps ends the turn; a result
// that differs does not count, nor do repeats that are further apart.
func TestLoopGuard(t *testing.T) {
	tests := []struct {
		name    string
		call    func(step int) scripted.Call
		reason  string
		request int
	}{
		{"each step", func(int) scripted.Call { return shell("true") }, "LOOP", 5},
		{"each other step", func(step int) scripted.Call {
			if step%2 == 1 {
				return shell(fmt.Sprint("echo ", step))
			}
			return shell("true")
		}, "LOOP", 9},
		{"each third step", func(step int) scripted.Call {
			if step%3 != 0 {
				return shell(fmt.Sprint("echo ", step))
			}
			return shell("true")
		}, "MAX_STEPS", 20},
		{"another result", func(int) scripted.Call { return shell("echo x >> n; cat n") }, "MAX_STEPS", 20},
		{"refused", func(int) scripted.Call { return scripted.Call{Name: "no_such_tool", Arguments: "{}"} }, "LOOP", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply { return scripted.Say(tt.call(r.Steps())) },
				func(c *options) { c.Limits.MaxSteps = 20 })
			h.wantLimit(h.run("go"), item.OutcomeLimit, tt.reason, tt.request)
		})
	}
}
