package pod_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// once gives the first request one answer and all others another.
func once(first, then scripted.Reply) scripted.Handler {
	var n atomic.Int64
	return func(context.Context, scripted.Request) scripted.Reply {
		if n.Add(1) == 1 {
			return first
		}
		return then
	}
}

// wantBilled checks that the pod, its last turn and its log count the same requests.
func (h *house) wantBilled(end item.TurnEnded, want item.Usage, purposes ...string) {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	var sum item.Usage
	var got []string
	for _, u := range kinds[item.RequestUsage](h.log()) {
		sum, got = sum.Add(u.Usage), append(got, u.Purpose)
	}
	if end.Usage != want || p.Status.Usage != want || sum != want {
		h.t.Errorf("the turn counts %+v, the pod %+v, the log %+v, want %+v", end.Usage, p.Status.Usage, sum, want)
	}
	if strings.Join(got, ",") != strings.Join(purposes, ",") {
		h.t.Errorf("purposes %q, want %q", got, purposes)
	}
}

// An answer with more encrypted reasoning than fits an entry of the log fails the turn:
// it is requested once, and its cost counts.
func TestAnswerThatCannotBeStored(t *testing.T) {
	huge := scripted.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: fmt.Sprintf(
		`{"id":"r","model":"m","choices":[{"index":0,"message":{"content":"hi","reasoning_details":[{"type":"reasoning.encrypted","data":%q}]},`+
			`"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, strings.Repeat("A", store.MaxEntryBytes))}
	h := newHouse(t, once(huge, scripted.Say(scripted.Text("again"))))
	end := h.run("go")
	h.wantEnd(end, item.OutcomeFailed, "PROTOCOL", "exceeds")
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	h.wantBilled(end, item.Usage{Input: 10, Output: 5, Requests: 1}, item.PurposeDiscarded)
	if end := h.run("next"); end.Outcome != item.OutcomeFinished {
		t.Errorf("next end %+v", end)
	}
}

// A batch that the log refuses permanently ends the turn: another try would cost the
// same, and be refused again.
func TestRefusedAnswerEndsTheTurn(t *testing.T) {
	reply := scripted.Say(scripted.Text("never"))
	reply.Usage = &item.Usage{Input: 7, Output: 3}
	h, f := newFaultyHouse(t, once(reply, scripted.Say(scripted.Text("again"))))
	f.set(func(b store.Batch) error {
		for _, e := range b.Entries {
			if k, ok := e.Kind.(item.ItemAdded); ok && k.Item == (item.AssistantMessage{Text: "never"}) {
				return item.Errorf(item.KindInvalid, store.ReasonTooLarge, "an entry of 16777216 bytes cannot be stored")
			}
		}
		return nil
	})
	end := h.run("go")
	h.wantEnd(end, item.OutcomeFailed, "NOT_STORED", "an entry of 16777216 bytes cannot be stored")
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	h.wantBilled(end, item.Usage{Input: 7, Output: 3, Requests: 1}, item.PurposeDiscarded)
	h.wantNoAnswer()
}

// A model that writes no summary is asked once more, and billed for both, whether podd or a
// person requested it.
func TestEmptySummaryIsBilled(t *testing.T) {
	empty := scripted.Reply{Usage: &item.Usage{Input: 100, Output: 1}}
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		reply := scripted.Say(scripted.Text("fine"))
		reply.Usage = &item.Usage{Input: 10, Output: 2}
		switch {
		case strings.Contains(r.LastUser(), "summary that replaces the conversation"):
			return empty
		case strings.Contains(r.LastUser(), "too much"):
			return scripted.Fail(400, "context_length_exceeded", "This model's maximum context length is exceeded", 0)
		}
		return reply
	}, func(c *options) { c.Compaction.KeepTokens = 1 })
	h.run("one")
	_, err := h.host.Compact(t.Context(), "p")
	wantError(t, err, item.KindPrecondition, "COMPACTION_FAILED")
	end := h.run("too much")
	h.wantEnd(end, item.OutcomeFailed, "NO_ANSWER", "sent finish_reason stop with neither text nor a call instead of a summary")
	if want := (item.Usage{Input: 200, Output: 2, Requests: 2}); end.Usage != want {
		t.Errorf("the turn counts %+v, want %+v", end.Usage, want)
	}
	var purposes []string
	for _, u := range kinds[item.RequestUsage](h.log()) {
		purposes = append(purposes, u.Purpose)
	}
	if want := ",compaction,compaction,compaction,compaction"; strings.Join(purposes, ",") != want {
		t.Errorf("purposes %q, want %q", purposes, want)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Usage.Input != 410 || p.Status.Usage.Requests != 5 {
		t.Errorf("the pod counts %+v, %v", p.Status.Usage, err)
	}
}

// If the log permanently refuses results, the turn does not request the next answer again
// and again: podd gives it up.
func TestRefusedResultsEndTheTurn(t *testing.T) {
	before := pod.TryAgainAfter(time.Millisecond)
	t.Cleanup(func() { pod.TryAgainAfter(before) })
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo one")), scripted.Say(scripted.Text("never"))))
	f.set(func(b store.Batch) error {
		for _, e := range b.Entries {
			k, _ := e.Kind.(item.ItemAdded)
			if r, ok := k.Item.(item.ToolResult); ok && strings.Contains(r.Content, "one") {
				return item.Errorf(item.KindInvalid, store.ReasonTooLarge, "an entry of 16777216 bytes cannot be stored")
			}
		}
		return nil
	})
	h.wantEnd(h.run("go"), item.OutcomeFailed, "NOT_STORED", "16777216 bytes cannot be stored")
	h.wantNoAnswer()
}
