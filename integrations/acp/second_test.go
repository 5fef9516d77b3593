//go:build integrations

package acp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/acpclient"
	"podd/pkg/llm/scripted"
)

// awaitState waits until a session was in a state often enough.
func awaitState(t *testing.T, p *acpclient.Client, state string, times int) {
	t.Helper()
	rig.Await(t, state, func() bool {
		return count(p.WorkStates(), state) == times
	})
}

func count(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// The protocol's client for version 2 checks each message of a turn with everything in it: a prompt that steers, files, a plan, a
// command, questions, forms, and what is there when the session is resumed, forked, closed and deleted.
func TestSecond(t *testing.T) {
	gate, never := make(chan struct{}), make(chan struct{})
	w := rig.New(t, scripted.Answers(
		scripted.Say(scripted.Reasoning("Hm."), scripted.Text("I will "), scripted.Wait(gate), scripted.Text("look."),
			scripted.Call{ID: "c1", Name: "todo", Arguments: `{"items":[{"text":"edit","status":"in_progress"}]}`},
			scripted.Call{ID: "c2", Name: "write_file", Arguments: `{"path":"new.txt","content":"hello\n"}`},
			scripted.Call{ID: "c3", Name: "no_such_tool", Arguments: `{`}),
		ask("c4"),
		scripted.Say(scripted.Call{ID: "c5", Name: "shell", Arguments: `{"command":"true"}`}),
		scripted.Say(scripted.Text("Done.")),
		scripted.Say(scripted.Text("For ever"), scripted.Wait(never))))
	if err := os.MkdirAll(w.Workspace+"/.claude/commands", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.Workspace+"/.claude/commands/lint.md", []byte("Lint all files."), 0o600); err != nil {
		t.Fatal(err)
	}
	p := acpclient.StartSecond(t, w, map[string]any{"elicitation": map[string]any{"form": map[string]any{}}})
	session := p.Session(w)
	p.Await("the commands", func(e acpclient.Event) bool {
		return e.Update != nil && slices.ContainsFunc(e.Update.AvailableCommands, func(c struct{ Name string }) bool { return c.Name == "lint" })
	})
	p.Must(&struct{}{}, "session/set_config_option", map[string]string{"sessionId": session, "configId": "mode", "type": "id", "value": "always"})
	var first, steered struct{ MessageID string }
	p.Must(&first, "session/prompt", acpclient.Prompt(session, "/lint"))
	awaitState(t, p, "running", 1)
	running := p.Begin("session/prompt", acpclient.Prompt(session, "and this"))
	rig.Await(t, "the second prompt", func() bool { return strings.Contains(w.Podctl("tail", session, "--after", "0"), "and this") })
	close(gate)
	question := func(call string) acpclient.Event {
		return p.Await("the question for "+call, func(e acpclient.Event) bool { return e.ToolCall.ToolCallID == call })
	}
	p.Write(map[string]any{"question": question("c1").Question, "option": "allow-once"})
	p.Write(map[string]any{"question": question("c2").Question, "option": "allow-once"})
	if err := p.Answer(&steered, running); err != nil || steered.MessageID == "" || steered.MessageID == first.MessageID {
		t.Errorf("the second prompt is %+v: %v", steered, err)
	}
	form := p.Await("the form", func(e acpclient.Event) bool { return e.Form != nil && e.Form.ToolCallID == "c4" })
	p.Write(map[string]any{"question": form.Question, "form": map[string]any{"action": "accept", "content": map[string]any{"answer1": "2"}}})
	p.Write(map[string]any{"question": question("c5").Question, "option": "reject"})
	awaitState(t, p, "idle end_turn", 1)
	if n := count(p.WorkStates(), "requires_action"); n < 3 {
		t.Errorf("the states are %q", p.WorkStates())
	}
	for call, last := range map[string]string{"c1": "completed", "c2": "completed", "c3": "failed", "c4": "completed", "c5": "failed"} {
		if got := p.States(call); len(got) == 0 || got[len(got)-1] != last {
			t.Errorf("call %s went through %q", call, got)
		}
	}
	p.Await("the diff", func(e acpclient.Event) bool {
		return e.Update != nil && e.Update.ToolCallID == "c2" && strings.Contains(string(e.Update.Content), `"operation":"add"`)
	})
	log := w.Podctl("tail", session, "--after", "0", "-o", "json")
	for _, want := range []string{"Lint all files.", `Answer: Postgres\n`, "acp: typescript"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	p.Must(&first, "session/prompt", acpclient.Prompt(session, "go on"))
	p.Write(map[string]any{"notify": "session/cancel", "params": map[string]string{"sessionId": session}})
	awaitState(t, p, "idle cancelled", 1)

	q := acpclient.StartSecond(t, w, map[string]any{})
	var list struct{ Sessions []struct{ SessionID string } }
	q.Must(&list, "session/list", map[string]any{"cwd": w.Workspace})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != session {
		t.Fatalf("the sessions are %+v", list)
	}
	q.Must(&struct{}{}, "session/resume", map[string]any{"sessionId": session, "cwd": w.Workspace, "replayFrom": map[string]string{"type": "start"}})
	awaitState(t, q, "idle cancelled", 1)
	if got := q.WorkStates(); len(got) != 1 || len(q.States("c2")) == 0 {
		t.Errorf("the states are %q, those of the call %q", got, q.States("c2"))
	}
	var fork struct{ SessionID string }
	q.Must(&fork, "session/fork", map[string]any{"sessionId": session, "cwd": w.Workspace})
	q.Must(&struct{}{}, "auth/login", map[string]string{"methodId": "podd"})
	q.Must(&struct{}{}, "session/close", map[string]string{"sessionId": fork.SessionID})
	q.Must(&struct{}{}, "session/delete", map[string]string{"sessionId": fork.SessionID})
	if out := w.Podctl("list", "--trash"); fork.SessionID == session || !strings.Contains(out, fork.SessionID) {
		t.Errorf("the trash has\n%s", out)
	}
}
