//go:build integrations

package attach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// Esc interrupts a turn, and the prompts that waited go back into the draft. A steering
// prompt joins the turn. Earlier prompts come back by Up and by search.
func TestInterruptAndSteer(t *testing.T) {
	gate, call := make(chan struct{}), make(chan struct{})
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Text("The ans"), scripted.Wait(gate)),
		scripted.Say(scripted.Text("Again"), scripted.Wait(call), scripted.Call{Name: "shell", Arguments: `{"command":"true"}`}),
		scripted.Say(scripted.Text("Steered."))))
	s := newScreen(t, w, 80, 24, []string{`VISUAL=sed -i s/draft/changed/`}, "attach", "p")
	s.await("p · idle")
	s.typed("first")
	s.keys("Enter")
	s.await("The ans", "turn 1 running: answering")
	s.typed("second")
	s.keys("Enter")
	s.await("1 queued", "queued: second")
	s.keys("Escape")
	s.await("turn 1 cancelled", "> second")
	close(gate)
	s.keys("Enter")
	s.await("Again", "turn 2 running")
	s.typed("and third")
	s.keys("C-s")
	s.await("joins the turn at its next step")
	close(call)
	s.await("Steered.", "› and third", "turn 2 finished")
	s.keys("Up")
	s.await("> and third")
	s.keys("Up")
	s.await("> second")
	s.keys("Down", "Down")
	s.gone("> second")
	s.keys("C-r")
	s.typed("fir")
	s.await(`history "fir"> first`)
	s.keys("Enter")
	s.await("\n> first")
	s.keys("C-u")
	s.typed("my draft")
	s.keys("C-g")
	s.await("> my changed")
	s.keys("M-c")
	s.await("copied the last answer")
}

// Typed commands act on the pod. Nothing is sent for an unknown one, and what is pasted or
// follows a blank is text.
func TestCommands(t *testing.T) {
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Text("One.")), scripted.Say(scripted.Text("Two.")), scripted.Say(scripted.Text("Three."))))
	prompts := filepath.Join(w.Workspace, ".claude", "commands")
	if err := os.MkdirAll(prompts, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(prompts, "greet.md"), []byte("---\ndescription: greets somebody\nargs: who\n---\nGreet $WHO for $$1.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, w, 90, 30, nil, "attach", "p")
	s.await("p · idle")
	s.typed("/gr")
	s.await("/greet who", "greets somebody")
	s.keys("Enter")
	s.await("unknown command /gr")
	s.keys("Up")
	s.await("> /gr")
	s.keys("Tab", "Enter")
	s.await("/greet needs who", "> /greet")
	s.keys("C-u")
	s.typed("/greet 'Ada L.'")
	s.keys("Enter")
	s.await("› Greet Ada L. for $1.", "One.", "turn 1 finished")
	s.typed("/effort h")
	s.keys("Tab", "Enter")
	s.await("the effort is high from the next turn on")
	if out := w.Podctl("show", "p"); !strings.Contains(out, "effort: high (pod)") {
		t.Errorf("the pod is\n%s", out)
	}
	s.typed("/approve-mode never")
	s.keys("Enter")
	s.await("Let all calls run unasked? [y/N]")
	s.typed("n")
	s.await("nothing was changed")
	s.pasted("/quit")
	s.keys("Enter")
	s.await("› /quit", "Two.", "turn 2 finished")
	s.typed(" /help")
	s.keys("Enter")
	s.await("›  /help", "Three.", "turn 3 finished")
	s.keys("Escape", "Escape")
	s.await("> /rewind")
	s.keys("Enter")
	s.await("Rewind to before the last prompt?")
	s.typed("y")
	s.await("rewound to entry", "/help")
	s.keys("C-u")
	s.typed("/new other")
	s.keys("Enter")
	s.await("── other · idle")
	s.typed("/help")
	s.keys("Enter")
	s.await("/context", "lists what the model gets, with its size")
	s.typed("/quit")
	s.keys("Enter")
	s.await("shell>")
	s.restored()
}

// A command of the person's own runs in the pod's directory and reaches the model only with
// Enter. An edit shows its diff, and the conversation becomes a file.
func TestShellDiffExport(t *testing.T) {
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "edit_file", Arguments: `{"path":"a-file.txt","old":"one","new":"two"}`}),
		scripted.Say(scripted.Text("Edited."))))
	s := newScreen(t, w, 90, 30, nil, "attach", "p")
	s.await("p · idle")
	s.typed("!!cat a-file.txt")
	s.keys("Enter")
	s.await("$ cat a-file.txt  (exit 0, ", "  | one")
	s.typed("!sleep 1000")
	s.keys("Enter")
	s.await("(running; Esc ends it)")
	s.keys("Escape")
	s.await("(ended by Esc, ", "[$ sleep 1000: 1 line]")
	s.keys("C-u")
	s.typed("!cat a-file.txt")
	s.keys("Enter")
	s.await("> [$ cat a-file.txt: 2 lines]")
	s.typed("edit @afl")
	s.await("> @a-file.txt", "Tab take it")
	s.keys("Tab")
	s.await("lines]edit @a-file.txt")
	s.keys("C-w")
	s.typed("it")
	s.keys("Enter")
	s.await(`<paste name="$ cat a-file.txt" lines="2">`, "edit it", "    a-file.txt", "1 -one", "1 +two", "Edited.", "turn 1 finished")
	s.typed("/export out.md")
	s.keys("Enter")
	s.await("exported #1 to #", w.Workspace+"/out.md")
	text, err := os.ReadFile(w.Workspace + "/out.md")
	if err != nil || !strings.Contains(string(text), "Change of a-file.txt:") || !strings.Contains(string(text), "+two") {
		t.Errorf("%v\n%s", err, text)
	}
	s.typed("/export out.md html")
	s.keys("Enter")
	s.await("out.md exists already; give /export another name")
	s.typed("/export a b")
	s.keys("Enter")
	s.await("/export takes a file and a format")
}
