package pod_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podd/internal/report"
	"podd/internal/workspace"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// readLoop reads one large file after another, n in all.
func readLoop(n int) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() >= n {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(scripted.Call{Name: "shell", Arguments: fmt.Sprintf(`{"command":"cat big.txt; echo %d"}`, r.Steps())})
	}
}

// writeBig writes a file of 20 KiB into the workspace.
func (h *house) writeBig() { h.write("big.txt", strings.Repeat("all work and no play\n", 1000)) }

// Over sixty calls with large results podd prunes, and between two prunes each request
// extends the previous one. The requests that the log implies are those that the model
// got.
func TestPruning(t *testing.T) {
	h := newHouse(t, readLoop(60))
	h.writeBig()
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Fatalf("end %+v", end)
	}
	requests := h.model.Requests()
	prunes, broken, sent := 0, 0, 0
	for _, e := range h.log() {
		switch k := e.Kind.(type) {
		case item.Prune:
			prunes++
		case item.RequestUsage:
			if int(k.RequestBytes) != len(requests[sent]) {
				t.Errorf("request %d has %d bytes, the log says %d", sent+1, len(requests[sent]), k.RequestBytes)
			}
			if sent > 0 && !bytes.HasPrefix(requests[sent], bytes.TrimRight(requests[sent-1], "]}")) {
				broken++
			}
			sent++
		}
	}
	if sent != len(requests) || prunes == 0 || broken != prunes {
		t.Errorf("%d of %d requests in the log; %d prunes, %d requests that do not extend the one before", sent, len(requests), prunes, broken)
	}
	st, err := report.Count(t.Context(), h.host, "p")
	if err != nil || int(st.Prunes) != prunes || st.PrunedTokens <= 0 || st.ToolCalls != 60 || st.Tools[0].Cuts != 60 {
		t.Errorf("stats %+v, %v", st, err)
	}
	last := string(requests[len(requests)-1])
	if n := strings.Count(last, "all work and no play"); n == 0 || n > 60*800/2 {
		t.Errorf("the last request carries %d lines", n)
	}
}

// Output of commands leaves the context, and failures stay in it.
func TestPrunedCommandsSayWhatFailed(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("sh test.sh"))), func(c *options) {
		c.Prune = fold.Config{Mode: fold.ModeTurns, Turns: fold.TurnsConfig{Protected: 1, MinSavings: 1}}
	})
	h.write("test.sh", "echo '--- FAIL: TestReadsDates (0.00s)'; seq 1 400 | sed 's/$/ a line of the log/'; printf 'FAIL\\tdates\\t0.1s\\n'; exit 1\n")
	h.run("one")
	h.run("two")
	h.run("three")
	requests := h.model.Requests()
	last := string(requests[len(requests)-1])
	if !strings.Contains(last, "exit 1, 1 failed, 1 package failed: TestReadsDates; 402 lines") || strings.Contains(last, "a line of the log") {
		t.Errorf("the last request is %s", last)
	}
}

// The estimate of the next request follows the bill.
func TestPredictedTokens(t *testing.T) {
	h := newHouse(t, readLoop(20))
	h.writeBig()
	h.run("go")
	var errs []float64
	for _, e := range h.log() {
		if u, ok := e.Kind.(item.RequestUsage); ok && u.Step > 3 {
			errs = append(errs, max(float64(u.Predicted)/float64(u.Usage.Input), float64(u.Usage.Input)/float64(u.Predicted)))
		}
	}
	slices.Sort(errs)
	if median := errs[len(errs)/2]; median > 1.05 {
		t.Errorf("the median prediction is wrong by a factor of %.3f", median)
	}
}

// Context shows the exact bytes of the next request, the same before and after a restart,
// and its numbers about items add up.
func TestContext(t *testing.T) {
	h := newHouse(t, readLoop(30))
	h.writeBig()
	h.run("go")
	before, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	h.restart()
	after, err := h.host.Context(t.Context(), "p")
	if err != nil || !bytes.Equal(before.Body, after.Body) {
		t.Fatalf("the context changed with a restart: %v", err)
	}
	sum, pruned := after.Size.Fixed, 0
	for _, p := range after.Parts {
		sum += p.Tokens
		if p.Pruned {
			pruned++
		}
	}
	if sum != after.Size.Total || pruned == 0 || after.Size.Billed == 0 || after.Model != "m" {
		t.Errorf("%d tokens in parts, %+v, %d pruned", sum, after.Size, pruned)
	}
}

// The next request begins with what the context showed.
func TestContextIsTheNextRequest(t *testing.T) {
	h := newHouse(t, readLoop(2))
	h.writeBig()
	first, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	h.run("go")
	second, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	h.run("more")
	requests := h.model.Requests()
	for i, c := range []pod.Context{first, second} {
		request := requests[[]int{0, len(requests) - 1}[i]]
		if !bytes.HasPrefix(request, bytes.TrimRight(c.Body, "]}")) {
			t.Errorf("the request does not begin with the context:\n%s\n%s", c.Body, request)
		}
	}
}

// With pruning off, nothing ever leaves the context.
func TestPruningOff(t *testing.T) {
	h := newHouse(t, readLoop(30), func(c *options) { c.Prune.Mode = "off" })
	h.writeBig()
	h.run("go")
	requests := h.model.Requests()
	for i := 1; i < len(requests); i++ {
		if !bytes.HasPrefix(requests[i], bytes.TrimRight(requests[i-1], "]}")) {
			t.Fatalf("request %d does not extend the one before", i+1)
		}
	}
}

// summarizer answers requests for a summary, refuses requests above a size, and passes
// others to the handler.
func summarizer(most int, next scripted.Handler) scripted.Handler {
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		switch {
		case strings.Contains(r.LastUser(), "summary that replaces the conversation"):
			return scripted.Say(scripted.Text("They wanted it done, and most is."))
		case len(r.Body) > most:
			return scripted.Fail(400, "context_length_exceeded", "This model's maximum context length is exceeded", 0)
		}
		return next(ctx, r)
	}
}

// A conversation that outgrows the model's window is compacted once and continues. The
// log keeps every item, and later requests have the summary.
func TestCompactionWhenTheWindowIsFull(t *testing.T) {
	calls := 0
	h := newHouse(t, summarizer(60_000, func(context.Context, scripted.Request) scripted.Reply {
		if calls++; calls > 12 {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(scripted.Call{Name: "shell", Arguments: fmt.Sprintf(`{"command":"cat big.txt; echo %d"}`, calls)})
	}), func(c *options) {
		c.Prune.Mode = "off"
		c.Compaction.KeepTokens = 3000
	})
	h.writeBig()
	end := h.run("go")
	if end.Outcome != item.OutcomeFinished {
		t.Fatalf("end %+v", end)
	}
	log := h.log()
	compactions := 0
	for _, e := range log {
		if c, ok := e.Kind.(item.Compaction); ok {
			compactions++
			if m, ok := c.Summary.(item.SystemMessage); !ok || !strings.Contains(m.Text, "They wanted it done") {
				t.Errorf("summary %+v", c.Summary)
			}
		}
	}
	if compactions == 0 {
		t.Error("nothing was compacted")
	}
	if m, ok := items(log)[0].(item.UserMessage); !ok || m.Text != "go" {
		t.Error("the log lost what was compacted")
	}
	requests := h.model.Requests()
	if last := string(requests[len(requests)-1]); !strings.Contains(last, "They wanted it done") || len(last) > 60_000 {
		t.Errorf("the last request has %d bytes", len(last))
	}
	before, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	h.restart()
	if after, err := h.host.Context(t.Context(), "p"); err != nil || !bytes.Equal(before.Body, after.Body) {
		t.Errorf("the context changed with a restart: %v", err)
	}
}

// windows is a model that refuses requests above a size, by the requested model, and
// writes summaries in its name.
func windows(sizes map[string]int, next scripted.Handler) scripted.Handler {
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		switch {
		case len(r.Body) > sizes[r.Model]:
			return scripted.Fail(400, "context_length_exceeded", "This model's maximum context length is exceeded", 0)
		case strings.Contains(r.LastUser(), "summary that replaces the conversation"):
			return scripted.Say(scripted.Text("Summary by " + r.Model))
		}
		return next(ctx, r)
	}
}

// The model for summaries writes them, or the pod's own model if the other one's window
// is too small. All other requests go to the pod's own, and the log says which model
// answered.
func TestCompactionModel(t *testing.T) {
	for small, want := range map[int]string{1 << 30: "small", 100: "m"} {
		thinking := func(ctx context.Context, r scripted.Request) scripted.Reply {
			reply := readLoop(5)(ctx, r)
			reply.Parts = append([]scripted.Part{scripted.Reasoning("hm")}, reply.Parts...)
			return reply
		}
		h := newHouse(t, windows(map[string]int{"m": 1 << 30, "small": small}, thinking), func(c *options) {
			c.Compaction = worker.Compaction{KeepTokens: 1, Model: item.ModelRef{Model: "small"}}
		})
		h.writeBig()
		h.run("go")
		if _, err := h.host.Compact(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		h.run("more")
		for _, body := range h.model.Requests() {
			thoughts := bytes.Contains(body, []byte(`"reasoning_content":"hm"`))
			if forSmall := bytes.HasPrefix(body, []byte(`{"model":"small"`)); forSmall && thoughts {
				t.Errorf("another model got the reasoning: %s", body)
			}
		}
		for _, e := range h.log() {
			switch k := e.Kind.(type) {
			case item.Compaction:
				if m := k.Summary.(item.SystemMessage); !strings.Contains(m.Text, "Summary by "+want) {
					t.Errorf("small window %d: %q", small, m.Text)
				}
			case item.RequestUsage:
				if asked := map[string]string{"": "m", item.PurposeCompaction: want}[k.Purpose]; k.Model != asked {
					t.Errorf("small window %d: a request for %q was answered by %q, want %q", small, k.Purpose, k.Model, asked)
				}
			}
		}
	}
}

// If a summary does not help, the turn stops after one attempt.
func TestCompactionThatDoesNotHelp(t *testing.T) {
	h := newHouse(t, summarizer(10, steps()))
	end := h.run(strings.Repeat("words ", 1000))
	if end.Outcome != item.OutcomeFailed || end.Reason != "CONTEXT" {
		t.Errorf("end %+v", end)
	}
	if n := len(h.model.Requests()); n > 3 {
		t.Errorf("%d requests", n)
	}
}

// The request for a summary begins like the requests of the turn before it, even if the
// pod was loaded for it: with the workspace's word, its tools and those of other
// programs. The endpoint may have that part cached.
func TestCompactionBeginsAsTheTurnDid(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, readLoop(5)), func(c *options) {
		c.Compaction.KeepTokens = 1
		foreign := tool.New("foreign", "Of another program.", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) { return tool.Output{}, nil })
		c.Project = func(string) workspace.Project {
			return workspace.Project{Instructions: "Of the workspace.", Source: "x.toml", Tools: func(context.Context, bool) []tool.Tool { return []tool.Tool{foreign} }}
		}
	})
	h.write("AGENTS.md", "Use tabs.")
	h.writeBig()
	h.run("go")
	h.restart()
	if _, err := h.host.Compact(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	requests := h.model.Requests()
	begin := func(body []byte) (head struct {
		Model    string
		Tools    json.RawMessage
		Messages []json.RawMessage
	}) {
		if err := json.Unmarshal(body, &head); err != nil {
			t.Fatal(err)
		}
		return head
	}
	turn, summary := begin(requests[0]), begin(requests[len(requests)-1])
	n := len(turn.Messages)
	if turn.Model != summary.Model || !bytes.Equal(turn.Tools, summary.Tools) || !bytes.Contains(turn.Tools, []byte(`"foreign"`)) ||
		!slices.EqualFunc(turn.Messages, summary.Messages[:n], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Errorf("the summary was asked for by\n%s\nafter\n%s", requests[len(requests)-1], requests[0])
	}
}

// A person can request a compaction of an idle pod that has something to compact.
func TestCompactByHand(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, readLoop(5)), func(c *options) { c.Compaction.KeepTokens = 1 })
	_, err := h.host.Compact(t.Context(), "p")
	wantError(t, err, item.KindPrecondition, "NOTHING_TO_COMPACT")
	h.writeBig()
	h.run("go")
	before, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	seq, err := h.host.Compact(t.Context(), "p")
	if err != nil || seq == 0 {
		t.Fatalf("seq %d, %v", seq, err)
	}
	after, err := h.host.Context(t.Context(), "p")
	if err != nil || len(after.Parts) != 1 || after.Size.Total >= before.Size.Total {
		t.Errorf("%d parts, %d tokens after %d, %v", len(after.Parts), after.Size.Total, before.Size.Total, err)
	}
	if end := h.run("more"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A summary larger than what it would replace changes only the bill: the client learns
// that the pod was not compacted, and the log agrees.
func TestCompactionThatWouldGrow(t *testing.T) {
	long := strings.Repeat("They said a lot. ", 1000)
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if strings.Contains(r.LastUser(), "summary that replaces the conversation") {
			return scripted.Say(scripted.Text(long))
		}
		return scripted.Say(scripted.Text("yes"))
	}, func(c *options) { c.Compaction.KeepTokens = 1 })
	h.run("short")
	before := h.context()
	seq, err := h.host.Compact(t.Context(), "p")
	wantError(t, err, item.KindPrecondition, "COMPACTION_FAILED")
	if seq != 0 {
		t.Errorf("the refusal names entry %d", seq)
	}
	var paid bool
	for _, e := range h.log() {
		switch k := e.Kind.(type) {
		case item.Compaction:
			t.Errorf("entry %d compacts: %s", e.Seq, k.Reason)
		case item.RequestUsage:
			paid = paid || k.Purpose == item.PurposeCompaction
		}
	}
	if !paid {
		t.Error("the log has no usage of the summary")
	}
	if after := h.context(); after != before {
		t.Errorf("the next request has %d bytes, and had %d before", len(after), len(before))
	}
}
