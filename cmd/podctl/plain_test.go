package main

import (
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// attach --plain tells in sentences, and takes prompts, commands and answers as lines.
func TestPlain(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`}),
		scripted.Say(scripted.Text("Seen **it**.\x1b[2J")),
		scripted.Say(scripted.Text("Half"), scripted.Wait(gate))))
	defer close(gate)
	w.podctl("create", "p", "--ask", "always").run(0)
	p, typed := w.onTerminal("attach", "--plain", "p")
	expect := func(keys string, want ...string) {
		t.Helper()
		typed(keys)
		for _, text := range want {
			p.out.await(t, text)
		}
	}
	expect("", "Pod p is idle. Type a prompt, or /help.")
	expect("look \\\nat it\n", "Prompt: look ", "at it", "? call", "command: echo one", "Run it? Answer ")
	expect("maybe\n", "not an answer; use ")
	expect("\n", "the call still waits")
	expect("/answer\ny\n", "approved by ", "Runs: shell command: echo one", "Done: shell: echo one, exit 0", "Answer: Seen **it**."+`\x1b[2J`, "turn 1 finished")
	expect("/effort high\n", "the effort is high from the next turn on")
	expect("/nonsense\n", "unknown command /nonsense")
	expect("/approve-mode never\n", "Let all calls run unasked? Type y for yes")
	expect("n\n", "nothing was changed")
	expect("!!echo $((20+3))\n", "Your shell runs: echo $((20+3))", "  | 23")
	expect("!echo $((40+2))\n", "  | 42", "In your draft: [$ echo $((40+2)): 2 lines]")
	expect("/status\n", "p · idle · context ")
	expect("go on\n", `<paste name="$ echo $((40+2))" lines="2">`, "go on")
	expect("\x03", "turn 2 cancelled")
	expect("\x03", "Nothing runs. /quit leaves.")
	expect("/new other\n", "Pod other is idle.")
	expect("/export here.md\n", "exported #", "here.md")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if shown := p.out.String(); strings.Contains(strings.ReplaceAll(shown, "\x1b]9;", ""), "\x1b") {
		t.Errorf("it wrote escape sequences: %q", shown)
	}
}
