//go:build integrations

// Package attach tests podctl attach as a person sees it: in tmux, by keys and by the
// text on the screen.
package attach

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

func world(t *testing.T, h scripted.Handler) *rig.World {
	t.Helper()
	w := rig.New(t, h)
	if err := os.WriteFile(w.Workspace+"/a-file.txt", []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Podctl("create", "p", "--dir", w.Workspace)
	return w
}

// restored checks that the shell controls its terminal again: typed text shows, and
// returns are newlines.
func (s *screen) restored() {
	s.t.Helper()
	s.keys("clear; stty -a | tr ' ' '\\n' | grep -cxE 'echo|icanon|icrnl|isig|opost'", "Enter")
	s.awaitThat("the terminal as it was", func(shown string) bool {
		lines := strings.Split(shown, "\n")
		return len(lines) > 1 && lines[1] == "5" || lines[0] == "5"
	})
}

// A prompt with a completed path and a paste of several lines, then an answer with calls,
// which open and close. Nothing hostile reaches the terminal, and the person leaves.
func TestTalk(t *testing.T) {
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Text("I look.\x1b[31m\u202e"), scripted.Call{Name: "shell", Arguments: `{"command":"echo line; printf '\\033[2J\\033[31mred'"}`}),
		scripted.Say(scripted.Text("Done."))))
	s := newScreen(t, w, 80, 24, nil, "attach", "p")
	s.await("── p · idle", "^D leave")
	s.typed("see @a-f")
	s.keys("Tab")
	s.await("> see @a-file.txt")
	s.pasted("@one\n@two\n")
	s.await("[pasted: 2 lines]")
	s.keys("Enter")
	s.await("› see @a-file.txt", `I look.\x1b[31m\u202e`, "✓ shell:", "Done.", "── turn 1 finished", "p · idle")
	if strings.Contains(s.shown(), "| line") {
		t.Errorf("calls are open at first:\n%s", s.shown())
	}
	s.keys("C-t")
	s.await("| line", `| \x1b[2J\x1b[31mred`)
	s.keys("C-t")
	s.gone("| line")
	if out := w.Podctl("tail", "p", "--after", "0", "-o", "json"); !strings.Contains(strings.ReplaceAll(out, `": `, `":`), `"paste":{"text":"@one\n@two\n"`) {
		t.Errorf("the paste is not a paste:\n%s", out)
	}
	s.typed("draft")
	s.keys("C-c")
	s.gone("draft")
	s.keys("C-c")
	s.await("press ^C again to leave")
	s.keys("C-c")
	s.await("shell>")
	s.restored()
}

// A question is answered in place, once all of it was on the screen. A question answered
// elsewhere disappears, and a draft is never an answer.
func TestQuestions(t *testing.T) {
	shell := func(lines string) scripted.Reply {
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"true ` + lines + `"}`})
	}
	w := world(t, scripted.Answers(shell(strings.Repeat(`\ntrue some words`, 20)), shell("second"), shell(`third","access":"host","why":"to see`), scripted.Say(scripted.Text("Done."))))
	w.Podctl("update", "p", "--ask", "always")
	s := newScreen(t, w, 60, 15, nil, "attach", "p")
	s.await("p · idle")
	s.typed("go")
	s.keys("Enter")
	s.await("Run it?", "PgUp to read all of it")
	s.typed("y")
	s.keys("Enter")
	s.await("read all of it first: PgUp")
	s.keys("PageUp")
	s.gone("digest ") // What is not painted is not seen.
	s.keys("PageUp")
	s.await("? call", "command:")
	s.keys("C-End")
	s.keys("Enter")
	s.await("approved by podctl", "command: true second", "Run it?")
	s.typed("n not that one")
	s.keys("Enter")
	s.await("denied by podctl", `Access "host", why "to see": the command "true third"`, "command: true third", "Run it?")
	s.keys("Escape")
	s.await("the call still waits; ^Y to answer", "\n>")
	s.typed("yes")
	var approval struct {
		CallSeq string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", "p", "-o", "json")), &approval); err != nil {
		t.Fatal(err)
	}
	w.Podctl("approve", "p", approval.CallSeq)
	s.await("Done.", "turn 1 finished", "> yes")
	s.keys("C-u")
	s.keys("C-d")
	s.await("shell>")
}

// Always shows its rule first. Esc adds nothing and leaves the question; Enter adds the rule,
// which the next such call follows without a question.
func TestAlways(t *testing.T) {
	call := scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"date"}`})
	w := world(t, scripted.Answers(call, call, scripted.Say(scripted.Text("Done."))))
	w.Podctl("update", "p", "--ask", "always")
	s := newScreen(t, w, 90, 24, nil, "attach", "p")
	s.await("p · idle")
	s.typed("go")
	s.keys("Enter")
	s.await("command: date", "Run it?")
	s.typed("a")
	s.keys("Enter")
	s.await("? always adds the rule: allow", `command "date"`, "Add this rule, and run the call? [Enter] yes [Esc] no")
	s.keys("Escape")
	s.await("nothing was changed", "Run it?")
	if out := w.Podctl("rules", "p", "-o", "json"); strings.TrimSpace(out) != "" {
		t.Errorf("Esc added a rule: %s", out)
	}
	s.typed("a")
	s.keys("Enter")
	s.await("Add this rule, and run the call?")
	s.keys("Enter")
	s.await("rule added: allow", "Done.", "turn 1 finished")
	if shown := s.shown(); strings.Count(shown, "approved by podctl") != 1 {
		t.Errorf("the rule did not answer for the second call:\n%s", shown)
	}
	if out := w.Podctl("rules", "p"); !strings.Contains(out, "date") {
		t.Errorf("the rules are\n%s", out)
	}
	s.keys("C-d")
	s.await("shell>")
}

// Leaving ends no turn. A person who returns sees the text so far. podd may be killed
// meanwhile, and the answer appears once.
func TestLeaveAndComeBack(t *testing.T) {
	gate := make(chan struct{})
	w := world(t, scripted.Answers(scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))))
	s := newScreen(t, w, 80, 24, nil, "attach", "p")
	s.await("p · idle")
	s.typed("go")
	s.keys("Enter")
	s.await("The ans", "turn 1 running")
	s.keys("C-d")
	s.await("left p; turn 1 keeps running: podctl attach p")
	s.keys("clear; podctl attach", "Enter")
	s.await("The ans", "turn 1 running")
	w.Kill()
	s.await("lost the connection to podd; retrying")
	w.Start()
	s.await("The ans", "turn 1 running")
	close(gate)
	shown := s.await("The answer.", "turn 1 finished", "p · idle")
	if strings.Count(shown, "The ans") != 1 || strings.Count(shown, "› go") != 1 {
		t.Errorf("it shows\n%s", shown)
	}
	s.keys("Escape")
	s.await("press Esc again to rewind")
}

// Ctrl-Z stops the view, and fg continues it with the text that arrived. Without a shell above it the view
// does not stop.
func TestSuspend(t *testing.T) {
	gate := make(chan struct{})
	w := world(t, scripted.Answers(scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))))
	s := newScreen(t, w, 80, 24, nil, "attach", "p")
	s.await("p · idle")
	s.typed("go")
	s.keys("Enter")
	s.await("The ans", "turn 1 running")
	s.typed("a draft")
	s.keys("C-z")
	s.await("Stopped", "shell>")
	s.gone("turn 1 running")
	s.keys("echo $((40 + 2))", "Enter")
	s.await("42")
	close(gate)
	rig.Await(t, "the answer", func() bool { return strings.Contains(w.Podctl("tail", "p", "-n", "10"), "wer.") })
	s.keys("fg", "Enter")
	s.await("The answer.", "turn 1 finished", "> a draft")
	s.keys("C-u", "C-d")
	s.await("shell>")
	s.restored()
	s.keys("clear; exec "+rig.Binaries(t)+"/podctl attach p", "Enter")
	s.await("The answer.", "p · idle")
	s.keys("C-z")
	s.await("no shell can take over: Ctrl-D leaves")
	s.typed("on it goes")
	s.await("on it goes")
}

// Signals that stop the view from outside are as Ctrl-Z.
func TestStopped(t *testing.T) {
	w := world(t, scripted.Answers())
	for _, verb := range []string{"attach", "top"} {
		for _, signal := range []string{"-TSTP", "-STOP"} {
			args := []string{verb}
			if verb == "attach" {
				args = append(args, "p")
			}
			s := newScreen(t, w, 80, 24, nil, args...)
			s.await("idle")
			rig.Run(t, w.Command("pkill", signal, "-x", "-P", strings.TrimSpace(rig.Run(t, s.command("display-message", "-p", "#{pane_pid}"))), "podctl"))
			s.await("Stopped", "shell>")
			s.keys("fg", "Enter")
			s.awaitThat("the view", func(shown string) bool { return strings.Contains(shown, "idle") && !strings.Contains(shown, "Stopped") })
			if verb == "attach" {
				s.typed("a draft")
				s.await("> a draft")
				s.keys("C-u")
			}
			s.keys("C-d")
			s.await("shell>")
			s.restored()
		}
	}
}

// A scrolled view keeps its place while text arrives; sizes change meanwhile; a signal
// restores the terminal.
func TestScrollResizeAndSignal(t *testing.T) {
	gate := make(chan struct{})
	var long strings.Builder
	for range 60 {
		long.WriteString("line of the first answer\n")
	}
	w := world(t, scripted.Answers(scripted.Say(scripted.Text("begin\n"+long.String()+"end")),
		scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))))
	w.Podctl("submit", "-p", "p", "-f", "first")
	s := newScreen(t, w, 80, 24, []string{"NO_COLOR=1"}, "attach", "p")
	s.await("end", "turn 1 finished")
	if regexp.MustCompile(`\x1b\[[0-9;]*[349][0-7][;m]`).MatchString(s.escapes()) {
		t.Errorf("there is colour:\n%q", s.escapes())
	}
	s.typed("second")
	s.keys("Enter")
	s.await("The ans")
	for range 6 {
		s.keys("PageUp")
	}
	s.await("› first", "begin", "scrolled up")
	close(gate)
	rig.Await(t, "the answer", func() bool { return strings.Contains(w.Podctl("tail", "p", "-n", "10"), "wer.") })
	s.await("› first", "scrolled up")
	rig.Run(t, s.command("resize-window", "-x", "60", "-y", "15"))
	s.await("first", "scrolled up")
	s.keys("C-End")
	s.await("The answer.", "turn 2 finished")
	rig.Run(t, s.command("resize-window", "-x", "100", "-y", "30"))
	s.await("The answer.", "turn 2 finished", "^G editor")
	rig.Run(t, w.Command("pkill", "-TERM", "-x", "-P", strings.TrimSpace(rig.Run(t, s.command("display-message", "-p", "#{pane_pid}"))), "podctl"))
	s.await("podctl: interrupted", "shell>")
	s.restored()
}

// On an unsuitable terminal a sentence says what to use.
func TestNoTerminal(t *testing.T) {
	w := world(t, scripted.Answers(scripted.Say(scripted.Text("x"))))
	s := newScreen(t, w, 80, 24, nil, "attach p; TERM=dumb podctl attach p")
	s.await("p · idle")
	s.keys("C-d")
	s.await(`attach needs a terminal that can move its cursor, but TERM is "dumb"`)
	c := w.Command("podctl", "attach", "p")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "attach needs a terminal") {
		t.Errorf("%v, %s", err, out)
	}
}
