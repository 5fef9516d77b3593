package pod_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// Whatever an endpoint keeps answering, a turn ends, and does not retry without pauses.
func TestRetriesEnd(t *testing.T) {
	soon := scripted.Fail(429, "rate_limit_exceeded", "slow down", 0)
	soon.Header.Set("Retry-After-Ms", "1")
	never := scripted.Fail(503, "", "overloaded", 0)
	never.Header.Set("X-Should-Retry", "false")
	for _, tt := range []struct {
		name     string
		reply    scripted.Reply
		reason   string
		requests int
	}{
		{"asked to come back in a millisecond", soon, "RATE_LIMIT", 6},
		{"overloaded", scripted.Fail(503, "", "overloaded", 0), "OVERLOADED", 6},
		{"reset before the first word", scripted.Say(scripted.Reset{}), "CUT", 6},
		{"asked to wait for an hour each time", scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour), "RATE_LIMIT", 25},
		{"asked not to come back", never, "OVERLOADED", 1},
		{"the model's call refused", scripted.Fail(400, "tool_use_failed", "Tool call validation failed", 0), "MALFORMED_CALL", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var waits []time.Duration
			h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply { return tt.reply }, func(c *options) {
				c.Retry.Sleep = func(_ context.Context, d time.Duration) error {
					waits = append(waits, d)
					return nil
				}
			})
			end := h.run("go")
			if n := len(h.model.Requests()); end.Outcome != item.OutcomeFailed || end.Reason != tt.reason || n != tt.requests {
				t.Errorf("%d requests, end %+v", n, end)
			}
			if len(waits) > 0 && slices.Min(waits) < 250*time.Millisecond {
				t.Errorf("waits %v", waits)
			}
		})
	}
}

// When the endpoint refuses a model's call, podd asks the model again, and then adds a
// note.
func TestRefusedCallIsToldToTheModel(t *testing.T) {
	refused := scripted.Reply{
		Status: 400, Header: http.Header{"Content-Type": {"application/json"}},
		Body: `{"error":{"message":"Tool call validation failed: missing properties: 'command'","code":"tool_use_failed","failed_generation":"{\"name\": \"shell\"}"}}`,
	}
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.Steps() > 0:
			return scripted.Say(scripted.Text("done"))
		case strings.Contains(r.LastUser(), "[podd note: refused_call]"):
			return scripted.Say(shell("echo x >> ran"))
		}
		return refused
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	if h.read("ran") != "x\n" || len(h.model.Requests()) != 5 {
		t.Errorf("ran %q, %d requests", h.read("ran"), len(h.model.Requests()))
	}
	var told []string
	for _, it := range items(h.log()) {
		if m, ok := it.(item.SystemMessage); ok {
			told = append(told, m.Text)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "missing properties: 'command'") || !strings.Contains(told[0], `{"name": "shell"}`) {
		t.Errorf("told %q", told)
	}
}
