package pod_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
	"podd/pkg/worker"
)

// oneByOne gives the n-th request the n-th reply, with 10 tokens in and 5 out each.
func oneByOne(replies ...scripted.Reply) scripted.Handler {
	var n atomic.Int64
	return func(context.Context, scripted.Request) scripted.Reply {
		reply := replies[min(int(n.Add(1)), len(replies))-1]
		reply.Usage = &item.Usage{Input: 10, Output: 5}
		return reply
	}
}

// An answer has text or a call. What has neither is asked again once, and never ends a turn
// as finished.
func TestSilentAnswers(t *testing.T) {
	nothing, blank, thought := scripted.Say(), scripted.Say(scripted.Text("\n\n")), scripted.Say(scripted.Reasoning("Hm."))
	long := scripted.Say(scripted.Reasoning("Hm, and so on"))
	long.Stop = "length"
	filtered := scripted.Say(scripted.Reasoning("Hm."))
	filtered.Stop = "filter"
	done, call := scripted.Say(scripted.Text("Done.")), scripted.Say(shell("true"))
	for name, tc := range map[string]struct {
		replies  []scripted.Reply
		limits   worker.Limits
		schema   string
		outcome  item.Outcome
		reason   string
		says     string
		requests int
	}{
		"nothing":                         {replies: []scripted.Reply{nothing, nothing}, outcome: item.OutcomeFailed, reason: "NO_ANSWER", says: "m sent finish_reason stop with neither text nor a call, also when asked again", requests: 2},
		"blank text":                      {replies: []scripted.Reply{blank, blank}, outcome: item.OutcomeFailed, reason: "NO_ANSWER", says: "with neither text nor a call", requests: 2},
		"reasoning alone":                 {replies: []scripted.Reply{thought, thought}, outcome: item.OutcomeFailed, reason: "NO_ANSWER", says: "finish_reason stop with reasoning alone", requests: 2},
		"up to the output limit":          {replies: []scripted.Reply{long, long}, outcome: item.OutcomeFailed, reason: "NO_ANSWER", says: "reasoning alone up to the output limit, also when asked again; raise max_output", requests: 2},
		"answered when asked again":       {replies: []scripted.Reply{thought, done}, outcome: item.OutcomeFinished, requests: 2},
		"after results":                   {replies: []scripted.Reply{call, nothing, done}, outcome: item.OutcomeFinished, requests: 3},
		"one at a time":                   {replies: []scripted.Reply{nothing, call, thought, done}, outcome: item.OutcomeFinished, requests: 4},
		"two in a row after a call":       {replies: []scripted.Reply{nothing, call, thought, long}, outcome: item.OutcomeFailed, reason: "NO_ANSWER", says: "up to the output limit", requests: 4},
		"withheld by a filter":            {replies: []scripted.Reply{filtered}, outcome: item.OutcomeFailed, reason: "CONTENT_FILTER", requests: 1},
		"at the limit of requests":        {replies: []scripted.Reply{nothing}, limits: worker.Limits{MaxSteps: 1}, outcome: item.OutcomeLimit, reason: "MAX_STEPS", requests: 1},
		"at the limit of tokens":          {replies: []scripted.Reply{nothing}, limits: worker.Limits{MaxTokens: 15}, outcome: item.OutcomeLimit, reason: "MAX_TOKENS", requests: 1},
		"instead of a value":              {replies: []scripted.Reply{nothing, scripted.Say(scripted.Text("low")), thought, scripted.Say(scripted.Text(`{"risk":"low"}`))}, schema: riskSchema, outcome: item.OutcomeFinished, requests: 4},
		"instead of a value, and forever": {replies: []scripted.Reply{nothing, nothing}, schema: riskSchema, outcome: item.OutcomeFailed, reason: "NO_ANSWER", requests: 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, oneByOne(tc.replies...), func(c *options) { c.Limits = tc.limits })
			end := h.ended(h.asks("go", tc.schema))
			h.wantEnd(end, tc.outcome, tc.reason, tc.says)
			n := int64(len(h.model.Requests()))
			if n != int64(tc.requests) || end.Usage != (item.Usage{Input: 10 * n, Output: 5 * n, Requests: n}) {
				t.Errorf("%d requests, want %d: %+v", n, tc.requests, end)
			}
			if n > 1 && !strings.Contains(strings.Join(h.warned(), "\n"), "podd asks again") {
				t.Errorf("alerts %q", h.warned())
			}
		})
	}
}

// The model reads that its answer was none. The prompt after a turn without an answer works,
// over each API, also after a restart: the reasoning stays in the log and does not go back.
func TestAfterSilentAnswers(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			thought := scripted.Say(scripted.Reasoning("Hm, so"))
			var client llm.Model
			h := newHouse(t, oneByOne(thought, thought, scripted.Say(scripted.Text("Here.")), scripted.Say(scripted.Text("Done."))), func(c *options) {
				if client != nil {
					c.Router = llm.One(client)
				}
			})
			c := connect(t, api, h.model.URL(), h.now)
			t.Cleanup(c.Close)
			client = c
			h.restart()
			h.wantEnd(h.run("go"), item.OutcomeFailed, "NO_ANSWER", "reasoning alone")
			h.wantEnd(h.run("and now?"), item.OutcomeFinished, "", "")
			h.restart()
			h.wantEnd(h.run("and then?"), item.OutcomeFinished, "", "")
			requests := h.model.Requests()
			if len(requests) != 4 {
				t.Fatalf("%d requests", len(requests))
			}
			for i, r := range requests {
				if strings.Contains(string(r), "scripted-m-") || strings.Contains(string(r), "Hm, so") {
					t.Errorf("request %d has the reasoning: %s", i, r)
				}
				if got := strings.Contains(string(r), "had no text and no tool call"); got != (i > 0) {
					t.Errorf("request %d tells the model: %v", i, got)
				}
			}
			for _, it := range items(h.log()) {
				if r, ok := it.(item.Reasoning); ok && r.Text == "Hm, so" {
					return
				}
			}
			t.Error("the log has no reasoning")
		})
	}
}

// Another model is asked before the turn fails.
func TestAnotherModelAnswersInstead(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Model == "m" {
			return scripted.Say(scripted.Reasoning("Hm."))
		}
		return scripted.Say(scripted.Text("Here."))
	}, func(c *options) { c.Fallbacks = refs("m2") })
	h.wantEnd(h.run("go"), item.OutcomeFinished, "", "")
	if n := len(h.model.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	reasoned := false
	for _, it := range items(h.log()) {
		_, speaks := it.(item.AssistantMessage)
		if speaks && reasoned {
			t.Error("the reasoning of one model is before the text of the other")
		}
		_, reasoned = it.(item.Reasoning)
	}
}

// A parent reads that its sub-pod has no answer.
func TestASilentSubPodFailed(t *testing.T) {
	h := spawning(t, 1, map[string]scripted.Handler{
		"parent": steps(scripted.Say(spawn(`{"task":"child: look"}`)), scripted.Say(scripted.Text("noted"))),
		"child:": scripted.Answers(scripted.Say()),
	})
	h.wantEnd(h.run("parent go"), item.OutcomeFinished, "", "")
	got := results(h.log())
	if len(got) != 1 || !got[0].IsError || !strings.Contains(got[0].Summary, "did not finish (failed)") || !strings.Contains(got[0].Summary, "neither text nor a call") {
		t.Errorf("%+v", got)
	}
}
