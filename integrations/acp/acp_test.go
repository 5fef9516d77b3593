//go:build integrations

// Package acp tests podctl acp with the client of the protocol's own TypeScript library,
// which checks every message against the protocol's schema.
package acp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/acpclient"
	"podd/pkg/llm/scripted"
)

func TestTurn(t *testing.T) {
	w := rig.New(t, scripted.Answers(
		scripted.Say(scripted.Reasoning("Hm."), scripted.Text("I will look."),
			scripted.Call{ID: "c1", Name: "todo", Arguments: `{"items":[{"text":"edit","status":"in_progress"}]}`},
			scripted.Call{ID: "c2", Name: "write_file", Arguments: `{"path":"new.txt","content":"hello\n"}`},
			scripted.Call{ID: "c3", Name: "apply_patch", Arguments: `{"input":"*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch"}`},
			scripted.Call{ID: "c4", Name: "glob", Arguments: `{"pattern":"*.txt"}`},
			scripted.Call{ID: "c5", Name: "no_such_tool", Arguments: `{`}),
		scripted.Say(scripted.Text("Done."))))
	path := w.Workspace + "/a.txt"
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := acpclient.Start(t, w)
	session := p.Session(w)
	var end acpclient.Stopped
	p.Must(&end, "session/prompt", map[string]any{"sessionId": session, "prompt": []any{
		map[string]string{"type": "text", "text": "look at"},
		map[string]string{"type": "resource_link", "name": "a.txt", "uri": "file://" + path + "#L2"},
		map[string]any{"type": "resource", "resource": map[string]string{"uri": "file://" + path, "text": "unsaved"}},
	}})
	if end.StopReason != "end_turn" || p.Said("agent_message_chunk") != "I will look.Done." || p.Said("agent_thought_chunk") != "Hm." {
		t.Errorf("%+v, it said %q and thought %q", end, p.Said("agent_message_chunk"), p.Said("agent_thought_chunk"))
	}
	for call, last := range map[string]string{"c1": "completed", "c2": "completed", "c3": "completed", "c4": "completed", "c5": "failed"} {
		got := p.States(call)
		if len(got) < 2 || got[0] != "pending" || got[len(got)-1] != last {
			t.Errorf("call %s went through %q", call, got)
		}
	}
	p.Await("the plan", func(e acpclient.Event) bool {
		return e.Update != nil && e.Update.SessionUpdate == "plan" && len(e.Update.Entries) == 1
	})
	p.Await("the diff", func(e acpclient.Event) bool {
		return e.Update != nil && e.Update.ToolCallID == "c2" && strings.Contains(string(e.Update.Content), `"newText":"hello\n"`)
	})
	if out := w.Podctl("tail", session, "--after", "0"); !strings.Contains(out, "[File: a.txt:2]") && !strings.Contains(out, "a.txt:2") || !strings.Contains(out, "unsaved") {
		t.Errorf("the prompt became\n%s", out)
	}
}

// The protocol's client knows the commands, and closes and deletes sessions.
func TestCommands(t *testing.T) {
	w := rig.New(t, scripted.Answers(scripted.Say(scripted.Text("Done."))))
	if err := os.MkdirAll(w.Workspace+"/.claude/commands", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.Workspace+"/.claude/commands/lint.md", []byte("Lint all files."), 0o600); err != nil {
		t.Fatal(err)
	}
	p := acpclient.Start(t, w)
	session := p.Session(w)
	p.Await("the commands", func(e acpclient.Event) bool {
		return e.Update != nil && slices.ContainsFunc(e.Update.AvailableCommands, func(c struct{ Name string }) bool { return c.Name == "lint" })
	})
	p.Await("the title", func(e acpclient.Event) bool {
		return e.Update != nil && e.Update.SessionUpdate == "session_info_update" && e.Update.Title != ""
	})
	p.Must(&struct{}{}, "session/prompt", acpclient.Prompt(session, "/lint"))
	if out := w.Podctl("tail", session, "--after", "0"); !strings.Contains(out, "Lint all files.") {
		t.Errorf("the prompt became\n%s", out)
	}
	p.Must(&struct{}{}, "authenticate", map[string]string{"methodId": "podd"})
	p.Must(&struct{}{}, "session/close", map[string]string{"sessionId": session})
	p.Must(&struct{}{}, "session/delete", map[string]string{"sessionId": session})
	if out := w.Podctl("list", "--trash"); !strings.Contains(out, session) {
		t.Errorf("the trash has\n%s", out)
	}
}

func TestPermissions(t *testing.T) {
	shell := func(id, command string) scripted.Reply {
		return scripted.Say(scripted.Call{ID: id, Name: "shell", Arguments: `{"command":"` + command + `"}`})
	}
	w := rig.New(t, scripted.Answers(shell("c1", "true 1"), shell("c2", "true 2"), shell("c3", "true 3"), scripted.Say(scripted.Text("Done."))))
	p := acpclient.Start(t, w)
	session := p.Session(w)
	p.Must(&struct{}{}, "session/set_mode", map[string]string{"sessionId": session, "modeId": "always"})
	running := p.Begin("session/prompt", acpclient.Prompt(session, "go"))
	asked := func(call string) acpclient.Event {
		return p.Await("the question for "+call, func(e acpclient.Event) bool { return e.ToolCall.ToolCallID == call })
	}
	first := asked("c1")
	kinds := []string{}
	for _, o := range first.Options {
		kinds = append(kinds, o.Kind)
	}
	if want := []string{"allow_once", "reject_once", "allow_always"}; !slices.Equal(kinds, want) || !strings.Contains(first.ToolCall.Title, "true 1") {
		t.Errorf("the question is %+v", first)
	}
	p.Write(map[string]any{"question": first.Question, "option": "allow-once"})
	p.Write(map[string]any{"question": asked("c2").Question, "option": "reject"})
	third := asked("c3")
	var approval struct {
		CallSeq string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", session, "-o", "json")), &approval); err != nil {
		t.Fatal(err)
	}
	w.Podctl("approve", session, approval.CallSeq)
	p.Await("the withdrawal", func(e acpclient.Event) bool { return e.Question == third.Question && e.Withdrawn })
	var end acpclient.Stopped
	if err := p.Answer(&end, running); err != nil || end.StopReason != "end_turn" {
		t.Errorf("%v, %+v", err, end)
	}
	for call, last := range map[string]string{"c1": "completed", "c2": "failed", "c3": "completed"} {
		if got := p.States(call); len(got) == 0 || got[len(got)-1] != last {
			t.Errorf("call %s went through %q", call, got)
		}
	}
}

func ask(id string) scripted.Reply {
	return scripted.Say(scripted.Call{ID: id, Name: "ask_user", Arguments: `{"questions":[{"question":"Which?","header":"Database","options":[{"label":"SQLite"},{"label":"Postgres"}]}]}`})
}

// An editor with forms shows what a call asks in one. An answer from elsewhere withdraws it, and to close it leaves it to the model.
func TestForm(t *testing.T) {
	w := rig.New(t, scripted.Answers(ask("c1"), ask("c2"), ask("c3"), scripted.Say(scripted.Text("Done."))))
	p := acpclient.StartWith(t, w, map[string]any{"elicitation": map[string]any{"form": map[string]any{}}})
	session := p.Session(w)
	running := p.Begin("session/prompt", acpclient.Prompt(session, "go"))
	asked := func(call string) acpclient.Event {
		return p.Await("the form of "+call, func(e acpclient.Event) bool { return e.Form != nil && e.Form.ToolCallID == call })
	}
	first := asked("c1")
	if f := first.Form; f.SessionID != session || !strings.Contains(f.Message, "Database: Which?") || !strings.Contains(string(f.RequestedSchema), `{"const":"2","title":"Postgres"}`) {
		t.Errorf("the form is %+v", f)
	}
	p.Write(map[string]any{"question": first.Question, "form": map[string]any{"action": "accept", "content": map[string]any{"answer1": "2"}}})
	second := asked("c2")
	w.Podctl("answer", session, "elsewhere")
	p.Await("the withdrawal", func(e acpclient.Event) bool { return e.Question == second.Question && e.Withdrawn })
	p.Write(map[string]any{"question": asked("c3").Question, "form": map[string]any{"action": "cancel"}})
	var end acpclient.Stopped
	if err := p.Answer(&end, running); err != nil || end.StopReason != "end_turn" {
		t.Errorf("%v, %+v", err, end)
	}
	log := w.Podctl("tail", session, "--after", "0", "-o", "json")
	for _, want := range []string{`Answer: Postgres\n`, `Answer: elsewhere\n`, "decide yourself"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// In an editor without forms the next prompt answers what a call asks.
func TestQuestion(t *testing.T) {
	w := rig.New(t, scripted.Answers(ask("c1"), ask("c2"), scripted.Say(scripted.Text("Done."))))
	p := acpclient.Start(t, w)
	session := p.Session(w)
	running := p.Begin("session/prompt", acpclient.Prompt(session, "go"))
	var end acpclient.Stopped
	for i, text := range []string{"2", "neither"} {
		rig.Await(t, "the question", func() bool { return strings.Count(p.Said("agent_message_chunk"), "\n  2. Postgres\n") == i+1 })
		p.Must(&end, "session/prompt", acpclient.Prompt(session, text))
		if end.StopReason != "end_turn" {
			t.Errorf("%s: %+v", text, end)
		}
	}
	if err := p.Answer(&end, running); err != nil || end.StopReason != "end_turn" {
		t.Errorf("%v, %+v", err, end)
	}
	log := w.Podctl("tail", session, "--after", "0", "-o", "json")
	for _, want := range []string{`Answer: Postgres\n`, `Answer: neither\n`, "acp: typescript"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// podd is killed in the middle of an answer; a second editor joins; the first one stops
// the next turn.
func TestRestartJoinAndCancel(t *testing.T) {
	gate, never := make(chan struct{}), make(chan struct{})
	w := rig.New(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.LastUser() == "second" {
			return scripted.Say(scripted.Text("For ever"), scripted.Wait(never))
		}
		return scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))
	})
	a := acpclient.Start(t, w)
	session := a.Session(w)
	running := a.Begin("session/prompt", acpclient.Prompt(session, "first"))
	a.AwaitText("The ans")
	w.Kill()
	w.Start()
	close(gate)
	var end acpclient.Stopped
	if err := a.Answer(&end, running); err != nil || end.StopReason != "end_turn" {
		t.Fatalf("%v, %+v", err, end)
	}
	if got := a.Said("agent_message_chunk"); strings.Count(got, "wer.") != 1 {
		t.Errorf("it said %q", got)
	}
	b := acpclient.Start(t, w)
	var list struct {
		Sessions []struct{ SessionID string }
	}
	b.Must(&list, "session/list", map[string]any{"cwd": w.Workspace})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != session {
		t.Fatalf("the sessions are %+v", list)
	}
	b.Must(&struct{}{}, "session/load", map[string]any{"sessionId": session, "cwd": w.Workspace, "mcpServers": []any{}})
	if got := b.Said("user_message_chunk") + "|" + b.Said("agent_message_chunk"); !strings.HasPrefix(got, "first|The answer.") && !strings.HasSuffix(got, "The answer.") {
		t.Errorf("the history is %q", got)
	}
	running = a.Begin("session/prompt", acpclient.Prompt(session, "second"))
	b.AwaitText("For ever")
	a.Write(map[string]any{"notify": "session/cancel", "params": map[string]string{"sessionId": session}})
	if err := a.Answer(&end, running); err != nil || end.StopReason != "cancelled" {
		t.Errorf("%v, %+v", err, end)
	}
	b.AwaitText("> podd: turn 2 was cancelled: cancelled in the editor (acp: typescript)")
}
