package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"podd/internal/clients/view"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// onTerminal starts podctl on a pseudo-terminal. The process's output is what the
// terminal shows; the returned function types keys.
func (w *world) onTerminal(args ...string) (p *podctlProcess, typed func(keys string)) {
	w.t.Helper()
	return w.onTerminalWith([]string{"NO_COLOR=1"}, args...)
}

// onTerminalWith is the same with an environment.
func (w *world) onTerminalWith(env []string, args ...string) (p *podctlProcess, typed func(keys string)) {
	w.t.Helper()
	p = w.podctl(args...)
	p.cmd.Env = append(append(p.cmd.Env, "TERM=xterm"), env...)
	p.cmd.Stdout, p.cmd.Stderr = nil, nil
	term, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	endLate(p.cmd.Process)
	go func() {
		// Linux returns EIO for a terminal that no process has open.
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

// terminalProgram runs its arguments on a terminal, and prints all that this shows: of a ttyin the end may be lost.
func terminalProgram() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err == nil {
		_, _ = io.Copy(os.Stdout, term) // Until no process has it open.
		err = cmd.Wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// results is a model that calls shell once and then repeats how the result begins.
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

// ran is the answer of the model results after its command ran.
const ran = "The result was: shell: echo one, exit 0"

const askQuestion = "Run it? [y] once [a] always [n REASON] deny [Enter] later: "

// callOf finds the number of the waiting call in the output.
func callOf(t *testing.T, shown string) string {
	t.Helper()
	found := regexp.MustCompile(`call (\d+) of pod [a-z-]+ needs approval: shell`).FindStringSubmatch(shown)
	if found == nil {
		t.Fatalf("no call asks in\n%s", shown)
	}
	return found[1]
}

// who is the name that podd gives this test's podctl as the answering client.
func who() string {
	if u, err := user.Current(); err == nil {
		return "podctl (" + u.Username + ")"
	}
	return "podctl"
}

// A question about an edit shows the diff, and the arguments when they are asked for.
func TestEditAnsweredInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"f.txt","content":"one\ntwo\n"}`})
		}
		return scripted.Say(scripted.Text("Written."))
	})
	w.podctl("create", "edits", "--ask", "always").run(0)
	p, typed := w.onTerminal("submit", "-f", "-p", "edits", "hello")
	question := strings.Replace(askQuestion, "deny ", "deny [v] arguments ", 1)
	p.out.await(t, question)
	if shown := p.out.String(); !strings.Contains(shown, "create f.txt") || !strings.Contains(shown, "+one\r\n") || strings.Contains(shown, "content:") {
		t.Errorf("the question is\n%s", shown)
	}
	typed("v\n")
	p.out.awaitTwice(t, question)
	p.out.await(t, "  content:\r\n")
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), "Written.") {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
}

// asks creates a pod that asks about each call, submits to it on a terminal, and waits
// for the question.
func (w *world) asks(pod string) (p *podctlProcess, typed func(keys string), call string) {
	w.t.Helper()
	w.podctl("create", pod, "--ask", "always").run(0)
	p, typed = w.onTerminal("submit", "-f", "-p", pod, "hello")
	p.out.await(w.t, askQuestion)
	return p, typed, callOf(w.t, p.out.String())
}

func TestAnsweredInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	for pod, tt := range map[string]struct {
		keys  string
		shown []string
	}{
		"once":   {"y\n", []string{"· shell: approved by " + who(), ran}},
		"denied": {"n\n", []string{"· shell: denied by " + who() + "\r\n", "The result was: shell: not run: denied by " + who()}},
		"reason": {"no  not here \n", []string{"denied by " + who() + ": not here\r\n"}},
		"always": {"a\n", []string{"always adds the rule: allow, ", "rule added: allow, ", `command "echo one"`, "· shell: approved by " + who(), ran}},
	} {
		p, typed, _ := w.asks(pod)
		if !strings.Contains(p.out.String(), "  command: echo one\r\n") {
			t.Errorf("%s: what runs is not shown:\n%s", pod, p.out.String())
		}
		typed(tt.keys)
		if pod == "always" {
			p.out.await(t, "[Enter] yes [Esc Enter] back: ")
			typed("\x1b\n")
			p.out.awaitTwice(t, askQuestion)
			typed("a\n")
			p.out.awaitTwice(t, "[Enter] yes [Esc Enter] back: ")
			typed("\n")
		}
		want := exitDone
		if strings.HasPrefix(tt.keys, "n") {
			want = exitDenied
		}
		if code := p.wait(); code != want {
			t.Errorf("%s: exit code %d, want %d", pod, code, want)
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

// podctl rejects an unclear answer with a message and asks again.
// The question begins with the access and quotes why.
func TestAskedForAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"true","access":"host","why":"to \u202esee"}`}), scripted.Say(scripted.Text("Done."))))
	p, typed, _ := w.asks("host")
	for _, want := range []string{"\r\nAccess \"host\", why \"to \\u202esee\": the command \"true\" needs approval because ", "\r\n  access: host\r\n", "  why: to \\u202esee\r\n"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("the question lacks %q:\n%s", want, p.out.String())
		}
	}
	typed("n\n")
	p.wait()
}

func TestAskedAgain(t *testing.T) {
	t.Parallel()
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

// After an unclear answer the call still waits. Another client answers it, and podctl
// keeps following the turn.
func TestLeftWaiting(t *testing.T) {
	t.Parallel()
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

// Another client answers first: the question disappears, and the terminal names that
// client.
func TestAnotherAnswersFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	p, _, call := w.asks("p")
	w.podctl("deny", "p", call, "--reason", "not today").run(0)
	if code := p.wait(); code != exitDenied || !strings.Contains(p.out.String(), "· shell: denied by "+who()+": not today") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
	if _, stderr := w.podctl("approve", "p", call).run(1); !strings.Contains(stderr, "already denied by "+who()+" at ") {
		t.Errorf("too late, podctl says %q", stderr)
	}
}

// Two calls wait. Another client answers the one on the screen; podctl then asks about
// the other, and the typed answer goes to that one.
func TestAnotherAnswersOneOfTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`}, scripted.Call{Name: "shell", Arguments: `{"command":"echo two"}`})
		}
		return results("")(ctx, r)
	})
	p, typed, call := w.asks("p")
	w.podctl("deny", "p", call).run(0)
	// The question about the first call is drawn again while that is answered.
	p.out.awaitBehind(t, "  command: echo two\r\n", askQuestion)
	typed("y\n")
	if code := p.wait(); code != exitDenied || !strings.Contains(p.out.String(), "· shell: echo two, exit 0") || strings.Contains(p.out.String(), "echo one, exit") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// podctl ignores what was typed before the question: it was meant for something else.
func TestTypedBeforeTheQuestion(t *testing.T) {
	t.Parallel()
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
	if code := p.wait(); code != exitDenied || !strings.Contains(p.out.String(), "denied by ") {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// Ctrl-C at the question ends podctl; the call keeps waiting.
func TestInterruptedAtTheQuestion(t *testing.T) {
	t.Parallel()
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

// podd is killed while the question is open: podctl asks again, and podd accepts the
// answer.
func TestQuestionOutlivesACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	p, typed, _ := w.asks("p")
	w.kill()
	w.start()
	// podctl reconnects.
	p.out.await(t, "the turn resumes: ")
	typed("y\n")
	if code := p.wait(); code != 0 || !strings.Contains(p.out.String(), ran) {
		t.Errorf("exit code %d, shown\n%s", code, p.out.String())
	}
}

// With --on-ask wait podctl prints the waiting call and how to answer it, and keeps
// following the turn. With JSON output it prints both beside the objects.
func TestWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	for _, form := range []string{"text", "json"} {
		w.podctl("create", form, "--ask", "always").run(0)
		p := w.podctl("submit", "-f", "-p", form, "hello", "-o", form, "--on-ask", "wait").start()
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

// Without a terminal a call that asks ends podctl, which says how to answer. The call waits.
func TestNobodyCanAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	for _, form := range []string{"text", "json"} {
		w.podctl("create", form, "--ask", "always").run(0)
		_, stderr := w.podctl("run", "-p", form, "hello", "-o", form).run(exitTurn)
		call := callOf(t, stderr)
		for _, want := range []string{
			"  command: echo one\n", "answer with: podctl approve " + form + " " + call + " or podctl deny ",
			"podctl: turn 1 waits for an answer to call " + call + ": podctl approve " + form + " " + call + ", then podctl tail -f " + form,
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q is not in\n%s", form, want, stderr)
			}
		}
		w.podctl("approve", form, call).run(0)
	}
	// At a terminal --on-ask exit does the same.
	w.podctl("create", "tty", "--ask", "always").run(0)
	p, _ := w.onTerminal("run", "-p", "tty", "hello", "--on-ask", "exit")
	if code := p.wait(); code != exitTurn || strings.Contains(p.out.String(), "Run it?") {
		t.Errorf("at a terminal: exit code %d:\n%s", code, p.out.String())
	}
	w.podctl("deny", "tty", callOf(t, p.out.String())).run(0)
}

// With --on-ask deny podctl denies every call that asks, with a reason for the model.
func TestDeniedBecauseNobodyCanAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`}, scripted.Call{Name: "shell", Arguments: `{"command":"echo two"}`})
		}
		return results("")(ctx, r)
	})
	for _, form := range []string{"text", "json"} {
		w.podctl("create", form, "--ask", "always").run(0)
		stdout, stderr := w.podctl("run", "-p", form, "hello", "--on-ask", "deny", "-o", form).run(exitDenied)
		if reason := "denied by " + who() + ": no person is there to answer (--on-ask deny)"; !strings.Contains(stdout, "The result was: shell: not run: "+reason) {
			t.Errorf("%s: the model read\n%s", form, stdout)
		}
		if !strings.Contains(stderr, "podctl: turn 1 finished, but 2 calls were denied: ") {
			t.Errorf("%s: standard error is\n%s", form, stderr)
		}
		if got := strings.Count(stdout, `"denied":true`); form == "json" && got != 2 {
			t.Errorf("%d results are denied in\n%s", got, stdout)
		}
	}
	// The question of a turn before is a person's.
	w.podctl("create", "busy", "--ask", "always").run(0)
	first := w.podctl("submit", "-f", "-p", "busy", "hello", "--on-ask", "wait").start()
	first.err.await(t, "answer with: ")
	w.podctl("run", "-p", "busy", "hello", "--on-ask", "deny").run(exitTurn)
	if out, _ := w.podctl("approvals", "busy").run(0); callOf(t, out) == "" {
		t.Errorf("the call of the turn before does not wait any more:\n%s", out)
	}
	w.podctl("cancel", "busy").run(0)
	first.wait()
	// Without the client token podd refuses the answer: podctl says so, and ends.
	w.podctl("create", "locked", "--ask", "always").run(0)
	if err := os.Remove(w.dir + "/state/client.token"); err != nil {
		t.Fatal(err)
	}
	if _, stderr := w.podctl("run", "-p", "locked", "hello", "--on-ask", "deny").run(exitFailed); !strings.Contains(stderr, "client token") {
		t.Errorf("without the token, podctl says\n%s", stderr)
	}
}

// --on-ask takes three words, and is for a turn that podctl follows.
func TestOnAskIsChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"run", "--on-ask", "never", "x"}, `podctl: --on-ask: "never" is not known: use wait, deny or exit`},
		{[]string{"submit", "--on-ask", "deny", "x"}, "podctl: --on-ask is for a turn that podctl follows: add -f"},
	} {
		w := &world{t: t, dir: t.TempDir()}
		if _, stderr := w.podctl(tt.args...).run(exitUsage); stderr != tt.says+"\n" {
			t.Errorf("%q says %q", tt.args, stderr)
		}
	}
}

// Two clients answer one call at once: one wins, and the other learns who answered and
// when.
func TestTwoAnswersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	w.podctl("create", "p", "--ask", "always").run(0)
	p := w.podctl("submit", "-f", "-p", "p", "hello", "--on-ask", "wait").start()
	p.err.await(t, "answer with: ")
	call := callOf(t, p.err.String())
	var codes []int
	both := []*podctlProcess{w.podctl("approve", "p", call).start(), w.podctl("deny", "p", call).start()}
	for _, one := range both {
		code := one.wait()
		codes = append(codes, code)
		if code == 1 && !strings.Contains(one.err.String(), " by "+who()+" at ") {
			t.Errorf("the second sees %q", one.err.String())
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

// A call that asks before the stream has shown its turn is asked about once it has: until
// then the person would read that the prompt is queued.
func TestAQuestionWaitsForItsTurnToBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	w.podctl("create", "p", "--ask", "always").run(0)
	behind := w.podctl("submit", "-f", "-p", "p", "hello", "--on-ask", "wait").start()
	behind.err.await(t, "answer with: ")
	c, err := client.New(client.Config{Socket: w.dir + "/state/podd.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var shown strings.Builder
	turn := view.NewTurn(view.Console{Out: io.Discard, Err: &shown}, "")
	a := newAsking(&session{program: &program{output: outputText}, Client: c}, "p", turn, &poddv1.SubmitResponse{Seq: 1}, onAskWait)
	caughtUp := func(seq int64) *poddv1.StreamResponse {
		return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: &poddv1.CaughtUp{Seq: seq}}}
	}
	a.observe(t.Context(), caughtUp(1))
	if shown.String() != "" {
		t.Errorf("a call that was not shown is asked about:\n%s", shown.String())
	}
	a.observe(t.Context(), caughtUp(100))
	if !strings.Contains(shown.String(), "  command: echo one\n") {
		t.Errorf("a call that was shown is not asked about:\n%s", shown.String())
	}
	_ = turn.Close()
	w.podctl("deny", "p", callOf(t, behind.err.String())).run(0)
	behind.wait()
}

// A terminal is asked before a pod is created in the home directory.
func TestAskedForTheHomeDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("true"))
	if err := os.MkdirAll(w.dir+"/home", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		typed string
		code  int
		says  string
	}{
		{"\r", exitFailed, "no pod was created"}, {"n\r", exitFailed, "no pod was created"}, {"y\r", exitDone, "created pod p in "},
	} {
		p, typed := w.onTerminal("create", "p", "--dir", "home")
		p.out.await(t, "Create a pod that may change all files in your home directory? [y] yes [Enter] no: ")
		typed(tt.typed)
		if code := p.wait(); code != tt.code || !strings.Contains(p.out.String(), tt.says) {
			t.Errorf("%q: exit code %d:\n%s", tt.typed, code, p.out.String())
		}
	}
}

// attach offers to create the pod of a directory that has none.
func TestAttachCreatesAPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("true"))
	p, typed := w.onTerminal("attach")
	p.out.await(t, "Create one? [y] yes [Enter] no: ")
	typed("\r")
	if code := p.wait(); code != exitNotFound || !strings.Contains(p.out.String(), "no pod has the workspace ") {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
	// In the home directory the question says what such a pod may do, and is the only one.
	p, typed = w.onTerminalWith([]string{"NO_COLOR=1", "HOME=" + w.dir}, "attach")
	p.out.await(t, "Create a pod that may change all files in your home directory? [y] yes [Enter] no: ")
	typed("\r")
	if code := p.wait(); code != exitFailed || strings.Contains(p.out.String(), "Create one?") {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
	p, typed = w.onTerminal("attach")
	p.out.await(t, "Create one? [y] yes [Enter] no: ")
	typed("y")
	p.out.await(t, "created pod ")
	p.out.await(t, "Enter send")
	typed("\x04")
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
	p, typed = w.onTerminal("attach")
	p.out.await(t, "Enter send")
	typed("\x04")
	if p.wait(); strings.Contains(p.out.String(), "Create one?") {
		t.Errorf("it asks for a pod that is there:\n%s", p.out.String())
	}
}
