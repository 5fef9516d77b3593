package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// steps answers with one reply for each model request of the conversation.
func steps(replies ...scripted.Reply) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if n := r.Steps(); n < len(replies) {
			return replies[n]
		}
		return scripted.Say(scripted.Text("nothing left to say"))
	}
}

func shell(command string) scripted.Call {
	return scripted.Call{Name: "shell", Arguments: fmt.Sprintf(`{"command":%q}`, command)}
}

// The walk of a submit: the entries of the log, their order, and the requests to the
// model.
func TestWalkOfASubmit(t *testing.T) {
	h := newHouse(t, steps(
		scripted.Say(scripted.Reasoning("Let me look."), scripted.Text("I'll run it."), shell("cat a.txt")),
		scripted.Say(scripted.Text("Done.")),
	))
	h.write("a.txt", "hello\n")
	end := h.run("show @a.txt and @missing.txt")
	if end.Outcome != item.OutcomeFinished || end.Steps != 2 || end.ToolCalls != 1 || end.Usage.Output == 0 {
		t.Errorf("end %+v", end)
	}
	log := h.log()
	var kinds []string
	for _, e := range log {
		kind := e.Kind
		if k, ok := kind.(item.ItemAdded); ok {
			kinds = append(kinds, fmt.Sprintf("%T", k.Item))
			continue
		}
		kinds = append(kinds, fmt.Sprintf("%T", kind))
	}
	want := []string{
		"item.Submitted", "item.AlertRaised",
		"item.TurnStarted", "item.UserMessage", "item.SystemMessage",
		"item.Setup",
		"item.Reasoning", "item.AssistantMessage", "item.ToolCall", "item.RequestUsage", "item.ToolStarted",
		"item.ToolResult",
		"item.AssistantMessage", "item.RequestUsage",
		"item.TurnEnded",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("log:\n%s\nwant:\n%s", strings.Join(kinds, "\n"), strings.Join(want, "\n"))
	}
	submitted := log[0].Kind.(item.Submitted)
	if submitted.Text != "show @a.txt and @missing.txt" {
		t.Errorf("text %q", submitted.Text)
	}
	if file := log[4].Kind.(item.ItemAdded).Item.(item.SystemMessage); file.Text != "[File: a.txt]\nhello\n" || file.Origin != item.OriginFileRef {
		t.Errorf("file item %+v", file)
	}
	if r := results(log)[0]; r.IsError || !strings.Contains(r.Content, "hello") {
		t.Errorf("result %+v", r)
	}
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{Pod: "p"})
	if err != nil || len(alerts) != 1 || alerts[0].Level != item.LevelWarn || !strings.Contains(alerts[0].Text, "missing.txt") {
		t.Errorf("alerts %+v, %v", alerts, err)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle || p.Status.Turn != 1 || p.Status.Usage.Requests != 2 {
		t.Errorf("pod %+v, %v", p, err)
	}
}

// Between two changes of the setup each request extends the previous one, up to the
// closing brackets, over turns and restarts.
func TestRequestsExtendEachOther(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps()%3 == 2 {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(scripted.Text("more"), shell("echo one"), shell("echo two"))
	})
	h.run("first")
	h.run("second")
	h.restart()
	h.run("third")
	requests := h.model.Requests()
	if len(requests) != 9 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before := bytes.TrimRight(requests[i-1], "]}")
		if !bytes.HasPrefix(requests[i], before) {
			t.Errorf("request %d does not extend the one before:\n%s\n%s", i+1, requests[i-1], requests[i])
		}
	}
}

// Tools of one step run at the same time, and their results are in the order of the
// calls. The first call can only end once the second has run.
func TestToolsRunInParallel(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(
		shell("while [ ! -e flag ]; do sleep 0.01; done; echo first"),
		shell("touch flag; echo second"),
	)))
	h.run("go")
	got := results(h.log())
	if len(got) != 2 || !strings.Contains(got[0].Text(), "first") || !strings.Contains(got[1].Text(), "second") {
		t.Errorf("results %+v", got)
	}
}

// A model's mistake about a tool is a result that says what to do.
func TestBadCalls(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(
		scripted.Call{Name: "teleport", Arguments: `{}`, ID: "same"},
		scripted.Call{Name: "shell", Arguments: `{"command"`, ID: "same"},
		scripted.Call{Name: "shell", Arguments: `{"command":"true","Command":"touch no"}`, ID: "other"},
		scripted.Call{Name: "shell", Arguments: `null`, ID: "third"},
	)))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	got := results(h.log())
	if len(got) != 4 {
		t.Fatalf("results %+v", got)
	}
	for i, r := range got {
		if !r.IsError || r.Summary == "" {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if !strings.Contains(got[0].Summary, `"teleport"`) || h.read("no") != "" {
		t.Errorf("results %+v", got)
	}
}

func TestPanickingTool(t *testing.T) {
	type none struct{}
	h := newHouse(t, steps(scripted.Say(scripted.Call{Name: "bad", Arguments: "{}"}, shell("echo fine"))), func(c *options) {
		c.Tools = append(c.Tools, tool.New("bad", "Panics.", func(context.Context, *tool.Invocation, none) (tool.Output, error) { panic("boom") },
			tool.Confined[none]()))
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	got := results(h.log())
	if !got[0].IsError || !strings.Contains(got[0].Summary, "internal error") || got[1].IsError {
		t.Errorf("results %+v", got)
	}
}

// A cut answer is requested again. The log has nothing of the first attempt, and none of
// its calls runs.
func TestCutAnswer(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.Steps() > 0:
			return scripted.Say(scripted.Text("done"))
		case r.Attempt == 1:
			return scripted.Say(scripted.Text("wrong"), scripted.Call{Name: "shell", Arguments: `{"command":"touch wrong"}`}, scripted.Cut{})
		case r.Attempt == 2:
			return scripted.Say(scripted.Text("wro"), scripted.Reset{})
		}
		return scripted.Say(scripted.Text("right"), shell("echo x >> ran"))
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.ToolCalls != 1 {
		t.Errorf("end %+v", end)
	}
	if h.read("wrong") != "" || h.read("ran") != "x\n" {
		t.Errorf("ran %q, wrong %q", h.read("ran"), h.read("wrong"))
	}
	for _, it := range items(h.log()) {
		if m, ok := it.(item.AssistantMessage); ok && strings.Contains(m.Text, "wro") {
			t.Errorf("a cut answer is in the log: %+v", m)
		}
	}
}

// Each failure for which a retry does not help ends the turn with its reason, a sentence
// and an alert; the pod continues with the next submit.
func TestFailedTurns(t *testing.T) {
	tests := []struct {
		name   string
		reply  scripted.Reply
		reason string
	}{
		{"wrong key", scripted.Fail(401, "invalid_api_key", "Incorrect API key provided", 0), "UNAUTHORIZED"},
		{"unknown model", scripted.Fail(404, "model_not_found", "The model 'm' does not exist", 0), "UNKNOWN_MODEL"},
		{"quota", scripted.Fail(429, "insufficient_quota", "You exceeded your current quota", 0), "QUOTA"},
		{"full window", scripted.Fail(400, "context_length_exceeded", "too long", 0), "CONTEXT"},
		{"web page", scripted.HTML(), "PROTOCOL"},
		{"for ever overloaded", scripted.Fail(503, "", "overloaded", 0), "OVERLOADED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bad := true
			h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply {
				if bad {
					return tt.reply
				}
				return scripted.Say(scripted.Text("fine"))
			})
			end := h.run("go")
			if end.Outcome != item.OutcomeFailed || end.Reason != tt.reason || end.Cause == "" {
				t.Errorf("end %+v", end)
			}
			alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
			if err != nil || len(alerts) == 0 || alerts[len(alerts)-1].Level != item.LevelError {
				t.Errorf("alerts %+v, %v", alerts, err)
			}
			bad = false
			if end := h.run("again"); end.Outcome != item.OutcomeFinished {
				t.Errorf("second end %+v", end)
			}
		})
	}
}

// podd waits for the whole Retry-After, visibly.
func TestRetryAfter(t *testing.T) {
	var waited time.Duration
	var state item.PodStatus
	var h *house
	h = newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Attempt == 1 {
			return scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour)
		}
		return scripted.Say(scripted.Text("fine"))
	}, func(c *options) {
		c.Retry.Sleep = func(ctx context.Context, d time.Duration) error {
			waited = d
			p, err := h.host.Get(ctx, "p")
			state = p.Status
			return err
		}
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if waited != time.Hour || state.State != item.StateWaiting || !strings.Contains(state.Reason, "slow down") {
		t.Errorf("waited %s in %+v", waited, state)
	}
}

func TestLimits(t *testing.T) {
	forever := func(_ context.Context, r scripted.Request) scripted.Reply {
		return scripted.Say(shell(fmt.Sprint("echo ", r.Steps())), shell("true"))
	}
	tests := []struct {
		name   string
		limits worker.Limits
		reason string
		calls  int
	}{
		{"steps", worker.Limits{MaxSteps: 3}, "MAX_STEPS", 6},
		{"tool calls", worker.Limits{MaxToolCalls: 3}, "MAX_TOOL_CALLS", 4},
		{"time", worker.Limits{MaxTime: time.Nanosecond}, "MAX_TURN_TIME", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, forever, func(c *options) { c.Limits = tt.limits })
			end := h.run("go")
			if end.Outcome != item.OutcomeLimit || end.Reason != tt.reason || end.ToolCalls != tt.calls {
				t.Errorf("end %+v", end)
			}
		})
	}
}

// An answer cut by the endpoint's limit may contain half a call: the call does not run,
// and the model reads why.
func TestAnswerCutByLength(t *testing.T) {
	cut := scripted.Say(scripted.Text("I will"), scripted.Call{Name: "shell", Arguments: `{"command":"touch x"}`})
	cut.Stop = "length"
	h := newHouse(t, steps(cut))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if r := results(h.log()); len(r) != 1 || !r[0].IsError || h.read("x") != "" {
		t.Errorf("results %+v", r)
	}
}

// deny denies a tool, and continues a turn until it has seen enough.
type deny struct {
	interceptor.Base
	again int
}

func (*deny) Name() string { return "deny" }

func (d *deny) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	if strings.Contains(s.Text, "forbidden") {
		return s.Cancel("it is forbidden")
	}
	return s.ContinueWith(item.SystemMessage{Origin: item.OriginInterceptor, Text: "be careful"})
}

func (d *deny) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if strings.Contains(c.Arguments, "rm ") {
		return c.Deny("nothing is removed here")
	}
	return c.Continue()
}

func (d *deny) TurnEnd(_ context.Context, turn interceptor.Turn) interceptor.TurnVerdict {
	if d.again--; d.again >= 0 {
		return turn.ContinueWith(item.SystemMessage{Origin: item.OriginInterceptor, Text: "not yet"})
	}
	return turn.Finish()
}

func TestInterceptors(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("rm -f a.txt"))), func(c *options) {
		c.Interceptors = []interceptor.Interceptor{&deny{again: 2}}
	})
	h.write("a.txt", "here")
	if end := h.run("look"); end.Outcome != item.OutcomeFinished || end.Steps != 4 {
		t.Errorf("end %+v", end)
	}
	log := h.log()
	if r := results(log); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Summary, "nothing is removed here") || h.read("a.txt") != "here" {
		t.Errorf("results %+v", r)
	}
	if body := string(h.model.Requests()[0]); !strings.Contains(body, "be careful") {
		t.Errorf("the first request lacks what the interceptor added: %s", body)
	}
	requests := len(h.model.Requests())
	end := h.run("something forbidden")
	if end.Outcome != item.OutcomeCancelled || !strings.Contains(end.Cause, "deny") || len(h.model.Requests()) != requests {
		t.Errorf("end %+v", end)
	}
	for _, it := range items(h.log()) {
		if m, ok := it.(item.UserMessage); ok && strings.Contains(m.Text, "forbidden") {
			t.Error("the model will see a cancelled submit")
		}
	}
}

// warns warns at every edge, and decides nothing.
type warns struct{ interceptor.Base }

func (warns) Name() string { return "warns" }

func (warns) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	return s.Continue().Warn("at submit")
}

func (warns) BeforeRequest(_ context.Context, r interceptor.Request) interceptor.RequestVerdict {
	return r.Continue().Warn(fmt.Sprintf("at request %d", r.Step))
}

func (warns) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	return c.Continue().Warn("at call")
}

func (warns) AfterTool(_ context.Context, r interceptor.Result) interceptor.ResultVerdict {
	return r.Continue().Warn("at result")
}

func (warns) TurnEnd(_ context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	return t.Finish().Warn("at end")
}

// Interceptors' warnings are in the log of the turn, between its start and its end, and
// raise alerts.
func TestWarnings(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true"))), func(c *options) {
		c.Interceptors = []interceptor.Interceptor{warns{}}
	})
	if end := h.run("look"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	var texts []string
	started := false
	for _, e := range h.log() {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			started = true
		case item.AlertRaised:
			if k.Alert.Source == "interceptor" {
				texts = append(texts, strings.TrimPrefix(k.Alert.Text, "warns: "))
				if !started || e.Turn != 1 || k.Alert.Level != item.LevelWarn {
					t.Errorf("a warning stands out of its turn: %+v", e)
				}
			}
		}
	}
	if want := "at submit, at request 1, at call, at result, at request 2, at end"; strings.Join(texts, ", ") != want {
		t.Errorf("the log has warnings %q, want %s", texts, want)
	}
}

// Interceptors that never let a turn finish are bounded.
func TestGoOnForEver(t *testing.T) {
	h := newHouse(t, steps(), func(c *options) {
		c.Interceptors = []interceptor.Interceptor{&deny{again: 1000}}
		c.Limits.MaxGoOns = 3
	})
	if end := h.run("look"); end.Outcome != item.OutcomeLimit || end.Reason != "MAX_GO_ONS" {
		t.Errorf("end %+v", end)
	}
}

// panics panics at every edge.
type panics struct{ interceptor.Base }

func (panics) Name() string { return "panics" }

func (panics) PromptSubmit(context.Context, interceptor.Submit) interceptor.SubmitVerdict {
	panic("boom")
}

// A panic of an interceptor fails the turn, and the model gets nothing.
func TestPanickingInterceptor(t *testing.T) {
	h := newHouse(t, steps(), func(c *options) { c.Interceptors = []interceptor.Interceptor{panics{}} })
	end := h.run("go")
	if end.Outcome != item.OutcomeFailed || end.Reason != "INTERCEPTOR" || !strings.Contains(end.Cause, "panics") {
		t.Errorf("end %+v", end)
	}
	if n := len(h.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// podd retries an unreachable endpoint until it answers or the turn is cancelled, also
// for its default model: one alert, and the wait in the pod's state.
func TestUnreachableEndpoint(t *testing.T) {
	waits := make(chan time.Duration)
	h := newHouse(t, steps(), func(c *options) {
		c.Model = item.ModelRef{}
		c.Retry.Sleep = func(ctx context.Context, d time.Duration) error {
			select {
			case waits <- d:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	if err := h.model.Close(); err != nil {
		t.Fatal(err)
	}
	s := h.submit("go")
	for range 50 {
		<-waits
	}
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.Contains(p.Status.Reason, "waiting until") && !p.Status.WaitUntil.IsZero()
	})
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); !cancelled || err != nil {
		t.Errorf("cancelled %v, %v", cancelled, err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled {
		t.Errorf("end %+v", end)
	}
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
	warned := slices.DeleteFunc(alerts, func(a item.Alert) bool { return a.Level != item.LevelWarn })
	if err != nil || len(warned) == 0 || len(warned) > 2 {
		t.Errorf("alerts %+v, %v", warned, err)
	}
}
