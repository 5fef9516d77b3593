package pod_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
	"podd/pkg/worker"
)

// endless is a model that never stops calling tools; each answer is billed 100 input and
// 10 output tokens.
func endless(_ context.Context, r scripted.Request) scripted.Reply {
	reply := scripted.Say(shell(fmt.Sprint("echo ", r.Steps())))
	reply.Usage = &item.Usage{Input: 100, Output: 10}
	return reply
}

// atOneDollar prices an input token at one micro-dollar and an output token at ten.
func atOneDollar(c *options) {
	priced(map[string]float64{"m": 1})(c)
	c.Compaction = worker.Compaction{}
}

// wantLimit checks that a turn reached a limit after the given number of requests, that a
// person is alerted, and that the pod accepts the next submit.
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
		{"no price", worker.Limits{MaxCost: 1}, func(c *options) { c.Model = item.ModelRef{Model: "unknown-price"} }, item.OutcomeFailed, "NO_PRICE", 1},
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

// The limits of a turn start again with each turn; those of the pod do not, also after a
// restart.
func TestTotalsCountOverTurns(t *testing.T) {
	h := newHouse(t, endless, func(c *options) { c.Limits = worker.Limits{MaxTokens: 200, TotalTokens: 330} })
	h.wantLimit(h.run("one"), item.OutcomeLimit, "MAX_TOKENS", 2)
	h.restart()
	h.wantLimit(h.run("two"), item.OutcomeLimit, "TOTAL_TOKENS", 3)
	h.wantLimit(h.run("three"), item.OutcomeLimit, "TOTAL_TOKENS", 3)
}

// The limits of a pod's own spec override the host's.
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

// The same call with the same result in five of ten steps gives the model a note, in ten
// of twenty it ends the turn. A different result does not count, nor do repeats further
// apart.
func TestLoopGuard(t *testing.T) {
	each := func(n int, call scripted.Call) func(int) scripted.Call {
		return func(step int) scripted.Call {
			if step%n > 0 {
				return shell(fmt.Sprint("echo ", step))
			}
			return call
		}
	}
	tests := []struct {
		name     string
		limits   worker.Limits
		call     func(step int) scripted.Call
		reason   string
		requests int
		// notes are the requests that are the first to have a note.
		notes []int
	}{
		{"each step", worker.Limits{}, each(1, shell("true")), "LOOP", 10, []int{6}},
		{"each other step", worker.Limits{}, each(2, shell("true")), "LOOP", 19, []int{10}},
		{"each third step", worker.Limits{}, each(3, shell("true")), "MAX_STEPS", 30, nil},
		{"another result", worker.Limits{}, each(1, shell("echo x >> n; cat n")), "MAX_STEPS", 30, nil},
		{"refused", worker.Limits{}, each(1, scripted.Call{Name: "no_such_tool", Arguments: "{}"}), "LOOP", 10, []int{6}},
		{"soon", worker.Limits{LoopTimes: 2, LoopSteps: 2}, each(1, shell("true")), "LOOP", 4, []int{3}},
		{"later", worker.Limits{LoopTimes: 5, LoopSteps: 15}, each(3, shell("true")), "LOOP", 28, []int{14}},
		{"again", worker.Limits{LoopTimes: 3, LoopSteps: 5}, func(step int) scripted.Call {
			if step%10 > 2 {
				return shell(fmt.Sprint("echo ", step))
			}
			return shell("true")
		}, "MAX_STEPS", 30, []int{4, 14, 24}},
		{"off", worker.Limits{LoopTimes: -1}, each(1, shell("true")), "MAX_STEPS", 30, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply { return scripted.Say(tt.call(r.Steps())) },
				func(c *options) { c.Limits = tt.limits; c.Limits.MaxSteps = 30 })
			end := h.run("go")
			h.wantLimit(end, item.OutcomeLimit, tt.reason, tt.requests)
			if tt.reason == "LOOP" && !strings.Contains(end.Cause, "the same call of ") {
				t.Errorf("cause %q", end.Cause)
			}
			var notes []int
			for i, r := range h.model.Requests() {
				if strings.Count(string(r), "podd ends the turn") > len(notes) {
					notes = append(notes, i+1)
				}
			}
			if !slices.Equal(notes, tt.notes) {
				t.Errorf("notes in requests %v, want %v", notes, tt.notes)
			}
		})
	}
}

// A bill that no request can have neither lifts a limit nor makes a sum of several pods
// negative. podd counts its estimate and says so.
func TestABillThatNoModelHas(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			var client llm.Model
			h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply {
				return usageOf(math.MaxInt64-7, math.MaxInt64-7, scripted.Text("hi"))
			}, func(c *options) {
				c.Limits.TotalTokens = 20
				if client != nil {
					c.Router = llm.One(client)
				}
			})
			c := connect(t, api, h.model.URL(), h.now)
			t.Cleanup(c.Close)
			client = c
			h.restart()
			end := h.run("go")
			h.wantEnd(end, item.OutcomeFinished, "", "")
			if u := end.Usage; u.Input < 20 || u.Input > 10_000 || u.Output < 1 || u.Output > 100 {
				t.Errorf("usage %+v", u)
			}
			h.wantEnd(h.run("more"), item.OutcomeLimit, "TOTAL_TOKENS", "")
			if w := h.warned(); len(w) != 2 || !strings.Contains(w[0]+w[1], "billed more than 100000000 tokens for one request") {
				t.Errorf("alerts %q", w)
			}
			if all, err := report.Count(t.Context(), h.host, ""); err != nil || all.Usage != end.Usage {
				t.Errorf("stats %+v, %v", all.Usage, err)
			}
		})
	}
}
