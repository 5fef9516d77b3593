package pod_test

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"

	"podd/internal/report"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/worker"
)

// priced sets prices in USD per million tokens of input; output costs ten times that.
func priced(inputs map[string]float64) func(*options) {
	return func(c *options) {
		c.Compaction = worker.Compaction{KeepTokens: 1, Model: item.ModelRef{Model: "small"}}
		for model, input := range inputs {
			c.Models.Prices = append(c.Models.Prices, fold.ModelPrice{
				Model: model, Price: fold.DefaultPrice(),
				Money: fold.Money{Input: input, CachedInput: input / 10, CacheWrite: input, Output: input * 10},
			})
		}
	}
}

// billed answers each request with text and reports a million input tokens, half of them
// cached, and a thousand output tokens.
func billed(context.Context, scripted.Request) scripted.Reply {
	reply := scripted.Say(scripted.Text("done"))
	reply.Usage = &item.Usage{Input: 1_000_000, CachedInput: 500_000, Output: 1000}
	return reply
}

// renamed answers under the name of a model that was not requested.
func renamed(context.Context, scripted.Request) scripted.Reply {
	return scripted.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: " +
		`{"id":"1","object":"chat.completion.chunk","model":"somewhere/else","choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":1000000,"completion_tokens":1000}}` + "\n\ndata: [DONE]\n\n"}
}

func unreported(context.Context, scripted.Request) scripted.Reply {
	reply := scripted.Say(scripted.Text("done"))
	reply.NoUsage = true
	return reply
}

// Two turns and a summary cost what the configured prices say, for the model that
// answered, otherwise for the requested one; requests without a known cost are counted.
func TestCost(t *testing.T) {
	const one, summary = .55 + .01, 2 * (.55 + .01)
	for name, tt := range map[string]struct {
		handler  scripted.Handler
		prices   map[string]float64
		want     float64
		unpriced int64
	}{
		"both models":               {billed, map[string]float64{"m": 1, "small": 2}, 2*one + summary, 0},
		"the pod's alone":           {billed, map[string]float64{"m": 1}, 2 * one, 1},
		"the summary's alone":       {billed, map[string]float64{"small": 2}, summary, 2},
		"none":                      {billed, nil, 0, 3},
		"under another name":        {renamed, map[string]float64{"m": 1, "small": 2}, 2*1.01 + 2*1.01, 0},
		"under a name with a price": {renamed, map[string]float64{"m": 1, "else": 3}, 3 * 3 * 1.01, 0},
		"nothing reported":          {unreported, map[string]float64{"m": 1, "small": 2}, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, tt.handler, priced(tt.prices))
			h.run("one long question, so that a summary is shorter: " + strings.Repeat("word ", 2000))
			h.run("two")
			if _, err := h.host.Compact(t.Context(), "p"); err != nil {
				t.Fatal(err)
			}
			for _, pod := range []string{"p", ""} {
				st, err := report.Count(t.Context(), h.host, pod)
				if err != nil || math.Abs(st.Cost-tt.want) > 1e-9 || st.Unpriced != tt.unpriced || st.Usage.Requests != 3 {
					t.Errorf("%q: $%v and %d of %d requests without a price, %v; want $%v and %d", pod, st.Cost, st.Unpriced, st.Usage.Requests, err, tt.want, tt.unpriced)
				}
			}
		})
	}
}
