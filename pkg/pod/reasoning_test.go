package pod_test

import (
	"bytes"
	"context"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// Reasoning goes back only to its own model, over restarts: not to a fallback, and that
// of the fallback not to the pod's own model later. Meanwhile the requests to one model
// extend each other.
func TestReasoningIsForItsModelOnly(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			var requests atomic.Int32
			answer := func(_ context.Context, r scripted.Request) scripted.Reply {
				switch requests.Add(1) {
				case 3:
					return scripted.Fail(429, "rate_limit_exceeded", "busy", time.Hour)
				case 5, 7:
					return scripted.Say(scripted.Reasoning("thought of "+r.Model), scripted.Text("done"))
				}
				return scripted.Say(scripted.Reasoning("thought of "+r.Model), shell("true"))
			}
			var client llm.Model
			h := newHouse(t, answer, func(c *options) {
				if c.Fallbacks = refs("m2"); client != nil {
					c.Router = llm.One(client)
				}
			})
			own := connect(t, api, h.model.URL(), h.now)
			client = own
			defer own.Close()
			h.restart()
			for _, text := range []string{"one", "two"} {
				if end := h.run(text); end.Outcome != item.OutcomeFinished {
					t.Errorf("end %+v", end)
				}
				h.slept.Add(int64(time.Hour))
				h.restart()
			}
			want := []struct {
				model  string
				m1, m2 int
			}{{"m", 0, 0}, {"m", 1, 0}, {"m", 2, 0}, {"m2", 0, 0}, {"m2", 0, 1}, {"m", 2, 0}, {"m", 3, 0}}
			got := h.model.Requests()
			if len(got) != len(want) {
				t.Fatalf("%d requests", len(got))
			}
			for i, w := range want {
				m1, m2 := bytes.Count(got[i], []byte(`"thought of m"`)), bytes.Count(got[i], []byte(`"thought of m2"`))
				if !bytes.HasPrefix(got[i], []byte(`{"model":"`+w.model+`"`)) || m1 != w.m1 || m2 != w.m2 {
					t.Errorf("request %d has %d thoughts of m and %d of m2: %s", i+1, m1, m2, got[i])
				}
				if i > 0 && want[i-1].model == w.model && !extends(got[i], got[i-1]) {
					t.Errorf("request %d does not extend the one before", i+1)
				}
			}
		})
	}
}

// closing is what ends a body: the mark of the last block, which moves, and the brackets.
var closing = regexp.MustCompile(`(,"cache_control":\{[^}]*\})?["\]}]*$`)

// extends says whether a request begins with all that the one before said.
func extends(request, before []byte) bool {
	return bytes.HasPrefix(request, closing.ReplaceAll(before, nil))
}
