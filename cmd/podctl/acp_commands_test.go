package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// commandsOf are the commands that an editor was offered last: NAME or NAME(HINT).
func commandsOf(m rpcMessage) (names []string) {
	var p struct {
		Update struct {
			Title    string
			Commands []struct {
				Name, Description string
				Input             *struct{ Hint string }
			} `json:"availableCommands"`
		}
	}
	_ = json.Unmarshal(m.Params, &p)
	for _, c := range p.Update.Commands {
		name := c.Name
		if c.Input != nil {
			name += "(" + c.Input.Hint + ")"
		}
		names = append(names, name)
	}
	return names
}

// An editor learns a session's title and commands: the person's own prompts, those of the workspace, its skills, and compact.
func TestACPCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text(r.LastUser() + ".\n"))
	})
	w.write("home/.config/podd/prompts/review.md", "---\ndescription: reviews\nargs: file\n---\nReview $FILE, please.")
	w.write(".agents/commands/ship.md", "---\nargument-hint: \"[where]\"\n---\nShip it.")
	w.write(".claude/commands/lint.md", "Lint.")
	w.configure("[compaction]\nkeep_tokens = 1\n")
	w.write(".agents/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: deploys the site\n---\nRun make deploy.\n")
	e := w.newEditor(nil)
	session := e.session(w.dir)
	offered := e.await("the commands", func(m rpcMessage) bool { return commandsOf(m) != nil })
	if got, want := commandsOf(offered), []string{"compact", "review(file)", "ship([where])", "lint", "deploy(task)"}; !slices.Equal(got, want) {
		t.Errorf("podd offers %q, want %q", got, want)
	}
	e.await("the title", func(m rpcMessage) bool {
		return strings.Contains(string(m.Params), `"sessionUpdate":"session_info_update"`) && strings.Contains(string(m.Params), `"title":"`)
	})
	for typed, want := range map[string]string{
		"/review 'a b.go'": "Review a b.go, please.", "/ship \nnow": "Ship it.\n\nnow", "/deploy": "Run make deploy.\n\n[This is the skill deploy. Its files are in .agents/skills/deploy.]", "/etc/passwd is what?": "/etc/passwd is what?",
		"/nonsense x": "/nonsense x", "see /lint": "see /lint", " /lint": " /lint",
	} {
		e.must("session/prompt", promptOf(session, typed), &struct{}{})
		e.awaitText(want + ".\n")
	}
	if err := e.call("session/prompt", promptOf(session, "/review"), &struct{}{}); err == nil || !strings.Contains(err.Error(), "-32602: /review needs file") {
		t.Errorf("without its argument: %v", err)
	}
	var end stop
	e.must("session/prompt", promptOf(session, "/compact"), &end)
	if log, _ := w.podctl("tail", session, "--after", "0").run(0); end.StopReason != "end_turn" || !strings.Contains(log, "compacted") {
		t.Errorf("%+v:\n%s", end, log)
	}
	e.must("session/load", map[string]any{"sessionId": session, "cwd": w.dir, "mcpServers": []any{}}, &struct{}{})
	e.must("authenticate", map[string]string{"methodId": "podd"}, &struct{}{})
	if err := e.call("authenticate", map[string]string{"methodId": "other"}, &struct{}{}); err == nil {
		t.Error("podd knows a login that there is not")
	}
}

// A cancel ends a compaction.
func TestACPCancelsACompaction(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	w := newWorld(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.LastUser() == "go" {
			return scripted.Say(scripted.Text("Done."))
		}
		close(asked)
		return scripted.Say(scripted.Wait(nil))
	})
	w.configure("[compaction]\nkeep_tokens = 1\n")
	e := w.newEditor(nil)
	session := e.session(w.dir)
	for range 2 {
		e.must("session/prompt", promptOf(session, "go"), &struct{}{})
	}
	answer := e.begin("session/prompt", promptOf(session, "/compact"))
	select {
	case <-asked:
	case m := <-answer:
		t.Fatalf("%s, %v", m.Result, m.Error)
	}
	e.notify("session/cancel", map[string]string{"sessionId": session})
	var end stop
	if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
		t.Errorf("%v, %+v", err, end)
	}
}

// To close a session ends its own prompts; the pod stays, and can be opened again. To delete one moves its pod to the trash.
func TestACPClosesAndDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	session := e.session(w.dir)
	first := e.begin("session/prompt", promptOf(session, "go"))
	e.awaitText("The ans")
	second := e.begin("session/prompt", promptOf(session, "and then"))
	e.must("session/close", map[string]string{"sessionId": session}, &struct{}{})
	for _, answer := range []<-chan rpcMessage{first, second} {
		var end stop
		if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
			t.Errorf("%v, %+v", err, end)
		}
	}
	if err := e.call("session/prompt", promptOf(session, "x"), &struct{}{}); err == nil || !strings.Contains(err.Error(), "is not open") {
		t.Errorf("a prompt of a closed session: %v", err)
	}
	e.must("session/load", map[string]any{"sessionId": session, "cwd": w.dir, "mcpServers": []any{}}, &struct{}{})
	if out, _ := w.podctl("show", session, "-o", "json").run(0); !strings.Contains(out, "POD_STATE_IDLE") {
		t.Errorf("the pod goes on: %s", out)
	}
	e.must("session/delete", map[string]string{"sessionId": session}, &struct{}{})
	if out, _ := w.podctl("list", "--trash").run(0); !strings.Contains(out, session) {
		t.Errorf("the trash has\n%s", out)
	}
	for _, params := range []map[string]string{{"sessionId": session}, {}} {
		if err := e.call("session/delete", params, &struct{}{}); err == nil {
			t.Errorf("%v was deleted", params)
		}
	}
}

// A session that is closed right behind a prompt ends that prompt, which podd may not have yet.
func TestACPClosesBehindThePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	e := w.newEditor(nil)
	for range 10 {
		session := e.session(w.dir)
		answer := e.begin("session/prompt", promptOf(session, "go"))
		e.must("session/close", map[string]string{"sessionId": session}, &struct{}{})
		var end stop
		if err := e.answered(answer, &end); err != nil || end.StopReason != "cancelled" {
			t.Fatalf("%v, %+v", err, end)
		}
	}
}

// In the terminal view a slash and the name of a skill send it.
func TestDeskUsesASkill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says(nil))
	w.write("work/.agents/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: deploys the site\n---\nRun make deploy.\n")
	w.podctl("create", "p", "--dir", w.dir+"/work").run(0)
	d := w.atDesk()
	d.types("/dep", "/deploy task")
	d.turn("loy the docs\r")
	if log, _ := w.podctl("tail", "p", "--after", "0").run(0); !strings.Contains(log, "Run make deploy.") || !strings.Contains(log, "the docs") {
		t.Errorf("the log has\n%s", log)
	}
	d.leaves()
}
