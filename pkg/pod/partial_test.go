package pod_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// watched is the real model. It reports when the turn has got a fragment with a certain
// text.
type watched struct {
	llm.Model
	text  string
	taken chan struct{}
	once  *sync.Once
}

func watch(c *options, text string, taken chan struct{}) {
	c.Router = llm.One(watched{c.Router.Endpoints["default"].Model, text, taken, new(sync.Once)})
}

// Stream is the model's.
func (w watched) Stream(ctx context.Context, body ...[]byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for ev, err := range w.Model.Stream(ctx, body...) {
			if !yield(ev, err) {
				return
			}
			if d, ok := ev.(llm.BlockDelta); ok && strings.Contains(d.Text, w.text) {
				w.once.Do(func() { close(w.taken) })
			}
		}
	}
}

// wantNoAnswer checks that the conversation has no text of the assistant.
func (h *house) wantNoAnswer() {
	h.t.Helper()
	for _, it := range items(h.log()) {
		if m, ok := it.(item.AssistantMessage); ok && m.Text != "" {
			h.t.Errorf("the conversation has the answer %q", m.Text)
		}
	}
}

// Half of a summary is not an answer: a cancel during an automatic compaction leaves
// nothing of it in the conversation.
func TestCancelDuringASummary(t *testing.T) {
	taken := make(chan struct{})
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case strings.Contains(r.LastUser(), "summary that replaces the conversation"):
			return scripted.Say(scripted.Text("half of a summary"), scripted.Stall{})
		case len(r.Body) > 60_000:
			return scripted.Fail(400, "context_length_exceeded", "This model's maximum context length is exceeded", 0)
		}
		return readLoop(10)(t.Context(), r)
	}, func(c *options) {
		watch(c, "summary", taken)
		c.Prune.Mode, c.Compaction.KeepTokens = "off", 1
	})
	h.writeBig()
	s := h.submit("go")
	<-taken
	<-h.cancel()
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.wantNoAnswer()
}

// The text of a cut answer is void as soon as podd retries: a cancel during the wait
// before the next attempt, or while another model answers, stores nothing of it.
func TestCancelAfterACutAnswer(t *testing.T) {
	for _, fallback := range []string{"", "other"} {
		t.Run(fallback, func(t *testing.T) {
			z, reached := newSleeper(), make(chan struct{})
			h := newHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
				if r.Model == "other" {
					close(reached)
					return scripted.Say(scripted.Stall{})
				}
				return scripted.Say(scripted.Text("half of an answer"), scripted.Cut{})
			}, func(c *options) {
				c.Retry.Sleep = z.sleep
				if fallback != "" {
					c.Fallbacks, c.Retry.Attempts = refs(fallback), 1
				}
			})
			s := h.submit("go")
			select {
			case <-z.asked:
			case <-reached:
			}
			<-h.cancel()
			h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
			h.wantNoAnswer()
		})
	}
}
