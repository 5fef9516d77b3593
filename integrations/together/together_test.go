//go:build integrations

// Package together opens one pod in several clients at once.
package together

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/acpclient"
	"podd/integrations/rig/neovim"
	"podd/pkg/llm/scripted"
)

// tailed is a `podctl tail -f` and its output.
type tailed struct {
	cmd *exec.Cmd
	rig.Buffer
}

func tail(t *testing.T, w *rig.World, pod string) *tailed {
	t.Helper()
	l := &tailed{cmd: w.Command("podctl", "tail", pod, "-f", "--after", "0")}
	l.cmd.Stdout = l
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *tailed) await(t *testing.T, what string) {
	t.Helper()
	rig.Await(t, what+" in podctl tail", func() bool { return strings.Contains(l.String(), what) })
}

// inOrder checks that the text contains these in this order, each once.
func inOrder(t *testing.T, where, text string, marks ...string) {
	t.Helper()
	at := 0
	for _, m := range marks {
		i := strings.Index(text[at:], m)
		if i < 0 || strings.Count(text, m) != 1 {
			t.Errorf("%s has %q %d times, or not after the one before:\n%s", where, m, strings.Count(text, m), text)
			return
		}
		at += i
	}
}

// One pod is open in Neovim, an ACP client and podctl tail, which show the same entries
// in the same order. An approval answered in one disappears from the others. The turn
// continues when all three are closed.
func TestOnePod(t *testing.T) {
	gate := make(chan struct{})
	w := rig.New(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch r.Steps() {
		case 0:
			return scripted.Say(scripted.Text("Answer one."))
		case 1:
			return scripted.Say(scripted.Text("I will run it."), scripted.Call{ID: "c1", Name: "shell", Arguments: `{"command":"echo ran-it"}`})
		case 2:
			return scripted.Say(scripted.Text("Answer two."))
		}
		return scripted.Say(scripted.Text("Still at"), scripted.Wait(gate), scripted.Text(" work, done."))
	})
	acp := acpclient.Start(t, w)
	pod := acp.Session(w)
	acp.Must(&struct{}{}, "session/set_mode", map[string]string{"sessionId": pod, "modeId": "always"})
	editor := neovim.Edit(t, w)
	editor.Ex("Podd open " + pod)
	buffer := func() string { return editor.Expr(`join(getbufline('^podd://` + pod + `$', 1, '$'), "\n")`) }
	inNeovim := func(what string) {
		t.Helper()
		rig.Await(t, what+" in Neovim", func() bool { return strings.Contains(buffer(), what) })
	}
	log := tail(t, w, pod)

	// All clients see a prompt of one of them.
	var end acpclient.Stopped
	acp.Must(&end, "session/prompt", acpclient.Prompt(pod, "from the ACP client"))
	inNeovim("turn 1 finished")
	log.await(t, "turn 1 finished: ")

	// Neovim submits; all three show the question; podctl answers it.
	editor.Ex("Podd submit from Neovim")
	asked := acp.Await("the question", func(e acpclient.Event) bool { return e.ToolCall.ToolCallID == "c1" && e.Question > 0 })
	inNeovim("(1 approval)")
	inNeovim("? call ")
	var approval struct {
		CallSeq string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", pod, "-o", "json")), &approval); err != nil {
		t.Fatal(err)
	}
	w.Podctl("approve", pod, approval.CallSeq)
	acp.Await("the withdrawal", func(e acpclient.Event) bool { return e.Question == asked.Question && e.Withdrawn })
	inNeovim("turn 2 finished")
	log.await(t, "turn 2 finished: ")
	acp.AwaitText("Answer two.")
	rig.Await(t, "Neovim without the question", func() bool {
		text := buffer()
		return !strings.Contains(text, "? call ") && !strings.Contains(text, "1 approval")
	})
	marks := []string{"from the ACP client", "Answer one.", "from Neovim", "I will run it.", "approved by", "Answer two."}
	inOrder(t, "Neovim", buffer(), marks...)
	// tail shows a submit twice: when podd accepts it and when its turn takes it. It also shows the
	// text so far of an answer that it meets in the middle.
	for i, role := range []string{"user", "assistant", "user", "assistant", "", "assistant"} {
		if role != "" {
			marks[i] = "  " + role + "\n    " + marks[i]
		}
	}
	inOrder(t, "podctl tail", log.String(), marks...)
	inOrder(t, "the ACP client", acp.Said("agent_message_chunk"), "Answer one.", "I will run it.", "Answer two.")

	// All clients close in the middle of a turn, which ends on its own.
	editor.Ex("Podd submit go on alone")
	inNeovim("Still at")
	acp.AwaitText("Still at")
	editor.Quit()
	acp.Quit()
	if err := log.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = log.cmd.Wait()
	close(gate)
	rig.Await(t, "the end of the turn", func() bool { return strings.Contains(w.Podctl("tail", pod), "turn 3 finished: ") })
	if out := w.Podctl("tail", pod); !strings.Contains(out, "Still at work, done.") {
		t.Errorf("the turn came to\n%s", out)
	}
}
