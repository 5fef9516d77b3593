package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// A prompt with every kind of content becomes segments. The editor sees what the turn
// does as it happens: thoughts, text, calls with their states, a diff, the plan.
func TestACPTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Reasoning("Hm, look first."), scripted.Text("I will look."),
			scripted.Call{ID: "c1", Name: "read_file", Arguments: `{"path":"a.txt","start_line":2,"end_line":2}`},
			scripted.Call{ID: "c2", Name: "todo", Arguments: `{"items":[{"text":"look","status":"done"},{"text":"edit","status":"in_progress"}]}`}),
		scripted.Say(scripted.Call{ID: "c3", Name: "edit_file", Arguments: `{"path":"a.txt","old":"two","new":"TWO"}`},
			scripted.Call{ID: "c4", Name: "read_file", Arguments: `{"path":"missing"}`}),
		scripted.Say(scripted.Text("Done: ```x```")),
	))
	path := w.file("a.txt", "one\ntwo\nthree\n")
	e := w.newEditor(nil)
	session := e.session(w.dir)
	var end stop
	e.must("session/prompt", promptOf(session, "fix @a.txt and leave @Override: ",
		map[string]string{"type": "resource_link", "name": "a.txt", "uri": "file://" + path + "#L2:3"},
		map[string]string{"type": "resource_link", "name": "site", "uri": "https://example.com/x"},
		map[string]any{"type": "resource", "resource": map[string]string{"uri": "file://" + path + "#L1", "text": "unsaved @a.txt\n", "mimeType": "text/plain"}},
	), &end)
	if end.StopReason != "end_turn" {
		t.Errorf("the stop reason is %q", end.StopReason)
	}
	out, _ := w.podctl("tail", session, "--after", "0", "-o", "json").run(0)
	var submitted struct {
		Entry struct {
			Submitted struct {
				Segments json.RawMessage
			}
		}
	}
	line := out[:strings.IndexByte(out, '\n')]
	if err := json.Unmarshal([]byte(line), &submitted); err != nil {
		t.Fatal(err)
	}
	compact := strings.ReplaceAll(string(submitted.Entry.Submitted.Segments), `": `, `":`)
	for _, want := range []string{`"text":"fix "`, `"path":"a.txt","start_line":0`, `and leave @Override: "`, `"start_line":2,"end_line":3`,
		`"paste":{"text":"[site](https://example.com/x)"`, `"paste":{"text":"unsaved @a.txt\n","name":"a.txt:1, as it is in the editor"}`} {
		if !strings.Contains(strings.ReplaceAll(compact, `, "`, `,"`), want) {
			t.Errorf("the segments lack %s: %s", want, compact)
		}
	}
	if got := e.said("agent_message_chunk"); got != "I will look.Done: ```x```" {
		t.Errorf("it said %q", got)
	}
	if got := e.said("agent_thought_chunk"); got != "Hm, look first." {
		t.Errorf("it thought %q", got)
	}
	if got := e.said("user_message_chunk"); got != "" {
		t.Errorf("the prompt came back: %q", got)
	}
	for id, last := range map[string]string{"c1": "completed", "c2": "completed", "c3": "completed", "c4": "failed"} {
		if got, want := e.callStates(id), []string{"pending", "in_progress", last}; !slices.Equal(got, want) {
			t.Errorf("call %s went through %q, want %q", id, got, want)
		}
	}
	first := e.awaitUpdate("c1", func(u update) bool { return u.ToolCallID == "c1" })
	if first.Kind != "read" || first.Title != "read_file a.txt:2-2" || len(first.Locations) != 1 || first.Locations[0].Path != path || first.Locations[0].Line != 2 {
		t.Errorf("the first call is %+v", first)
	}
	for _, u := range e.updates() {
		if len(u.RawOutput) > 0 {
			t.Errorf("call %s has its output twice: %s beside %s", u.ToolCallID, u.RawOutput, u.Content)
		}
	}
	edit := e.awaitUpdate("c3", func(u update) bool { return u.ToolCallID == "c3" && u.Status == "completed" })
	if got := string(edit.Content); !strings.Contains(got, `"newText":"one\nTWO\nthree\n"`) || !strings.Contains(got, `"oldText":"one\ntwo\nthree\n"`) || !strings.Contains(got, `"type":"diff"`) {
		t.Errorf("the edit shows %s", got)
	}
	plan := e.awaitUpdate("the plan", func(u update) bool { return u.SessionUpdate == "plan" })
	if len(plan.Entries) != 2 || plan.Entries[0].Status != "completed" || plan.Entries[1].Content != "edit" {
		t.Errorf("the plan is %+v", plan.Entries)
	}
}

// Images of a prompt, attached or embedded, reach the model byte for byte, and their names the log.
func TestACPImages(t *testing.T) {
	t.Parallel()
	const shot = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZMEADMoL9HswQX5AAAAAElFTkSuQmCC"
	const other = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAECAIAAADJUWIXAAAAEElEQVR4nGNgYPiPikjjAwBp8hPt6aJV6AAAAABJRU5ErkJggg=="
	bodies := make(chan string, 1)
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		bodies <- string(r.Body)
		return scripted.Say(scripted.Text("Seen."))
	})
	e := w.newEditor(nil)
	session := e.session(w.dir)
	var end stop
	e.must("session/prompt", promptOf(session, "what is this? ",
		map[string]string{"type": "image", "data": shot, "mimeType": "image/png", "uri": "file://" + w.dir + "/shot.png"},
		map[string]any{"type": "resource", "resource": map[string]string{"uri": "file:///elsewhere/other.png", "blob": other, "mimeType": "image/png"}},
	), &end)
	body := <-bodies
	for _, want := range []string{"what is this? ", "data:image/png;base64," + shot, "data:image/png;base64," + other} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %.60s: %.3000s", want, body)
		}
	}
	out, _ := w.podctl("image", session).run(0)
	if !strings.Contains(out, "shot.png, image 8x6, 75 bytes\n") || !strings.Contains(out, "other.png, image 5x4, 73 bytes\n") {
		t.Errorf("the pod has the images %s", out)
	}
}

// The pod outlives the editor. A second editor finds it, loads its history and follows
// the first one's turn; a turn of the second shows in the first.
func TestACPTwoEditors(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("One.")), scripted.Say(scripted.Text("Tw"), scripted.Wait(gate), scripted.Text("o.")), scripted.Say(scripted.Text("Three."))))
	a := w.newEditor(nil)
	session := a.session(w.dir)
	var end stop
	a.must("session/prompt", promptOf(session, "first"), &end)
	running := a.begin("session/prompt", promptOf(session, "second"))
	a.awaitText("Tw")

	b := w.newEditor(nil)
	var list struct {
		Sessions []struct{ SessionID, Title, Cwd string }
	}
	b.must("session/list", map[string]any{"cwd": w.dir}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != session || list.Sessions[0].Cwd == "" {
		t.Fatalf("the sessions are %+v", list)
	}
	var loaded struct{}
	load := map[string]any{"sessionId": session, "cwd": w.dir, "mcpServers": []any{}}
	b.must("session/load", load, &loaded)
	if got := b.said("user_message_chunk"); got != "firstsecond" {
		t.Errorf("the loaded session shows %q of the user", got)
	}
	b.awaitText("Tw")
	c := w.newEditor(nil)
	c.must("session/resume", load, &loaded)
	close(gate)
	if err := a.answered(running, &end); err != nil || end.StopReason != "end_turn" {
		t.Errorf("%v, %+v", err, end)
	}
	b.awaitText("Two.")
	b.must("session/prompt", promptOf(session, "third"), &end)
	a.awaitText("Three.")
	c.awaitText("Three.")
	if got := a.said("agent_message_chunk"); got != "One.\n\nTwo.Three." && got != "One.Two.Three." {
		t.Errorf("the first editor shows %q", got)
	}
	if got := a.said("user_message_chunk"); got != "third" {
		t.Errorf("the first editor shows %q of the user", got)
	}
	if got := b.said("user_message_chunk"); got != "firstsecond" {
		t.Errorf("the second editor shows %q of the user", got)
	}
	if got := c.said("user_message_chunk") + c.said("agent_message_chunk"); strings.Contains(got, "first") || strings.Contains(got, "One.") {
		t.Errorf("a resumed session shows the past: %q", got)
	}
	joined := w.newEditor(nil, "--pod", session)
	if got := joined.session(w.dir); got != session {
		t.Errorf("--pod gave session %s, want %s", got, session)
	}
}

// A turn that ends before its first request leaves nothing for the model to read. A
// loaded session shows its prompt anyway.
func TestACPLoadShowsWhatNoRequestSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("One."))))
	w.podctl("create", "p").run(0)
	w.podctl("submit", "-f", "-p", "p", "first").run(0)
	w.kill()
	if err := os.MkdirAll(filepath.Join(w.dir, "home", ".config", "podd"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.file("home/.config/podd/config.toml", `[[interceptor]]
name = "judge"
on = ["prompt_submit"]
command = "echo '{\"verdict\":\"cancel\",\"reason\":\"not today\"}'"
`)
	w.start()
	w.podctl("submit", "-f", "-p", "p", "second").run(5)
	e := w.newEditor(nil, "--pod", "p")
	e.must("session/load", map[string]any{"sessionId": e.session(w.dir), "cwd": w.dir, "mcpServers": []any{}}, &struct{}{})
	if got := e.said("user_message_chunk"); !strings.HasSuffix(got, "firstsecond") {
		t.Errorf("the loaded session shows %q of the user", got)
	}
}

// The editor answers a question: once, with a rule that the question shows, or not at all. It
// offers no rule for a call that none can allow.
func TestACPPermissions(t *testing.T) {
	t.Parallel()
	const hidden, plain = `{"command":"true \u202e"}`, `{"command":"true"}`
	for option, tt := range map[string]struct{ arguments, want string }{
		"allow-once": {hidden, "completed"}, "reject": {hidden, "failed"}, "allow-always": {plain, "completed"},
	} {
		t.Run(option, func(t *testing.T) {
			want := tt.want
			w := newWorld(t, scripted.Answers(scripted.Say(scripted.Call{ID: "c1", Name: "shell", Arguments: tt.arguments}), scripted.Say(scripted.Text("Done."))))
			e := w.newEditor(func(params json.RawMessage) string {
				asked, ruled := string(params), tt.arguments == plain
				if !ruled && !strings.Contains(asked, `\\u202e`) || strings.Contains(asked, "allow_always") != ruled ||
					strings.Contains(asked, `Always allow adds the rule: allow, tool \"shell\", command \"true\"`) != ruled {
					t.Errorf("the question is %s", params)
				}
				return option
			})
			session := e.session(w.dir)
			e.must("session/set_mode", map[string]any{"sessionId": session, "modeId": "always"}, &struct{}{})
			var end stop
			e.must("session/prompt", promptOf(session, "go"), &end)
			if got := e.callStates("c1"); end.StopReason != "end_turn" || got[len(got)-1] != want {
				t.Errorf("stop reason %q, states %q", end.StopReason, got)
			}
		})
	}
}

// What a command asks for is in the title of the question, and begins it.
func TestACPAsksForAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Call{ID: "c1", Name: "shell", Arguments: `{"command":"true","access":"host","why":"to see"}`}), scripted.Say(scripted.Text("Done."))))
	asked := ""
	e := w.newEditor(func(params json.RawMessage) string {
		asked = string(params)
		return "reject"
	})
	session := e.session(w.dir)
	e.must("session/set_mode", map[string]any{"sessionId": session, "modeId": "always"}, &struct{}{})
	var end stop
	e.must("session/prompt", promptOf(session, "go"), &end)
	for _, want := range []string{"\"title\":\"shell access host: `true`\"", "Access \\\"host\\\", why \\\"to see\\\": the command"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the question lacks %s:\n%s", want, asked)
		}
	}
}

// When another client answers a question, the editor withdraws it.
func TestACPAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Call{ID: "c1", Name: "shell", Arguments: `{"command":"true"}`}), scripted.Say(scripted.Text("Done."))))
	e := w.newEditor(func(json.RawMessage) string { return "" })
	session := e.session(w.dir)
	e.must("session/set_mode", map[string]any{"sessionId": session, "modeId": "always"}, &struct{}{})
	running := e.begin("session/prompt", promptOf(session, "go"))
	question := e.await("the question", func(m rpcMessage) bool { return m.Method == "session/request_permission" })
	out, _ := w.podctl("approvals", session, "-o", "json").run(0)
	var approval struct {
		CallSeq string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(out), &approval); err != nil {
		t.Fatal(err)
	}
	w.podctl("approve", session, approval.CallSeq).run(0)
	e.await("the withdrawal", func(m rpcMessage) bool {
		var p struct{ RequestID int }
		return m.Method == "$/cancel_request" && json.Unmarshal(m.Params, &p) == nil && p.RequestID == *question.ID
	})
	var end stop
	if err := e.answered(running, &end); err != nil || end.StopReason != "end_turn" {
		t.Errorf("%v, %+v", err, end)
	}
	// A late answer changes nothing.
	e.write(rpcMessage{JSONRPC: "2.0", ID: question.ID, Result: json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`)})
	e.must("session/set_mode", map[string]any{"sessionId": session, "modeId": "never"}, &struct{}{})
}

// In the mode "Plan" the session's prompts begin turns that change nothing; in another one
// they act.
func TestACPPlanMode(t *testing.T) {
	t.Parallel()
	write := scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"made","content":""}`})
	done := scripted.Say(scripted.Text("Done."))
	w := newWorld(t, scripted.Answers(write, done, write, done))
	e := w.newEditor(nil)
	session := e.session(w.dir)
	made := func() bool {
		_, err := os.Stat(filepath.Join(w.dir, "made"))
		return err == nil
	}
	for _, mode := range []string{"plan", "default"} {
		e.must("session/set_mode", map[string]any{"sessionId": session, "modeId": mode}, &struct{}{})
		var end stop
		e.must("session/prompt", promptOf(session, "go"), &end)
		if end.StopReason != "end_turn" || made() != (mode == "default") {
			t.Errorf("in mode %s the turn ends with %s, made %t", mode, end.StopReason, made())
		}
	}
}

// session/cancel ends the turn and withdraws the queued submit, and the editor sees both
// prompts end as cancelled.
func TestACPCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	session := e.session(w.dir)
	first := e.begin("session/prompt", promptOf(session, "go"))
	e.awaitText("The ans")
	second := e.begin("session/prompt", promptOf(session, "and then"))
	tail := w.podctl("tail", "-f", session, "--after", "0").start()
	tail.out.await(t, "and then")
	e.notify("session/cancel", map[string]string{"sessionId": session})
	for _, answer := range []<-chan rpcMessage{first, second} {
		var end stop
		if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
			t.Errorf("%v, %+v", err, end)
		}
	}
	_ = tail.cmd.Process.Signal(os.Interrupt)
	tail.wait()
	if out, _ := w.podctl("show", session, "-o", "json").run(0); !strings.Contains(out, "POD_STATE_IDLE") {
		t.Errorf("the pod goes on: %s", out)
	}
}

// A cancel right behind a prompt ends that prompt, also the first one of a session, whose answer
// podd has not begun.
func TestACPCancelBehindThePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	for range 10 {
		session := e.session(w.dir)
		answer := e.begin("session/prompt", promptOf(session, "go"))
		e.notify("session/cancel", map[string]string{"sessionId": session})
		var end stop
		if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
			t.Fatalf("%v, %+v", err, end)
		}
	}
}

// A prompt waits on while the editor opens its session again; a cancel finds it.
func TestACPLoadDuringAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	for _, method := range []string{"session/load", "session/resume"} {
		session := e.session(w.dir)
		answer := e.begin("session/prompt", promptOf(session, "go"))
		e.awaitText("The ans")
		e.must(method, map[string]any{"sessionId": session, "cwd": w.dir, "mcpServers": []any{}}, &struct{}{})
		e.notify("session/cancel", map[string]string{"sessionId": session})
		var end stop
		if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
			t.Errorf("%s: %v, %+v", method, err, end)
		}
	}
}

// The editor says which of podd's MCP servers does not start.
func TestACPNamesAServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("One.")), scripted.Say(scripted.Text("Two."))))
	w.configure("[mcp.servers.broken]\ncommand = \"false\"\n")
	e := w.newEditor(nil)
	session := e.session(w.dir)
	e.must("session/prompt", promptOf(session, "one"), &stop{})
	e.must("session/prompt", promptOf(session, "two"), &stop{})
	if said := e.said("agent_message_chunk"); strings.Count(said, "> podd: the MCP server broken ") != 1 {
		t.Errorf("it said %q", said)
	}
}

// podd is killed in the middle of an answer and restarts. The session continues where it
// was and shows each entry once.
func TestACPOverARestart(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	e := w.newEditor(nil)
	session := e.session(w.dir)
	running := e.begin("session/prompt", promptOf(session, "go"))
	e.awaitText("The ans")
	w.kill()
	w.start()
	close(gate)
	var end stop
	if err := e.answered(running, &end); err != nil || end.StopReason != "end_turn" {
		t.Fatalf("%v, %+v", err, end)
	}
	// What the editor saw of the first answer is a prefix of the second one, or the editor
	// reports it as cut.
	const notice = "\n\n> podd: the turn resumes: podd stopped during the turn\n\n"
	if got := e.said("agent_message_chunk"); got != "The answer."+notice && got != "The ans"+notice+"> podd: the answer was cut off; asking the model again\n\nThe answer." {
		t.Errorf("the editor shows %q", got)
	}
	if got := e.said("user_message_chunk"); got != "" {
		t.Errorf("the prompt came back: %q", got)
	}
	e.must("session/prompt", promptOf(session, "again"), &end)
	if got := e.said("agent_message_chunk"); !strings.HasSuffix(got, "The answer.") || strings.Count(got, "wer.") != 2 {
		t.Errorf("the editor shows %q", got)
	}
}

// Every failure is an error whose message is a sentence, and the connection stays usable.
func TestACPErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Fail(401, "invalid_api_key", "no such key", 0)
	})
	e := w.newEditor(nil)
	session := e.session(w.dir)
	tests := []struct {
		method string
		params any
		want   string
	}{
		{"session/prompt", promptOf(session, ""), "-32602"},
		{"session/prompt", promptOf("unknown", "x"), "-32002: session unknown is not open"},
		{"session/prompt", promptOf(session, map[string]string{"type": "image", "data": "eA==", "mimeType": "image/png"}), `image 1 is not a PNG, JPEG, GIF or WebP image`},
		{"session/prompt", promptOf(session, "x"), "turn 1 failed: "},
		{"session/load", map[string]any{"sessionId": "unknown", "cwd": w.dir, "mcpServers": []any{}}, "-32002"},
		{"session/new", map[string]any{"cwd": w.dir + "/nowhere", "mcpServers": []any{}}, "-32602"},
		{"session/set_mode", map[string]any{"sessionId": session, "modeId": "yolo"}, `"yolo" is not a mode`},
		{"session/archive", map[string]any{"sessionId": session}, "-32601"},
	}
	for _, tt := range tests {
		if err := e.call(tt.method, tt.params, &struct{}{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s gives %v, want %q", tt.method, err, tt.want)
		}
	}
	e.must("session/new", map[string]any{"cwd": w.dir, "mcpServers": []any{map[string]any{"name": "files", "command": "/bin/x", "args": []string{}, "env": []any{}}}}, &struct{ SessionID *string }{&session})
	_ = e.call("session/prompt", promptOf(session, "x"), &struct{}{})
	e.awaitText("> podd: the editor's MCP servers (files) are ignored")
}

// Without podd the editor learns why nothing works.
func TestACPWithoutPodd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	w.kill()
	t.Cleanup(w.start)
	err := e.call("session/new", map[string]any{"cwd": w.dir, "mcpServers": []any{}}, &struct{}{})
	if err == nil || !strings.Contains(err.Error(), "start it with `podd &`") {
		t.Errorf("got %v", err)
	}
}
