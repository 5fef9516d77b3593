package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// secondEditor is an editor that speaks version 2. It asks for a later one, which podd lacks.
func (w *world) secondEditor(answer func(json.RawMessage) string) *editor {
	w.t.Helper()
	e := w.startEditor(answer)
	var hello struct {
		ProtocolVersion int
		Info            struct{ Name string }
		AuthMethods     []struct{ Type, MethodID string }
		Capabilities    struct{ Session map[string]any }
	}
	e.must("initialize", map[string]any{"protocolVersion": 3, "info": map[string]string{"name": "tester", "version": "1"}, "capabilities": map[string]any{}}, &hello)
	if hello.ProtocolVersion != 2 || hello.Info.Name != "podd" || len(hello.AuthMethods) != 1 || hello.AuthMethods[0].MethodID != "podd" || hello.Capabilities.Session["fork"] == nil {
		w.t.Errorf("podd says %+v", hello)
	}
	return e
}

// second is what version 2 says in an update.
type second struct {
	SessionUpdate, State, StopReason, MessageID, ToolCallID, Title string
	Error                                                          struct{ Message string }
	Content                                                        json.RawMessage
	Plan                                                           struct {
		Type    string
		Entries []any
	}
}

// seconds are the updates of a session so far.
func (e *editor) seconds(session string) (list []second) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.seen {
		var p struct {
			SessionID string
			Update    second
		}
		if m.Method == "session/update" && json.Unmarshal(m.Params, &p) == nil && p.SessionID == session {
			list = append(list, p.Update)
		}
	}
	return list
}

// states are the states of a session so far.
func (e *editor) states(session string) (list []string) {
	for _, u := range e.seconds(session) {
		if u.SessionUpdate == "state_update" {
			list = append(list, strings.TrimSuffix(u.State+" "+u.StopReason, " "))
		}
	}
	return list
}

// awaitStates waits until a session was in exactly these states.
func (e *editor) awaitStates(session string, want ...string) {
	e.t.Helper()
	for {
		e.mu.Lock()
		more := e.more
		e.mu.Unlock()
		got := e.states(session)
		if slices.Equal(got, want) {
			return
		}
		if len(got) > len(want) || len(got) > 0 && !slices.Equal(got, want[:len(got)]) {
			e.t.Fatalf("the states are %q, want %q", got, want)
		}
		select {
		case <-more:
		case <-e.p.exited:
			e.t.Fatalf("podctl acp ended: %s", e.p.err.String())
		}
	}
}

// text is what the messages of a kind say in the end, in the order in which they began.
func (e *editor) text(session, kind string) string {
	said, order := map[string]string{}, []string{}
	for _, u := range e.seconds(session) {
		var one struct{ Text string }
		var all []struct{ Text string }
		if !slices.Contains(order, u.MessageID) && strings.HasPrefix(u.SessionUpdate, kind) {
			order = append(order, u.MessageID)
		}
		switch u.SessionUpdate {
		case kind:
			said[u.MessageID] = ""
			if json.Unmarshal(u.Content, &all) == nil && len(all) == 1 {
				said[u.MessageID] = all[0].Text
			}
		case kind + "_chunk":
			if json.Unmarshal(u.Content, &one) == nil {
				said[u.MessageID] += one.Text
			}
		}
	}
	var list []string
	for _, id := range order {
		list = append(list, said[id])
	}
	return strings.Join(list, "|")
}

func (e *editor) secondSession(dir string) string {
	e.t.Helper()
	var s struct {
		SessionID     string
		ConfigOptions []struct{ ConfigID string }
		Modes         any
	}
	e.must("session/new", map[string]any{"cwd": dir}, &s)
	if len(s.ConfigOptions) != 3 || s.ConfigOptions[0].ConfigID != "mode" || s.Modes != nil {
		e.t.Errorf("the new session is %+v", s)
	}
	return s.SessionID
}

type accepted struct{ MessageID string }

// In version 2 a prompt is answered when a turn has taken it; the turn's end is a state. A prompt in between joins the turn.
func TestACPSecondSteers(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Reasoning("Hm."), scripted.Text("I lo"), scripted.Wait(gate), scripted.Text("ok."),
			scripted.Call{ID: "c1", Name: "edit_file", Arguments: `{"path":"a.txt","old":"two","new":"TWO"}`},
			scripted.Call{ID: "c2", Name: "write_file", Arguments: `{"path":"b.txt","content":"b\n"}`},
			scripted.Call{ID: "c3", Name: "todo", Arguments: `{"items":[{"text":"look","status":"done"}]}`}),
		scripted.Say(scripted.Text("Done."))))
	path := w.file("a.txt", "one\ntwo\n")
	e := w.secondEditor(nil)
	session := e.secondSession(w.dir)
	var first, steered accepted
	e.must("session/prompt", promptOf(session, "first @a.txt"), &first)
	e.awaitStates(session, "idle", "running")
	running := e.begin("session/prompt", promptOf(session, "second"))
	for log := ""; !strings.Contains(log, "second"); {
		log, _ = w.podctl("tail", session, "--after", "0").run(0)
	}
	close(gate)
	if err := e.answered(running, &steered); err != nil {
		t.Fatal(err)
	}
	e.awaitStates(session, "idle", "running", "idle end_turn")
	if out, _ := w.podctl("tail", session, "--after", "0").run(0); strings.Count(out, "turn 2") != 0 {
		t.Errorf("the second prompt made a turn:\n%s", out)
	}
	if got := e.text(session, "user_message"); got != "first [File: a.txt]|second" && got != "first @a.txt|second" {
		t.Errorf("the prompts are %q", got)
	}
	if got := e.text(session, "agent_message"); got != "I look.|Done." {
		t.Errorf("it said %q", got)
	}
	if got := e.text(session, "agent_thought"); got != "Hm." {
		t.Errorf("it thought %q", got)
	}
	var ids []string
	for _, u := range e.seconds(session) {
		switch {
		case u.SessionUpdate == "user_message":
			ids = append(ids, u.MessageID)
		case u.SessionUpdate == "tool_call", u.SessionUpdate == "plan":
			t.Errorf("it sent %+v", u)
		}
	}
	if !slices.Equal(ids, []string{first.MessageID, steered.MessageID}) {
		t.Errorf("the messages are %q, the answers %q and %q", ids, first, steered)
	}
	for call, want := range map[string][]string{
		"c1": {`"changes":[{"operation":"modify","path":"` + path + `"}]`, `"format":"git_patch"`, `-two\n+TWO\n`},
		"c2": {`"operation":"add"`, `--- /dev/null\n+++ b/`},
	} {
		content := ""
		for _, u := range e.seconds(session) {
			if u.ToolCallID == call {
				content = string(u.Content)
			}
		}
		for _, part := range want {
			if !strings.Contains(content, part) {
				t.Errorf("call %s shows %s without %s", call, content, part)
			}
		}
	}
	if !slices.ContainsFunc(e.seconds(session), func(u second) bool { return u.Plan.Type == "items" && len(u.Plan.Entries) == 1 }) {
		t.Error("the plan is missing")
	}
}

// A question is a state too. To cancel ends the turn, and to close a session ends its own turn first.
func TestACPSecondStates(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	shell := func(id string) scripted.Reply {
		return scripted.Say(scripted.Call{ID: id, Name: "shell", Arguments: `{"command":"true ` + id + `"}`})
	}
	w := newWorld(t, scripted.Answers(shell("c1"), scripted.Say(scripted.Text("For ever"), scripted.Wait(never)),
		scripted.Say(scripted.Text("Again"), scripted.Wait(never))))
	var asked struct {
		Title   string
		Subject struct {
			Type     string
			ToolCall struct{ ToolCallID string }
		}
	}
	e := w.secondEditor(func(params json.RawMessage) string {
		_ = json.Unmarshal(params, &asked) // What is not there, is missing below.
		return "allow-once"
	})
	session := e.secondSession(w.dir)
	e.must("session/set_config_option", map[string]any{"sessionId": session, "configId": "mode", "type": "id", "value": "always"}, &struct{}{})
	var got accepted
	e.must("session/prompt", promptOf(session, "go"), &got)
	e.awaitStates(session, "idle", "running", "requires_action", "running")
	if asked.Subject.Type != "tool_call" || asked.Subject.ToolCall.ToolCallID != "c1" || !strings.Contains(asked.Title, "true c1") {
		t.Errorf("the question is %+v", asked)
	}
	e.notify("session/cancel", map[string]string{"sessionId": session})
	e.awaitStates(session, "idle", "running", "requires_action", "running", "idle cancelled")
	e.must("session/prompt", promptOf(session, "again"), &got)
	e.awaitStates(session, "idle", "running", "requires_action", "running", "idle cancelled", "running")
	e.must("session/close", map[string]string{"sessionId": session}, &struct{}{})
	if got := e.states(session); got[len(got)-1] != "idle cancelled" {
		t.Errorf("before the end of close the states were %q", got)
	}
	e.must("session/close", map[string]string{"sessionId": session}, &struct{}{})
}

// A resumed session tells its state; with a cursor it first replays the history. A fork has the history of its origin.
func TestACPSecondResumesAndForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("One.")), scripted.Say(scripted.Text("Two."))))
	a := w.secondEditor(nil)
	session := a.secondSession(w.dir)
	var got accepted
	a.must("session/prompt", promptOf(session, "first"), &got)
	a.awaitStates(session, "idle", "running", "idle end_turn")
	b, c := w.secondEditor(nil), w.secondEditor(nil)
	b.must("session/resume", map[string]any{"sessionId": session, "cwd": w.dir, "replayFrom": map[string]string{"type": "start"}}, &struct{}{})
	if got := b.text(session, "user_message") + "|" + b.text(session, "agent_message"); got != "first|One." {
		t.Errorf("the history is %q", got)
	}
	c.must("session/resume", map[string]any{"sessionId": session, "cwd": w.dir}, &struct{}{})
	if got := c.text(session, "user_message") + c.text(session, "agent_message"); got != "" {
		t.Errorf("without a cursor it replays %q", got)
	}
	for _, e := range []*editor{b, c} {
		if got := e.states(session); !slices.Equal(got, []string{"idle end_turn"}) {
			t.Errorf("the states are %q", got)
		}
	}
	err := c.call("session/resume", map[string]any{"sessionId": session, "cwd": w.dir, "replayFrom": map[string]string{"type": "_later"}}, &struct{}{})
	if err == nil || !strings.Contains(err.Error(), "-32602") {
		t.Errorf("another cursor: %v", err)
	}
	var fork struct {
		SessionID     string
		ConfigOptions []any
	}
	c.must("session/fork", map[string]any{"sessionId": session, "cwd": w.dir}, &fork)
	if fork.SessionID == "" || fork.SessionID == session || len(fork.ConfigOptions) != 3 {
		t.Fatalf("the fork is %+v", fork)
	}
	c.must("session/prompt", promptOf(fork.SessionID, "more"), &got)
	c.awaitStates(fork.SessionID, "idle end_turn", "running", "idle end_turn")
	if got := c.text(fork.SessionID, "user_message") + "|" + c.text(fork.SessionID, "agent_message"); got != "more|Two." {
		t.Errorf("the fork says %q", got)
	}
	if out, _ := w.podctl("tail", fork.SessionID, "--after", "0").run(0); !strings.Contains(out, "One.") {
		t.Errorf("the fork has\n%s", out)
	}
}
