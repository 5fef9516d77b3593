package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"podd/pkg/llm/scripted"
)

// gated is a model whose answer stops after "The ans" until the gate opens; told receives
// each request.
func gated(gate <-chan struct{}) scripted.Handler {
	return func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))
	}
}

// entries are the lines of entries in tail's output.
func entries(text string) string {
	return strings.Join(regexp.MustCompile(`(?m)^#\d+ .*$`).FindAllString(text, -1), "\n")
}

// The answer shows as it arrives, not at its end.
func TestSubmitShowsTheAnswerAsItComes(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	p := w.podctl("submit", "-f", "hello").start()
	p.out.await(t, "The ans")
	close(gate)
	if code := p.wait(); code != 0 || p.out.String() != "The answer.\n" {
		t.Errorf("exit code %d, standard output %q", code, p.out.String())
	}
}

// A person at a terminal sees what is going on before there is an answer.
func TestTerminalSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Wait(gate), scripted.Text("Hello there."))
	})
	p, _ := w.onTerminal("submit", "-f", "hello")
	p.out.await(t, "waiting for the model")
	close(gate)
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "Hello there.") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// Clients come and go, and the turn continues: one is there from the start, one joins in
// the middle of the answer and gets the text so far, one leaves. Both that stay see the
// same entries.
func TestTailsOfOnePod(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	w.podctl("create", "p").run(0)
	early := w.podctl("tail", "-f", "p", "--after", "0").start()
	leaves := w.podctl("tail", "-f", "p", "--after", "0").start()
	live := w.podctl("tail", "-f", "--deltas", "p").start()
	w.podctl("pause", "p").run(0)
	submitted := w.podctl("submit", "-f", "-p", "p", "hello").start()
	for _, p := range []*podctlProcess{early, leaves, live} {
		p.out.await(t, "submitted")
	}
	w.podctl("resume", "p").run(0)
	submitted.out.await(t, "The ans")
	leaves.out.await(t, "turn 1 started")
	live.out.await(t, "The ans")
	objects := w.podctl("tail", "-f", "--deltas", "p", "-o", "json").start()
	objects.out.await(t, "in_flight")
	late := w.podctl("tail", "-f", "p", "--after", "0").start()
	late.out.await(t, "(so far: assistant)\n    The ans\n")

	if err := leaves.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := leaves.wait(); code != 130 || !strings.Contains(leaves.err.String(), "podctl tail -f p --after ") {
		t.Errorf("exit code %d, standard error %q", code, leaves.err.String())
	}
	close(gate)
	if code := submitted.wait(); code != 0 {
		t.Errorf("submit ended with %d: %s", code, submitted.err.String())
	}
	objects.out.await(t, "turn_ended")
	for _, p := range []*podctlProcess{early, late, live} {
		p.out.await(t, "turn 1 finished")
	}
	for _, p := range []*podctlProcess{early, late, live, objects} {
		_ = p.cmd.Process.Signal(os.Interrupt)
		p.wait()
	}
	if a, b := entries(early.out.String()), entries(late.out.String()); a != b || strings.Count(a, "assistant") != 1 {
		t.Errorf("one shows\n%s\nthe other\n%s", a, b)
	}
	if got := objects.out.String(); !regexp.MustCompile(`"delta":.*"text": ?"wer\."`).MatchString(got) {
		t.Errorf("as JSON the fragments are\n%s", got)
	}
	if got := live.out.String(); strings.Count(got, "The ans") != 1 || !strings.Contains(got, "assistant  (above)") {
		t.Errorf("with fragments it shows\n%s", got)
	}
}

func TestInterruptedSubmitGoesOn(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	w.podctl("create", "p").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "hello").start()
	p.out.await(t, "The ans")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	how := regexp.MustCompile(`podctl (tail) (-f) (p) (--after) (\d+) or cancel it with podctl cancel p`).FindStringSubmatch(p.err.String())
	if how == nil {
		t.Fatalf("standard error does not say how to go on:\n%s", p.err.String())
	}
	again := w.podctl(how[1:]...).start()
	again.out.await(t, "The ans")
	close(gate)
	again.out.await(t, "turn 1 finished")
	_ = again.cmd.Process.Signal(os.Interrupt)
	again.wait()
}

// A submit left while it waits is withdrawn by its id: a cancel would end another
// submit's turn.
func TestInterruptedSubmitThatWaits(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	w.podctl("create", "p").run(0)
	first := w.podctl("submit", "-f", "-p", "p", "hello").start()
	first.out.await(t, "The ans")
	second := w.podctl("submit", "-f", "-p", "p", "--request-id", "r2", "and then", "-o", "json").start()
	second.out.await(t, "caught_up")
	if err := second.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := second.wait(); code != 130 || strings.Contains(second.err.String(), "cancel") {
		t.Errorf("exit code %d, standard error %q", code, second.err.String())
	}
	how := regexp.MustCompile(`the prompt is queued; follow it with podctl tail -f p --after \d+ or remove it with podctl (inbox) (rm) (p) (r2)\n`).FindStringSubmatch(second.err.String())
	if how == nil {
		t.Fatalf("standard error does not say how to take it back:\n%s", second.err.String())
	}
	w.podctl(how[1:]...).run(0)
	close(gate)
	if code := first.wait(); code != 0 {
		t.Errorf("the turn before it ended with %d: %s", code, first.err.String())
	}
}

func TestCancelledTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	w.podctl("create", "p").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "hello").start()
	p.out.await(t, "The ans")
	if out, _ := w.podctl("cancel", "p").run(0); out != "cancelled turn 1 of pod p\n" {
		t.Errorf("cancel says %q", out)
	}
	if code := p.wait(); code != 5 || !strings.Contains(p.err.String(), "podctl: turn 1 was cancelled: ") || p.out.String() != "The ans\n" {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, p.out.String(), p.err.String())
	}
}

// A submit behind a running turn shows only its own turn.
func TestQueuedSubmit(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if strings.Contains(r.LastUser(), "first") {
			return scripted.Say(scripted.Text("One "), scripted.Wait(gate), scripted.Text("done."))
		}
		return scripted.Say(scripted.Text("Two done."))
	})
	w.podctl("create", "p").run(0)
	first := w.podctl("submit", "-f", "-p", "p", "first").start()
	first.out.await(t, "One ")
	if out, _ := w.podctl("submit", "-p", "p", "second").run(0); !strings.Contains(out, "; it runs after the running turn") {
		t.Errorf("a queued submit says %q", out)
	}
	third := w.podctl("submit", "-f", "-p", "p", "third").start()
	if out, _ := w.podctl("list").run(0); !strings.Contains(out, "running") {
		t.Errorf("list shows\n%s", out)
	}
	close(gate)
	if code := third.wait(); code != 0 || third.out.String() != "Two done.\n" {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, third.out.String(), third.err.String())
	}
	first.wait()
}

// podd is killed in the middle of an answer and restarted: the followers continue.
func TestFollowersOutliveACrash(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if strings.Contains(r.LastUser(), "again") {
			return scripted.Say(scripted.Text("Here."))
		}
		return scripted.Say(scripted.Text("The ans"), scripted.Wait(gate))
	})
	w.podctl("create", "p").run(0)
	tail := w.podctl("tail", "-f", "p", "--after", "0").start()
	p := w.podctl("submit", "-f", "-p", "p", "hello").start()
	p.out.await(t, "The ans")
	tail.out.await(t, "turn 1 started")
	w.kill()
	w.start()
	open()
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, p.out.String(), p.err.String())
	}
	w.podctl("submit", "-f", "-p", "p", "again").run(0)
	tail.out.await(t, "turn 2 finished")
	_ = tail.cmd.Process.Signal(os.Interrupt)
	tail.wait()
	whole, _ := w.podctl("tail", "p", "--after", "0").run(0)
	if a, b := entries(tail.out.String()), entries(whole); a != b {
		t.Errorf("followed:\n%s\nread at once:\n%s", a, b)
	}
}

func TestAnswerThatIsCut(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Attempt == 1 {
			return scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Reset{})
		}
		return scripted.Say(scripted.Text("The answer."))
	})
	p := w.podctl("submit", "-f", "hello").start()
	p.out.await(t, "The ans")
	close(gate)
	code, out, errs := p.wait(), p.out.String(), p.err.String()
	if code != 0 || out != "The ans\nThe answer.\n" || !strings.Contains(errs, "(the answer was cut off; asking the model again)\n") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, out, errs)
	}
}

// Many first submits in one directory create one pod.
func TestFirstSubmitsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) })
	var all []*podctlProcess
	for range 4 {
		all = append(all, w.podctl("submit", "hello").start())
	}
	for _, p := range all {
		if code := p.wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, p.err.String())
		}
	}
	if out, _ := w.podctl("list", "-o", "json").run(0); strings.Count(out, "\n") != 1 {
		t.Errorf("there are these pods:\n%s", out)
	}
}

// Text from a model, a tool or a file cannot control the terminal.
func TestForeignTextIsSafe(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]52;c;aGk=\x07\u202e\u009b31m"
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Text(evil), scripted.Call{Name: "shell", Arguments: `{"command":"printf '\\033]0;x\\007'; false"}`}, scripted.Call{Name: evil, Arguments: `{"` + evil})
		}
		return scripted.Fail(400, "bad", evil, 0)
	})
	w.podctl("create", "p").run(0)
	var shown []string
	note := func(out, err string) { shown = append(shown, out, err) }
	note(w.podctl("submit", "-f", "-p", "p", "hello @"+evil).run(5))
	note(w.podctl("tail", "p", "--after", "0").run(0))
	note(w.podctl("tail", "p", "--after", "0", "-o", "json").run(0))
	note(w.podctl("alerts").run(0))
	note(w.podctl("show", evil).run(4))
	note(w.podctl(evil).run(2))
	for _, text := range shown {
		if strings.ContainsAny(text, "\x1b\x07\u202e\u009b\r") {
			t.Errorf("this reaches the terminal: %q", text)
		}
	}
}
