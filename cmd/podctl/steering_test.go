package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// A steered submit joins the running turn, and follows it to its end.
func TestSteeredSubmit(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Text("One."), scripted.Wait(gate), scripted.Call{Name: "list_dir", Arguments: `{"path":"."}`})
		}
		return scripted.Say(scripted.Text("Heard: " + r.LastUser()))
	})
	w.podctl("create", "p").run(0)
	first := w.podctl("submit", "-f", "-p", "p", "first").start()
	first.out.await(t, "One.")
	tail := w.podctl("tail", "-f", "p", "--after", "0").start()
	steered := w.podctl("submit", "-f", "-p", "p", "--steer", "--request-id", "r2", "the other way").start()
	tail.out.await(t, "submitted as r2 (steer)")
	close(gate)
	if code := steered.wait(); code != 0 || !strings.Contains(steered.out.String(), "Heard: the other way") ||
		!strings.Contains(steered.err.String(), "· joined the running turn 1\n") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, steered.out.String(), steered.err.String())
	}
	if code := first.wait(); code != 0 {
		t.Errorf("the turn that it joined: exit code %d", code)
	}
	_ = tail.cmd.Process.Signal(os.Interrupt)
	tail.wait()
}

// A submit to a paused pod says why the pod is paused, and continues once it is resumed.
func TestSubmitToAPodThatIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) })
	w.podctl("create", "p").run(0)
	w.podctl("pause", "p").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "hello").start()
	p.err.await(t, "! the pod is on hold (paused by ")
	p.err.await(t, "); resume it with podctl resume p\n")
	w.podctl("resume", "p").run(0)
	if code := p.wait(); code != 0 || p.out.String() != "Yes.\n" {
		t.Errorf("exit code %d, standard output %q", code, p.out.String())
	}
}

// A submit behind a turn that waits for a person also asks about that turn's call:
// otherwise it would not begin.
func TestAskedForTheTurnBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	w.podctl("create", "p", "--ask", "always").run(0)
	first := w.podctl("submit", "-f", "-p", "p", "hello").start()
	first.err.await(t, "answer with: ")
	p, typed := w.onTerminal("submit", "-f", "-p", "p", "again")
	p.out.await(t, askQuestion)
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "· shell: approved by "+who()) {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
	first.wait()
}

// Withdrawing a submit ends its followers: it has no turn to wait for.
func TestFollowedSubmitIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) })
	w.podctl("create", "p").run(0)
	w.podctl("pause", "p").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "--request-id", "r1", "hello").start()
	p.err.await(t, "the pod is on hold")
	w.podctl("inbox", "rm", "p", "r1").run(0)
	for _, one := range []*podctlProcess{p, w.podctl("submit", "-f", "-p", "p", "--request-id", "r1", "hello").start()} {
		if code := one.wait(); code != 5 || !strings.Contains(one.err.String(), "podctl: the prompt was removed from the inbox before its turn started\n") {
			t.Errorf("exit code %d, standard error %q", code, one.err.String())
		}
	}
}
