package pod_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// edges is an interceptor that decides at the edges whose function is set.
type edges struct {
	interceptor.Base
	name    string
	submit  func(interceptor.Submit) interceptor.SubmitVerdict
	request func(interceptor.Request) interceptor.RequestVerdict
	call    func(interceptor.Call) interceptor.CallVerdict
	result  func(interceptor.Result) interceptor.ResultVerdict
	end     func(interceptor.Turn) interceptor.TurnVerdict
	aborted func(interceptor.Abort)
}

func (e *edges) Name() string {
	if e.name == "" {
		return "edges"
	}
	return e.name
}

func (e *edges) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	if e.submit == nil {
		return s.Continue()
	}
	return e.submit(s)
}

func (e *edges) BeforeRequest(_ context.Context, r interceptor.Request) interceptor.RequestVerdict {
	if e.request == nil {
		return r.Continue()
	}
	return e.request(r)
}

func (e *edges) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if e.call == nil {
		return c.Continue()
	}
	return e.call(c)
}

func (e *edges) AfterTool(_ context.Context, r interceptor.Result) interceptor.ResultVerdict {
	if e.result == nil {
		return r.Continue()
	}
	return e.result(r)
}

func (e *edges) TurnEnd(_ context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	if e.end == nil {
		return t.Finish()
	}
	return e.end(t)
}

func (e *edges) Aborted(_ context.Context, a interceptor.Abort) {
	if e.aborted != nil {
		e.aborted(a)
	}
}

// with adds interceptors to a house.
func with(interceptors ...interceptor.Interceptor) func(*options) {
	return func(c *options) { c.Interceptors = append(c.Interceptors, interceptors...) }
}

func system(text string) item.Item { return item.SystemMessage{Text: text} }

// body is the nth request that the model server received, from 1.
func (h *house) body(n int) string {
	h.t.Helper()
	requests := h.model.Requests()
	if n > len(requests) {
		h.t.Fatalf("the model was asked %d times", len(requests))
	}
	return string(requests[n-1])
}

// texts are the messages of a log, podd's own with their origin.
func texts(entries []item.Entry) []string {
	var out []string
	for _, it := range items(entries) {
		switch m := it.(type) {
		case item.UserMessage:
			out = append(out, "user: "+m.Text)
		case item.SystemMessage:
			out = append(out, m.Origin+": "+m.Text)
		case item.AssistantMessage:
			out = append(out, "assistant: "+m.Text)
		}
	}
	return out
}

func (h *house) wantTexts(want ...string) {
	h.t.Helper()
	if got := texts(h.log()); !slices.Equal(got, want) {
		h.t.Errorf("messages\n%q\nwant\n%q", got, want)
	}
}

// warned are the texts of the alerts of at least level warn.
func (h *house) warned() []string {
	h.t.Helper()
	alerts, err := h.host.Alerts.List(h.t.Context(), pod.AlertQuery{})
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, a := range alerts {
		if a.Level != item.LevelInfo {
			out = append(out, a.Text)
		}
	}
	return out
}

func (h *house) wantEnd(end item.TurnEnded, outcome item.Outcome, reason, cause string) {
	h.t.Helper()
	if end.Outcome != outcome || end.Reason != reason || !strings.Contains(end.Cause, cause) {
		h.t.Errorf("end %+v, want %s %s with %q", end, outcome, reason, cause)
	}
}

// For a submit the outer interceptor decides first. The inner one and the model get its
// rewritten text, and the items of both follow the message in order. The log keeps the
// user's own text.
func TestSubmitVerdicts(t *testing.T) {
	h := newHouse(t, steps(), with(
		&edges{name: "outer", submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
			if s.Text == "plain" {
				return s.ContinueWith(system("by outer"))
			}
			return s.Rewrite(s.Text + ", twice")
		}},
		&edges{name: "inner", submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
			return s.ContinueWith(system("inner saw "+s.Text), item.UserMessage{Text: "as the user"})
		}},
	))
	h.run("look")
	h.wantTexts("user: look, twice", "interceptor: inner saw look, twice", "user: as the user", "assistant: nothing left to say")
	if s := h.log()[0].Kind.(item.Submitted); s.Text != "look" {
		t.Errorf("the log has lost what the user wrote: %+v", s)
	}
	body := h.body(1)
	for _, want := range []string{"look, twice", "inner saw look, twice", "as the user"} {
		if !strings.Contains(body, want) {
			t.Errorf("the first request lacks %q: %s", want, body)
		}
	}
	h.run("plain")
	if got := texts(h.log())[4:7]; !slices.Equal(got, []string{"user: plain", "interceptor: by outer", "interceptor: inner saw plain"}) {
		t.Errorf("the second turn begins with %q", got)
	}
}

// A cancelled submit has its turn, which says who cancelled it and why, and the model
// gets nothing; inner interceptors are not called.
func TestSubmitCancelled(t *testing.T) {
	var heard []interceptor.Abort
	h := newHouse(t, steps(), with(
		&edges{name: "outer", submit: func(s interceptor.Submit) interceptor.SubmitVerdict { return s.Cancel("not now") }},
		&edges{name: "inner", submit: func(s interceptor.Submit) interceptor.SubmitVerdict {
			t.Error("the inner interceptor was asked")
			return s.Continue()
		}, aborted: func(a interceptor.Abort) { heard = append(heard, a) }},
	))
	h.wantEnd(h.run("look"), item.OutcomeCancelled, "SUBMIT_CANCELLED", "outer cancelled the submit: not now")
	if len(h.model.Requests()) != 0 || len(items(h.log())) != 0 {
		t.Errorf("the model was asked %d times, items %+v", len(h.model.Requests()), items(h.log()))
	}
	if len(heard) != 1 || heard[0].Outcome != item.OutcomeCancelled || heard[0].Turn != 1 || !strings.Contains(heard[0].Cause, "not now") {
		t.Errorf("interceptors heard %+v", heard)
	}
}

// What an interceptor adds before a request is in the history before the model sees it,
// and stays there.
func TestRequestVerdicts(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true"))), with(&edges{request: func(r interceptor.Request) interceptor.RequestVerdict {
		return r.ContinueWith(system(fmt.Sprintf("before step %d", r.Step)))
	}}))
	h.run("look")
	if !strings.Contains(h.body(1), "before step 1") || strings.Contains(h.body(1), "before step 2") ||
		!strings.Contains(h.body(2), "before step 1") || !strings.Contains(h.body(2), "before step 2") {
		t.Errorf("requests:\n%s\n%s", h.body(1), h.body(2))
	}
	h.wantTexts("user: look", "interceptor: before step 1", "interceptor: before step 2", "assistant: nothing left to say")
}

func TestRequestCancelled(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true"))), with(&edges{request: func(r interceptor.Request) interceptor.RequestVerdict {
		if r.Step == 2 {
			return r.Cancel("one is enough")
		}
		return r.Continue()
	}}))
	h.wantEnd(h.run("look"), item.OutcomeCancelled, "REQUEST_CANCELLED", "edges cancelled the turn: one is enough")
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// paused waits until the pod is paused.
func (h *house) paused() item.Pod {
	h.t.Helper()
	var got item.Pod
	h.await(func(p item.Pod) bool { got = p; return p.Status.State == item.StatePaused })
	return got
}

func (h *house) resume() {
	h.t.Helper()
	if _, err := h.host.Resume(h.t.Context(), "p"); err != nil {
		h.t.Fatal(err)
	}
}

// An interceptor that pauses the pod does so visibly and over a restart, and is not asked
// again about what a person resumed.
func TestInterceptorPauses(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, edge := range []string{"request", "end"} {
			t.Run(fmt.Sprintf("%s, restart %v", edge, restart), func(t *testing.T) {
				var mu sync.Mutex
				asked := 0
				count := func() {
					mu.Lock()
					defer mu.Unlock()
					asked++
				}
				e := &edges{}
				if edge == "request" {
					e.request = func(r interceptor.Request) interceptor.RequestVerdict {
						if r.Step != 2 {
							return r.Continue()
						}
						count()
						return r.Pause("look first")
					}
				} else {
					e.end = func(turn interceptor.Turn) interceptor.TurnVerdict { count(); return turn.Pause("look first") }
				}
				h := newHouse(t, steps(scripted.Say(shell("true"))), with(e))
				s := h.submit("go")
				if p := h.paused(); p.Status.Reason != "edges paused the pod: look first" || p.Status.Pause.Turn != 1 {
					t.Errorf("pod %+v", p.Status)
				}
				if restart {
					h.restart()
					h.recovered(1)
					h.paused()
				}
				if w := h.warned(); !slices.ContainsFunc(w, func(text string) bool { return strings.Contains(text, "podctl resume") }) {
					t.Errorf("alerts %q", w)
				}
				h.resume()
				if end := h.ended(s); end.Outcome != item.OutcomeFinished || asked != 1 {
					t.Errorf("end %+v after asking %d times", end, asked)
				}
				if n := len(h.model.Requests()); n != 2 {
					t.Errorf("the model was asked %d times", n)
				}
			})
		}
	}
}

// An interceptor's decision on a call determines what runs, what the log says and what
// the model reads.
func TestCallVerdicts(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(
		shell("echo as it is"), shell("echo rewrite"), shell("touch denied"), shell("touch answered"), shell("echo invalid"),
	)), with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		switch {
		case strings.Contains(c.Arguments, "echo rewrite"):
			return c.Rewrite(`{"command":"echo rewritten"}`)
		case strings.Contains(c.Arguments, "denied"):
			return c.Deny("leave it")
		case strings.Contains(c.Arguments, "answered"):
			return c.Result(item.Output{Summary: "made up"})
		case strings.Contains(c.Arguments, "invalid"):
			return c.Rewrite(`{"cmd":"x"}`)
		}
		return c.Continue()
	}}))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	log := h.log()
	want := []struct {
		text    string
		isError bool
	}{{"as it is", false}, {"rewritten", false}, {"denied by edges: leave it", true}, {"made up", false}, {"invalid", true}}
	for i, r := range results(log) {
		if !strings.Contains(r.Text(), want[i].text) || r.IsError != want[i].isError {
			t.Errorf("result %d: %+v", i, r)
		}
		if !strings.Contains(h.body(2), want[i].text) {
			t.Errorf("the model is not told %q: %s", want[i].text, h.body(2))
		}
	}
	var started []string
	for _, e := range log {
		if k, ok := e.Kind.(item.ToolStarted); ok {
			started = append(started, k.Arguments)
		}
	}
	if len(started) != 2 || !strings.Contains(started[0], "as it is") || !strings.Contains(started[1], "rewritten") {
		t.Errorf("started %q", started)
	}
	if h.exists("denied") || h.exists("answered") {
		t.Error("a call ran that should not")
	}
}

// Every interceptor, including the outer one, gets a rewrite, and may refuse it.
func TestRewritesAreSeenByAll(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true"))), with(
		&edges{name: "outer", call: func(c interceptor.Call) interceptor.CallVerdict {
			if strings.Contains(c.Arguments, "touch") {
				return c.Deny("no touching")
			}
			return c.Continue()
		}},
		&edges{name: "inner", call: func(c interceptor.Call) interceptor.CallVerdict {
			return c.Rewrite(`{"command":"touch sneaky"}`)
		}},
	))
	h.run("go")
	if r := results(h.log()); h.exists("sneaky") || !strings.Contains(r[0].Summary, "denied by outer: no touching") {
		t.Errorf("results %+v", r)
	}
}

// An abort at a call ends the turn, and none of the step's calls runs.
func TestCallAborted(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch one"), shell("touch two"))), with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
		if strings.Contains(c.Arguments, "two") {
			return c.Abort("stop it")
		}
		return c.Continue()
	}}))
	h.wantEnd(h.run("go"), item.OutcomeCancelled, "ABORTED", "edges ended the turn: stop it")
	if r := results(h.log()); len(r) != 2 || h.exists("one") || h.exists("two") || !strings.Contains(r[0].Summary, "not run") {
		t.Errorf("results %+v", r)
	}
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	h.run("again")
	if body := h.body(2); strings.Count(body, "not run") != 2 {
		t.Errorf("the next turn does not say what became of the calls: %s", body)
	}
}

// The inner interceptor sees the output first; the outer one, the log and the model get
// its replacement.
func TestResultVerdicts(t *testing.T) {
	replace := func(name string) *edges {
		return &edges{name: name, result: func(r interceptor.Result) interceptor.ResultVerdict {
			return r.Replace(item.Output{Summary: name + "(" + strings.TrimSpace(r.Output.Summary) + ")"})
		}}
	}
	h := newHouse(t, steps(scripted.Say(scripted.Call{Name: "todo", Arguments: `{"items":[]}`})), with(replace("outer"), replace("inner")))
	h.run("go")
	r := results(h.log())
	if len(r) != 1 || !strings.HasPrefix(r[0].Summary, "outer(inner(todo") || !strings.Contains(h.body(2), "outer(inner(todo") {
		t.Errorf("results %+v", r)
	}
}

// An abort at a result stores the result and ends the turn.
func TestResultAborted(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("echo ran > ran"))), with(&edges{result: func(r interceptor.Result) interceptor.ResultVerdict {
		return r.Abort("seen enough")
	}}))
	h.wantEnd(h.run("go"), item.OutcomeCancelled, "ABORTED", "edges ended the turn: seen enough")
	if r := results(h.log()); len(r) != 1 || r[0].IsError || h.read("ran") != "ran\n" {
		t.Errorf("results %+v", r)
	}
}

// brittle is a log that panics at one of podd's lines.
type brittle string

func (b brittle) Write(line []byte) (int, error) {
	if strings.Contains(string(line), string(b)) {
		panic("the log is brittle")
	}
	return len(line), nil
}

// An internal error after the review costs the output, not the abort.
func TestResultAbortedDespiteDefect(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("seq 100000"))), with(&edges{result: func(r interceptor.Result) interceptor.ResultVerdict {
		return r.Abort("seen enough")
	}}), func(c *options) { c.Logger = slog.New(slog.NewJSONHandler(brittle("tool output cut"), nil)) })
	h.wantEnd(h.run("go"), item.OutcomeCancelled, "ABORTED", "edges ended the turn: seen enough")
	if r := results(h.log()); len(r) != 1 || !strings.Contains(r[0].Summary, "internal error in podd") || !strings.Contains(r[0].Aborted, "seen enough") {
		t.Errorf("results %+v", r)
	}
}

// An abort is effective once the result is stored: the turn ends even if podd ends before
// the turn's end is stored.
func TestAbortOutlivesPodd(t *testing.T) {
	for name, e := range map[string]*edges{
		"call":   {call: func(c interceptor.Call) interceptor.CallVerdict { return c.Abort("enough") }},
		"result": {result: func(r interceptor.Result) interceptor.ResultVerdict { return r.Abort("enough") }},
	} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, steps(scripted.Say(shell("touch ran"))), with(e))
			ended := make(chan struct{})
			var once sync.Once
			f.set(func(b store.Batch) error {
				for _, entry := range b.Entries {
					if _, ok := entry.Kind.(item.TurnEnded); ok {
						once.Do(func() { close(ended) })
						return errKilled
					}
				}
				return nil
			})
			s := h.submit("go")
			<-ended
			h.kill(f)
			h.wantEnd(h.ended(s), item.OutcomeCancelled, "ABORTED", "edges ended the turn: enough")
			if n := len(h.model.Requests()); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
			if r := results(h.log()); len(r) != 1 || r[0].Aborted != "edges ended the turn: enough" {
				t.Errorf("results %+v", r)
			}
			h.run("again")
			if strings.Contains(h.body(2), "edges ended the turn: enough") != (name == "call") {
				t.Errorf("the model sees %s", h.body(2))
			}
		})
	}
}

// The model sees what an interceptor adds at the end of a turn, and corrects itself.
func TestTurnEndSendsBack(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Text("done")), scripted.Say(shell("touch fixed")), scripted.Say(scripted.Text("now it is"))),
		with(&edges{end: func(turn interceptor.Turn) interceptor.TurnVerdict {
			if turn.Answer == "done" {
				return turn.ContinueWith(system("the tests fail"))
			}
			return turn.Finish()
		}}))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Steps != 3 || !h.exists("fixed") {
		t.Errorf("end %+v", end)
	}
	if !strings.Contains(h.body(2), "the tests fail") {
		t.Errorf("the model is not told: %s", h.body(2))
	}
	h.wantTexts("user: go", "assistant: done", "interceptor: the tests fail", "assistant: now it is")
}

// The number of times that an interceptor keeps a turn from finishing is bounded.
func TestSendingBackIsBounded(t *testing.T) {
	for name, it := range map[string]item.Item{
		"system": system("again"), "user": item.UserMessage{Text: "again"},
		"file": item.SystemMessage{Origin: item.OriginFileRef, Text: "again"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps(), func(c *options) { c.Limits.MaxGoOns, c.Limits.MaxSteps = 3, 20 },
				with(&edges{end: func(turn interceptor.Turn) interceptor.TurnVerdict { return turn.ContinueWith(it) }}))
			end := h.run("go")
			h.wantEnd(end, item.OutcomeLimit, "MAX_GO_ONS", "more than 3 times")
			if end.Steps != 4 {
				t.Errorf("%d steps", end.Steps)
			}
		})
	}
}

// Interceptors can add only messages: calls and results are dropped, and their items
// never claim to be a client's note.
func TestItemsThatAreNoMessages(t *testing.T) {
	odd := []item.Item{
		item.ToolResult{CallID: "x"}, item.ToolCall{CallID: "y", Name: "shell"}, item.AssistantMessage{Text: "I said"}, item.Reasoning{Text: "hm"},
		item.SystemMessage{Origin: item.OriginNote, Text: "a note"},
	}
	h := newHouse(t, steps(), with(&edges{
		submit:  func(s interceptor.Submit) interceptor.SubmitVerdict { return s.ContinueWith(odd...) },
		request: func(r interceptor.Request) interceptor.RequestVerdict { return r.ContinueWith(odd...) },
		end: func(turn interceptor.Turn) interceptor.TurnVerdict {
			return turn.ContinueWith(odd[:4]...)
		},
	}))
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Steps != 1 {
		t.Errorf("end %+v", end)
	}
	h.wantTexts("user: go", "interceptor: a note", "interceptor: a note", "assistant: nothing left to say")
}

// A panic at an edge fails the turn or the call, never the daemon, and the error names
// the interceptor.
func TestPanicAtEachEdge(t *testing.T) {
	tests := map[string]struct {
		edges   *edges
		outcome item.Outcome
		reason  string
		result  string
	}{
		"request": {&edges{request: func(interceptor.Request) interceptor.RequestVerdict { panic("boom") }}, item.OutcomeFailed, "INTERCEPTOR", ""},
		"call":    {&edges{call: func(interceptor.Call) interceptor.CallVerdict { panic("boom") }}, item.OutcomeFinished, "", "edges panicked"},
		"result":  {&edges{result: func(interceptor.Result) interceptor.ResultVerdict { panic("boom") }}, item.OutcomeCancelled, "ABORTED", "ran"},
		"end":     {&edges{end: func(interceptor.Turn) interceptor.TurnVerdict { panic("boom") }}, item.OutcomeFailed, "INTERCEPTOR", "ran"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, steps(scripted.Say(shell("echo ran"))), with(tt.edges))
			end := h.run("go")
			h.wantEnd(end, tt.outcome, tt.reason, "")
			if end.Outcome != item.OutcomeFinished && !strings.Contains(end.Cause, "edges panicked") {
				t.Errorf("end %+v", end)
			}
			if r := results(h.log()); tt.result != "" && (len(r) != 1 || !strings.Contains(r[0].Text(), tt.result)) {
				t.Errorf("results %+v", r)
			}
		})
	}
	t.Run("aborted", func(t *testing.T) {
		h := newHouse(t, steps(), with(&edges{
			request: func(r interceptor.Request) interceptor.RequestVerdict { return r.Cancel("no") },
			aborted: func(interceptor.Abort) { panic("boom") },
		}))
		h.wantEnd(h.run("go"), item.OutcomeCancelled, "REQUEST_CANCELLED", "no")
	})
}

// Interceptors don't reduce the limit of calls.
func TestLimitOfCallsWithInterceptors(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("echo 1"), shell("echo 2"), shell("echo 3"))), with(&edges{}),
		func(c *options) { c.Limits.MaxToolCalls = 3 })
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	for _, r := range results(h.log()) {
		if r.IsError {
			t.Errorf("result %+v", r)
		}
	}
}

// One interceptor decides on one thing of a pod at a time, even if an approved call is
// decided on while another one ends: the race detector watches the count.
func TestAskedOneAtATime(t *testing.T) {
	asked := 0
	reviewing, resolved := make(chan struct{}), make(chan struct{})
	h := newHouse(t, steps(scripted.Say(shell("touch a"), shell("touch b"))), with(&edges{
		call: func(c interceptor.Call) interceptor.CallVerdict {
			asked++
			if strings.Contains(c.Arguments, "touch a") {
				return c.Ask("may it?")
			}
			return c.Continue()
		},
		result: func(r interceptor.Result) interceptor.ResultVerdict {
			if strings.Contains(r.Arguments, "touch b") {
				close(reviewing)
				<-resolved
			}
			asked++
			return r.Continue()
		},
	}))
	s := h.submit("go")
	<-reviewing
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
	close(resolved)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || asked != 5 {
		t.Errorf("end %+v after asking %d times", end, asked)
	}
}
