package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// hands is a model that hands the prompt "hand on" to a sub-pod, "hand on twice" to one below a sub-pod, and "hand on and
// wait" to one in the background, for which it waits. The pod
// with the task makes a call that asks.
func hands(_ context.Context, r scripted.Request) scripted.Reply {
	task := map[string]string{"hand on twice": "hand on", "hand on": "work"}[r.LastUser()]
	switch {
	case r.LastUser() == "hand on and wait" && len(r.Results()) == 0:
		return scripted.Say(scripted.Call{Name: "spawn_pod", Arguments: `{"task":"work","background":true}`})
	case r.LastUser() == "hand on and wait" && len(r.Results()) == 1:
		return scripted.Say(scripted.Call{Name: "wait_for", Arguments: `{}`})
	case len(r.Results()) > 0:
		return scripted.Say(scripted.Text("Done."))
	case task != "":
		return scripted.Say(scripted.Call{Name: "spawn_pod", Arguments: `{"task":"` + task + `"}`})
	}
	return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"true","access":"host","why":"to see"}`})
}

// waitsBelow finds the sub-pod with the call that waits, and its number.
func waitsBelow(t *testing.T, shown string) (pod, call string) {
	t.Helper()
	found := regexp.MustCompile(`call (\d+) of pod ([a-z0-9-]+) needs approval: shell`).FindStringSubmatch(shown)
	if found == nil {
		t.Fatalf("no call of a sub-pod asks in\n%s", shown)
	}
	return found[2], found[1]
}

// The question of a sub-pod, also of one below a sub-pod, is one of the followed turn.
func TestOnAskOfASubPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hands)
	for pod, prompt := range map[string]string{"child": "hand on", "grandchild": "hand on twice"} {
		w.podctl("create", pod, "--ask", "risky", "--sub-pods", "2").run(0)
		_, stderr := w.podctl("run", "-p", pod, prompt).run(exitTurn)
		sub, call := waitsBelow(t, stderr)
		if want := "podctl: sub-pod " + sub + " waits for an answer to call " + call + ": podctl approve " + sub + " " + call + ", then podctl tail -f " + pod + "; "; !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
		// Another prompt waits behind it, and stays queued.
		_, stderr = w.podctl("run", "-p", pod, "--request-id", "later", "hi", "--on-ask", "deny").run(exitTurn)
		if want := "podctl: the prompt stays queued because sub-pod " + sub + " waits for an answer to call " + call + ": podctl approve " + sub + " " + call +
			", or remove the prompt: podctl inbox rm " + pod + " later\n"; !strings.HasSuffix(stderr, want) {
			t.Errorf("%q does not end\n%s", want, stderr)
		}
		w.podctl("inbox", "rm", pod, "later").run(0)
		w.podctl("approve", sub, call).run(0)
	}
	for pod, prompt := range map[string]string{"denied": "hand on", "denied-below": "hand on twice"} {
		w.podctl("create", pod, "--ask", "risky", "--sub-pods", "2").run(0)
		_, stderr := w.podctl("run", "-p", pod, prompt, "--on-ask", "deny").run(exitDenied)
		sub, _ := waitsBelow(t, stderr)
		if want := "podctl: turn 1 finished, but a call was denied: shell of sub-pod " + sub + "\n"; !strings.HasSuffix(stderr, want) {
			t.Errorf("%q does not end\n%s", want, stderr)
		}
		if log, _ := w.podctl("export", sub).run(0); !strings.Contains(log, "no person is there to answer (--on-ask deny)") {
			t.Errorf("the sub-pod read\n%s", log)
		}
	}
}

// The question of a sub-pod in the background is one of the followed turn while that waits for it.
func TestOnAskOfASubPodInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hands)
	w.podctl("create", "p", "--ask", "risky", "--sub-pods", "1").run(0)
	_, stderr := w.podctl("run", "-p", "p", "hand on and wait").run(exitTurn)
	sub, call := waitsBelow(t, stderr)
	w.podctl("approve", sub, call).run(0)
}

// A person at the terminal answers the question of a sub-pod. It disappears when another client answers it.
func TestASubPodAnsweredInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hands)
	for _, answer := range []string{"here", "elsewhere"} {
		w.podctl("create", answer, "--ask", "risky", "--sub-pods", "1").run(0)
		p, typed := w.onTerminal("run", "-p", answer, "hand on")
		p.out.await(t, askQuestion)
		if sub, call := waitsBelow(t, p.out.String()); answer == "here" {
			typed("y\n")
		} else {
			w.podctl("approve", sub, call).run(0)
		}
		if code := p.wait(); code != exitDone || !strings.Contains(p.out.String(), "spawn_pod: ") {
			t.Errorf("%s: exit code %d:\n%s", answer, code, p.out.String())
		}
	}
}

// Without a terminal, --on-ask wait shows the question of a sub-pod, also after a restart of podd.
func TestASubPodWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hands)
	w.podctl("create", "p", "--ask", "risky", "--sub-pods", "1").run(0)
	p := w.podctl("run", "-p", "p", "hand on", "--on-ask", "wait", "-o", "json").start()
	p.err.await(t, "answer with: podctl approve p-")
	sub, call := waitsBelow(t, p.err.String())
	w.kill()
	w.start()
	w.podctl("approve", sub, call).run(0)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err.String())
	}
}

// A sub-pod that has done its task asks for a person's own turn: no turn of a parent waits for the answer.
func TestASubPodOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hands)
	w.podctl("create", "p", "--ask", "risky", "--sub-pods", "1").run(0)
	_, stderr := w.podctl("run", "-p", "p", "hand on", "--on-ask", "deny").run(exitDenied)
	sub, _ := waitsBelow(t, stderr)
	own := w.podctl("run", "-p", sub, "work", "--on-ask", "wait").start()
	own.err.await(t, "answer with: ")
	_, call := waitsBelow(t, own.err.String())
	_, stderr = w.podctl("run", "-p", "p", "hand on", "--on-ask", "deny").run(exitDenied)
	if strings.Contains(stderr, "of pod "+sub+" needs") {
		t.Errorf("a call of no turn's is asked about:\n%s", stderr)
	}
	w.podctl("approve", sub, call).run(0)
	if code := own.wait(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, own.err.String())
	}
}
