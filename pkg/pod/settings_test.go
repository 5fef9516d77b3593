package pod_test

import (
	"context"
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/internal/report"
	"podd/internal/workspace"
	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// reload gives the Host its initial settings, changed.
func (h *house) reload(change func(*options)) {
	h.t.Helper()
	if err := h.tryReload(change); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) tryReload(change func(*options)) error {
	c := options{
		Config:            pod.Config{Settings: pod.Settings{Router: llm.One(h.endpoint), Model: item.ModelRef{Model: "m"}}},
		workspaceSettings: workspace.Settings{BaseInstructions: "none"},
	}
	h.config(&c)
	change(&c)
	use, err := h.workspaces.Reload(c.workspaceSettings)
	if err != nil {
		return err
	}
	if err := h.host.Reload(c.Settings); err != nil {
		return err
	}
	use()
	return nil
}

// A running turn ends with the model, instructions and limits that it began with; the
// next one has the new ones.
func TestReloadBetweenTurns(t *testing.T) {
	g := newGate()
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.Steps() == 0:
			g.once.Do(func() { close(g.waiting) })
			return scripted.Say(scripted.Wait(g.open), shell("seq 1 1000"))
		case len(r.Results()) == 0:
			return scripted.Say(shell("seq 1 1001"))
		}
		return scripted.Say(scripted.Text("done"))
	})
	first := h.submit("first")
	<-g.waiting
	limits, err := tool.NewLimits(tool.LimitsConfig{Default: tool.Limit{MaxBytes: 300, MaxLines: 5, Strategy: tool.StrategyHead}})
	if err != nil {
		t.Fatal(err)
	}
	h.reload(func(s *options) {
		s.Model, s.Instructions, s.ToolOutput, s.Limits = item.ModelRef{Model: "n"}, "Be brief.", limits, worker.Limits{MaxSteps: 1}
	})
	close(g.open)
	if end := h.ended(first); end.Outcome != item.OutcomeFinished {
		t.Errorf("the turn under way ended with %+v", end)
	}
	before := len(h.model.Requests())
	for _, body := range h.model.Requests() {
		if !strings.Contains(string(body), `"model":"m"`) {
			t.Errorf("the turn under way asked %s", body)
		}
	}
	if end := h.run("second"); end.Outcome != item.OutcomeLimit {
		t.Errorf("the next turn ended with %+v", end)
	}
	next := string(h.model.Requests()[before])
	if !strings.Contains(next, `"model":"n"`) || !strings.Contains(next, "Be brief.") {
		t.Errorf("the next turn asked %s", next)
	}
	var sizes []int
	for _, it := range items(h.log()) {
		if r, ok := it.(item.ToolResult); ok {
			sizes = append(sizes, len(r.Content))
		}
	}
	if len(sizes) < 2 || sizes[0] < 1000 || sizes[len(sizes)-1] > 300 {
		t.Errorf("results have %d bytes", sizes)
	}
}

// Rules apply from the next decision on, even in a running turn, and so do bounds of
// submits.
func TestReloadAtOnce(t *testing.T) {
	g := newGate()
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			g.once.Do(func() { close(g.waiting) })
			return scripted.Say(scripted.Wait(g.open), shell("touch ran"))
		}
		return scripted.Say(scripted.Text("done"))
	})
	s := h.submit("go")
	<-g.waiting
	h.reload(func(s *options) {
		s.Rules = []item.Rule{{Tool: "shell", Command: "touch *", Decision: policy.Deny, Source: "config.toml:7"}}
		s.MaxSubmitBytes = 10
	})
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "eleven bytes"}}})
	wantError(t, err, item.KindExhausted, "SUBMIT_TOO_LARGE")
	close(g.open)
	h.ended(s)
	if h.exists("ran") {
		t.Error("the command ran although a rule denied it by then")
	}
	h.reload(func(*options) {})
	h.run("longer than ten bytes")
}

// New prices and a new rule apply to a limit of cost, and to pruning, as if they had
// always been in effect.
func TestReloadPrices(t *testing.T) {
	h := newHouse(t, billed)
	h.run("one")
	h.reload(func(s *options) {
		c := options{}
		priced(map[string]float64{"m": 1})(&c)
		s.Models, s.Limits.TotalCost = c.Models, .5
		s.Prune = fold.Config{Mode: fold.ModeOff}
	})
	if end := h.run("two"); end.Outcome != item.OutcomeLimit || end.Reason != "TOTAL_COST" {
		t.Errorf("the pod's cost was not recalculated: %+v", end)
	}
	stats, err := report.Count(t.Context(), h.host, "p")
	if err != nil || stats.Unpriced != 0 || stats.Cost < .5 {
		t.Errorf("stats %+v, %v", stats, err)
	}
}

// watcher is a hook that reports ended turns.
type watcher struct {
	hook.Base
	ended chan struct{}
}

// Name is the hook's.
func (watcher) Name() string { return "watcher" }

// Entry reports the end of a turn.
func (w watcher) Entry(_ string, e item.Entry) {
	if _, ok := e.Kind.(item.TurnEnded); ok {
		w.ended <- struct{}{}
	}
}

// refuser is an interceptor that refuses every submit.
type refuser struct{ interceptor.Base }

// Name is the interceptor's.
func (refuser) Name() string { return "refuser" }

// PromptSubmit refuses.
func (refuser) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	return s.Cancel("not now")
}

// Other hooks and interceptors replace the earlier ones.
func TestReloadExtensions(t *testing.T) {
	old, fresh := watcher{ended: make(chan struct{}, 8)}, watcher{ended: make(chan struct{}, 8)}
	h := newHouse(t, steps(), func(c *options) { c.Hooks = []hook.Hook{old} })
	h.run("one")
	<-old.ended
	h.reload(func(s *options) { s.Hooks = []hook.Hook{fresh} })
	h.run("two")
	<-fresh.ended
	if len(old.ended) > 0 {
		t.Error("the old hook got the new turn")
	}
	h.reload(func(s *options) { s.Interceptors = []interceptor.Interceptor{refuser{}} })
	if end := h.run("three"); end.Outcome != item.OutcomeCancelled {
		t.Errorf("the new interceptor was not asked: %+v", end)
	}
}

// Settings with which no pod can work are refused, and the current ones stay in effect.
func TestReloadRefused(t *testing.T) {
	h := newHouse(t, steps())
	for name, change := range map[string]func(*options){
		"no model":   func(s *options) { s.Router = nil },
		"bad prune":  func(s *options) { s.Prune.Mode = "never" },
		"bad rule":   func(s *options) { s.Rules = []item.Rule{{Tool: "shell", Decision: "perhaps"}} },
		"bad asking": func(s *options) { s.Ask = "perhaps" },
	} {
		if err := h.tryReload(change); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}
