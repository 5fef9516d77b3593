package main

import (
	"os"
	"path/filepath"
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

// default returns to podd's settings, and the view tells warnings about a value.
func TestPlainSettings(t *testing.T) {
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("Yes."))))
	w.podctl("create", "p").run(0)
	p, typed := w.onTerminal("attach", "--plain", "p")
	p.out.await(t, "model scripted · ")
	for _, step := range [][]string{
		{"/model", "the model is podd's default, scripted; /model MODEL changes it"},
		{"/model gpt-6", `lists no model "gpt-6"`, "podctl update p --model gpt-6 sets it anyway"},
		{"/model", "the model is podd's default, scripted; "},
		{"/model default/scripted", "the model is default/scripted from the next turn on"},
		{"/model", "the model is default/scripted; "},
		{"/model default", "the model is podd's default from the next turn on"},
		{"/effort", "the effort is podd's default; "},
		{"/effort high", "the effort is high from the next turn on"},
		{"/effort", "the effort is high; "},
		{"/effort default", "the effort is podd's default from the next turn on"},
	} {
		typed(step[0] + "\n")
		for _, text := range step[1:] {
			p.out.await(t, text)
		}
	}
	typed("go on\n")
	p.out.await(t, "Answer: Yes.")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// /rewind takes files back too if the person wants that.
func TestPlainRewind(t *testing.T) {
	w := newWorld(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path":"new.txt","content":"new\n"}`}),
		scripted.Say(scripted.Text("Written."))))
	work := t.TempDir()
	w.podctl("create", "p", "--dir", work).run(0)
	p, typed := w.onTerminal("attach", "--plain", "p")
	p.out.await(t, "Pod p is idle.")
	expect := func(keys string, want ...string) {
		t.Helper()
		typed(keys)
		for _, text := range want {
			p.out.await(t, text)
		}
	}
	written := func() bool {
		_, err := os.Stat(filepath.Join(work, "new.txt"))
		return err == nil
	}
	expect("write it\n", "Answer: Written.", "turn 1 finished")
	expect("/rewind\n", "Rewind to before the last prompt? 1 path changed since. Type y for yes, f for files too, anything else for no.")
	expect("n\n", "nothing was changed")
	typed("/rewind\n")
	p.out.awaitBehind(t, "nothing was changed", "1 path changed since.")
	expect("f\n", "changes of files were taken back: 1 path changed", "In your draft: write it")
	if written() {
		t.Error("new.txt is still there")
	}
	expect(" again\n", "Prompt: write it again", "turn 2 finished")
	typed("/rewind\n")
	p.out.awaitBehind(t, "turn 2 finished", "1 path changed since.")
	typed("y\n")
	p.out.awaitBehind(t, "these files keep their later changes: ", "In your draft: write it")
	if !written() {
		t.Error("a rewind without files took new.txt back")
	}
	typed("\x03")
	p.out.await(t, "The draft is empty now.")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// A tab at the end of a line completes its @path, and says which paths fit; the rest comes
// on the next line.
func TestPlainCompletes(t *testing.T) {
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("Seen."))))
	work := t.TempDir()
	for _, name := range []string{"a-file.txt", "src/main.go", "src/make.go"} {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.podctl("create", "p", "--dir", work).run(0)
	p, typed := w.onTerminal("attach", "--plain", "p")
	p.out.await(t, "Pod p is idle.")
	typed("see @a-fi\t\n")
	p.out.await(t, "In your draft: see @a-file.txt ")
	typed("and @src/ma\t\n")
	p.out.await(t, "Paths that fit: @src/main.go, @src/make.go.")
	typed("in.\t\n")
	p.out.await(t, "In your draft: see @a-file.txt and @src/main.go ")
	typed("please @no/such\t\n")
	p.out.await(t, "no such path")
	typed("\x03")
	p.out.await(t, "The draft is empty now.")
	typed("see @a-fi\t\nthanks\n")
	p.out.await(t, "Prompt: see @a-file.txt thanks")
	p.out.await(t, "turn 1 finished")
	typed("without\t\n")
	p.out.await(t, "There is no @path at the end of this line.")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// A question about an edit tells what it would make of the file, and always its rule
// before it is added.
func TestPlainPreview(t *testing.T) {
	edit := func(before, after string) scripted.Reply {
		return scripted.Say(scripted.Call{Name: "edit_file", Arguments: `{"path":"a.txt","old":"` + before + `","new":"` + after + `"}`})
	}
	shell := func(command string) scripted.Reply {
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"` + command + `"}`})
	}
	w := newWorld(t, scripted.Answers(edit("one", "two"), shell("echo one"), shell("date"), scripted.Say(scripted.Text("Done."))))
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.podctl("create", "p", "--dir", work, "--ask", "always").run(0)
	p, typed := w.onTerminal("attach", "--plain", "p")
	expect := func(keys string, want ...string) {
		t.Helper()
		typed(keys)
		for _, text := range want {
			p.out.await(t, text)
		}
	}
	expect("", "Pod p is idle.")
	expect("go\n", "  change a.txt", "1 -one", "1 +two", "Run it? Answer ")
	expect("v\n", `old: one`, `new: two`)
	expect("y\n", "Changed: ", "command: echo one")
	expect("a\n", "always adds the rule: ", "Add this rule, and run the call? Type y for yes")
	expect("n\n", "nothing was changed")
	if out, _ := w.podctl("rules", "p", "-o", "json").run(0); strings.TrimSpace(out) != "" {
		t.Errorf("a rule was added without a yes: %s", out)
	}
	typed("a\n")
	p.out.awaitBehind(t, "nothing was changed", "Add this rule, and run the call? Type y for yes")
	expect("n not like this\n", "denied by ", "not like this", "command: date")
	expect("a\n", `allow, tool "shell", command "date"`)
	expect("y\n", "rule added: ", "Answer: Done.")
	if out, _ := w.podctl("rules", "p", "-o", "json").run(0); !strings.Contains(out, "shell") {
		t.Errorf("the rules are %q", out)
	}
	typed("\x04")
	p.wait()
}
