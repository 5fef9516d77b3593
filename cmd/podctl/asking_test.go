package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/user"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"podd/pkg/llm/scripted"
)

// onTerminal starts a podctl on a terminal of its own. What the terminal shows is its
// output; keys are typed with the returned function.
func (w *world) onTerminal(args ...string) (p *podctlProcess, typed func(keys string)) {
	w.t.Helper()
	p = w.podctl(args...)
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm", "NO_COLOR=1")
	p.cmd.Stdout, p.cmd.Stderr = nil, nil
	term, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		// A terminal that nobody has open any more gives EIO on Linux.
		if _, err := io.Copy(&p.out, term); err != nil && !errors.Is(err, syscall.EIO) {
			w.t.Error(err)
		}
		_ = p.cmd.Wait()
		_ = term.Close()
		close(p.exited)
	}()
	return p, func(keys string) {
		w.t.Helper()
		if _, err := io.WriteString(term, keys); err != nil {
			w.t.Fatal(err)
		}
	}
}

// results is a model that calls shell once and then says what the result began with.
func results(command string) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + command + `"}`})
		}
		var said string
		for _, m := range r.Results() {
			said = strings.Join(strings.Fields(m.Text), " ")
		}
		return scripted.Say(scripted.Text("The result was: " + said))
	}
}

// ran is how a model of results says that its command ran.
const ran = "The result was: shell: echo one, exit 0"

const askQuestion = "Run it? [y] once [a] always [n REASON] deny [Enter] later: "

// callOf finds the number of the call that asks in what is shown.
func callOf(t *testing.T, shown string) string {
	t.Helper()
	found := regexp.MustCompile(`call (\d+) of pod [a-z-]+ needs approval: shell`).FindStringSubmatch(shown)
	if found == nil {
		t.Fatalf("no call asks in\n%s", shown)
	}
	return found[1]
}

// who is how podd names this test's podctl as the one who answered.
func who() string {
	if u, err := user.Current(); err == nil {
		return "podctl (" + u.Username + ")"
	}
	return "podctl"
}

// asks makes a pod that asks for each call and submits to it on a terminal, up to the
// question.
func (w *world) asks(pod string) (p *podctlProcess, typed func(keys string), call string) {
	w.t.Helper()
	w.podctl("create", pod, "--ask", "always").run(0)
	p, typed = w.onTerminal("submit", "-f", "-p", pod, "hello")
	p.out.await(w.t, askQuestion)
	return p, typed, callOf(w.t, p.out.String())
}

func TestAnsweredInPlace(t *testing.T) {
	w := newWorld(t, results("echo one"))
	for pod, tt := range map[string]struct {
		keys  string
		shown []string
	}{
		"once":   {"y\n", []string{"· shell: approved by " + who(), ran}},
		"denied": {"n\n", []string{"· shell: denied by " + who() + "\r\n", "The result was: shell: not run: denied by " + who()}},
		"reason": {"no  not here \n", []string{"denied by " + who() + ": not here\r\n"}},
		"always": {"a\n", []string{"rule added: allow, ", `command "echo one"`, "· shell: approved by " + who(), ran}},
	} {
		p, typed, _ := w.asks(pod)
		if !strings.Contains(p.out.String(), "  command: echo one\r\n") {
			t.Errorf("%s: what runs is not shown:\n%s", pod, p.out.String())
		}
		typed(tt.keys)
		if code := p.wait(); code != 0 {
			t.Errorf("%s: exit code %d", pod, code)
		}
		for _, want := range tt.shown {
			if !strings.Contains(p.out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", pod, want, p.out.String())
			}
		}
	}
	if _, stderr := w.podctl("approvals").run(0); stderr != "no calls wait for approval\n" {
		t.Errorf("afterwards: %q", stderr)
	}
}

// An answer that does not count is said, and asked for again.
func TestAskedAgain(t *testing.T) {
	w := newWorld(t, results("echo $HOME"))
	p, typed, _ := w.asks("p")
	typed("a\n")
	p.out.await(t, "! no rule can allow this command")
	p.out.await(t, "approve the call alone")
	p.out.awaitTwice(t, askQuestion)
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "· shell: approved by ") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// What is no clear answer leaves the call waiting; another client answers, and the
// turn that is followed goes on.
func TestLeftWaiting(t *testing.T) {
	w := newWorld(t, results("echo one"))
	for pod, keys := range map[string]string{"enter": "\n", "unclear": "yes please\n", "ctrl-d": "\x04"} {
		p, typed, call := w.asks(pod)
		typed(keys)
		p.out.await(t, "the call still waits; answer with: podctl approve "+pod+" "+call)
		w.podctl("approve", pod, call).run(0)
		if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), ran) {
			t.Errorf("%s: exit code %d, shown\n%s", pod, code, p.out.String())
		}
	}
}

// Another client is first: the question goes away, and the terminal says who it was.
func TestAnotherAnswersFirst(t *testing.T) {
	w := newWorld(t, results("echo one"))
	p, _, call := w.asks("p")
	w.podctl("deny", "p", call, "--reason", "not today").run(0)
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "· shell: denied by "+who()+": not today") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
	if _, stderr := w.podctl("approve", "p", call).run(1); !strings.Contains(stderr, "already denied by "+who()+" at ") {
		t.Errorf("too late, podctl says %q", stderr)
	}
}

// Of two calls that ask, another client answers the one that stands there: the other
// is asked for, and the answer is for that one.
func TestAnotherAnswersOneOfTwo(t *testing.T) {
	w := newWorld(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`}, scripted.Call{Name: "shell", Arguments: `{"command":"echo two"}`})
		}
		return results("")(ctx, r)
	})
	p, typed, call := w.asks("p")
	w.podctl("deny", "p", call).run(0)
	p.out.await(t, "  command: echo two\r\n")
	p.out.awaitTwice(t, askQuestion)
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "· shell: echo two, exit 0") || strings.Contains(p.out.String(), "echo one, exit") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// What was typed before the question was meant for something else.
func TestTypedBeforeTheQuestion(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Text("Look."), scripted.Wait(gate), scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`})
		}
		return results("")(ctx, r)
	})
	w.podctl("create", "p", "--ask", "always").run(0)
	p, typed := w.onTerminal("submit", "-f", "-p", "p", "hello")
	p.out.await(t, "Look.")
	typed("y\ny")
	p.out.await(t, "y\r\ny")
	close(gate)
	p.out.await(t, askQuestion)
	typed("n\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "denied by ") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// Ctrl-C at the question ends the watching; the call waits on.
func TestInterruptedAtTheQuestion(t *testing.T) {
	w := newWorld(t, results("echo one"))
	p, typed, call := w.asks("p")
	typed("\x03")
	if code := p.wait(); code != 130 || !strings.Contains(p.out.String(), "interrupted: turn 1 keeps running; follow it with podctl tail -f p") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
	out, _ := w.podctl("approvals", "p").run(0)
	if callOf(t, out) != call {
		t.Errorf("call %s does not wait any more:\n%s", call, out)
	}
	w.podctl("deny", "p", call).run(0)
}

// podd is killed while the question stands: it is asked again, and the answer counts.
func TestQuestionOutlivesACrash(t *testing.T) {
	w := newWorld(t, results("echo one"))
	p, typed, _ := w.asks("p")
	w.kill()
	w.start()
	// The connection is made again.
	p.out.await(t, "turn 1 goes on: ")
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), ran) {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// Without a terminal it is said what waits and how to answer, and the turn is followed
// on; as JSON too, beside the objects.
func TestWithoutATerminal(t *testing.T) {
	w := newWorld(t, results("echo one"))
	for _, form := range []string{"text", "json"} {
		w.podctl("create", form, "--ask", "always").run(0)
		p := w.podctl("submit", "-f", "-p", form, "hello", "-o", form).start()
		p.err.await(t, "answer with: podctl approve "+form)
		shown := p.err.String()
		if !strings.Contains(shown, "  command: echo one\n") {
			t.Errorf("%s: standard error is\n%s", form, shown)
		}
		w.podctl("approve", form, callOf(t, shown)).run(0)
		if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), ran) {
			t.Errorf("%s: exit code %d, standard output\n%s", form, code, p.out.String())
		}
	}
}

// Two clients answer one call at once: one wins, the other is told who and when.
func TestTwoAnswersAtOnce(t *testing.T) {
	w := newWorld(t, results("echo one"))
	w.podctl("create", "p", "--ask", "always").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "hello").start()
	p.err.await(t, "answer with: ")
	call := callOf(t, p.err.String())
	var codes []int
	both := []*podctlProcess{w.podctl("approve", "p", call).start(), w.podctl("deny", "p", call).start()}
	for _, one := range both {
		code := one.wait()
		codes = append(codes, code)
		if code == 1 && !strings.Contains(one.err.String(), " by "+who()+" at ") {
			t.Errorf("the second is told %q", one.err.String())
		}
	}
	if codes[0]+codes[1] != 1 {
		t.Errorf("the exit codes are %v", codes)
	}
	p.wait()
}

// A program in the background of a terminal does not read from it.
func TestNoTerminalHasNoBackground(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !inForeground(int(null.Fd())) {
		t.Error("what is no terminal has a background")
	}
}
