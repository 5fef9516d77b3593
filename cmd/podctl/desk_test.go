package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/pkg/llm/scripted"
)

// write writes a file below the world's directory.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// sitting is a person at podctl attach p.
type sitting struct {
	*world
	view *podctlProcess
	keys func(keys string)
	// log is what podctl tail shows of the pod.
	log   *podctlProcess
	turns int
}

// atDesk opens the view of pod p.
func (w *world) atDesk(env ...string) *sitting {
	w.t.Helper()
	d := &sitting{world: w, log: w.podctl("tail", "-f", "p", "--after", "0").start()}
	d.opens(env...)
	return d
}

func (d *sitting) opens(env ...string) {
	d.t.Helper()
	d.view, d.keys = d.onTerminalWith(env, "attach", "p")
	d.view.out.await(d.t, "^D leave")
}

func (d *sitting) leaves() {
	d.t.Helper()
	d.keys("\x04")
	if code := d.view.wait(); code != exitDone {
		d.t.Errorf("exit code %d:\n%q", code, d.view.out.String())
	}
}

// types waits until the screen shows something new behind the keys: one of some texts, which it returns. What the screen shows already
// is not drawn again, so after a long wait everything is. Where lines wrap, which the length of the directory decides, does not count.
func (d *sitting) types(keys string, wants ...string) string {
	d.t.Helper()
	from := len(d.view.out.String())
	d.keys(keys)
	again := time.NewTicker(patience / 10)
	defer again.Stop()
	for {
		_, more := d.view.out.look(wants[0])
		shown := unwrapped(d.view.out.String()[from:])
		for _, want := range wants {
			if strings.Contains(shown, unwrapped(want)) {
				return want
			}
		}
		select {
		case <-more:
		case <-again.C:
			d.keys("\x0c")
		case <-d.view.exited:
			d.t.Fatalf("%q did not come; there is\n%q", wants, d.view.out.String()[from:])
		}
	}
}

func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// rewinds asks for the rewind, again while the view does not know yet that the turn is over.
func (d *sitting) rewinds() {
	d.t.Helper()
	const busy = "needs an idle pod"
	for d.types("/rewind\r", "Rewind to before the last prompt?", busy) == busy {
	}
}

// turn waits until the keys have made a turn.
func (d *sitting) turn(keys string) {
	d.t.Helper()
	d.turns++
	d.keys(keys)
	d.log.out.await(d.t, fmt.Sprintf("turn %d finished", d.turns))
	if log, _ := d.podctl("tail", "p", "--after", "0", "-o", "json").run(0); strings.Contains(log, "topsecret-value") {
		d.t.Fatalf("after %q podd read .env", keys)
	}
}

// says is a model that answers, but writes until the gate opens where the prompt is wait.
func says(gate <-chan struct{}) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.LastUser() == "wait" {
			return scripted.Say(scripted.Text("Half"), scripted.Wait(gate))
		}
		return scripted.Say(scripted.Text("Seen."))
	}
}

// Whatever a person does with pasted text in the view, podd adds no file that it names.
func TestPastedStaysText(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, says(gate))
	defer close(gate)
	w.write(".env", "SECRET=topsecret-value\n")
	w.write("typed.txt", "typed-value\n")
	w.write("home/.config/podd/prompts/mine.md", "---\nargs: what\n---\nLook at $WHAT: $ARGUMENTS")
	w.podctl("create", "p", "--dir", w.dir).run(0)
	const paste = "\x1b[200~line one\r@.env\rline three\r\x1b[201~ and \x1b[200~@.env\x1b[201~"
	d := w.atDesk("EDITOR=sed -i s/three/fourfold/")
	d.turn(paste + "\r")
	d.turn("/plan " + paste + "\r")
	d.turn("/steer " + paste + "\r")
	d.turn("/mine " + paste + "\r")
	d.types(paste+"\x07", "fourfold")
	d.turn(" @typed.txt\r")
	// Back from podd: a prompt of this view, and one of another client.
	d.rewinds()
	d.types("y", "fourfold")
	d.turn("\r")
	w.podctl("submit", "-f", "--literal", "-p", "p", "elsewhere: see @.env").run(0)
	d.turns++
	d.rewinds()
	d.types("y", "elsewhere:")
	d.turn("\r")
	// Back from the queue.
	d.keys("wait\r")
	d.log.out.await(t, "wait")
	d.types("queued "+paste+"\r", "queued: queued")
	d.types("\x1b", "[pasted: 3 lines]")
	d.log.out.await(t, "turn 9 cancelled")
	d.turns++
	d.turn("\r")
	// Back in a later view, of the prompt and of a command.
	d.leaves()
	d.opens()
	d.types("\x1b[A", "[pasted: 3 lines]")
	d.turn("\r")
	d.leaves()
	log, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0)
	if n := strings.Count(log, "[File: typed.txt]"); n < 2 {
		t.Errorf("podd read typed.txt %d times:\n%s", n, log)
	}
}

// A prompt comes back whole: with its picture, also to be edited elsewhere and after a rewind, and
// with its plan mode. What a draft cannot have stays in the queue.
func TestPicturesComeBack(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, says(gate))
	w.podctl("create", "p", "--dir", w.dir).run(0)
	shot := w.file("shot.png", grayPicture(t))
	d := w.atDesk("EDITOR=sed -i s/^look/regard/")
	d.types("wait\r", "running")
	w.podctl("submit", "-p", "p", "--effort", "high", "hard").run(0)
	d.view.out.await(t, "queued: hard")
	d.types("\x1b[A", "it has its own model, effort or schema; podctl inbox rm ")
	w.podctl("submit", "-p", "p", "--plan", "--image", shot, "look").run(0)
	d.view.out.await(t, "queued: look [picture shot.png")
	d.types("\x1b[A", "look[picture shot.png")
	d.types("\x07", "regard")
	d.types(" again\r", "queued: regard")
	close(gate)
	d.log.out.await(t, "turn 3 finished")
	d.rewinds()
	d.types("y", "regard[picture shot.png")
	d.keys("\r")
	d.log.out.await(t, "turn 4 finished")
	d.leaves()
	log, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0)
	var digests []string
	for l := range strings.Lines(log) {
		if _, image, ok := strings.Cut(l, `"digest":"`); ok && strings.Contains(l, `"submitted"`) && strings.Contains(l, `"plan":true`) {
			digests = append(digests, image[:64])
		}
	}
	if len(digests) != 3 || digests[1] != digests[0] || digests[2] != digests[0] {
		t.Errorf("the pictures are %q in\n%s", digests, log)
	}
}

// A new pod has the settings of the one before, and the view says how to go back.
func TestClearKeepsSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says(nil))
	more := t.TempDir()
	w.podctl("create", "p", "--dir", w.dir, "--ask", "never", "--model", "other", "--effort", "high", "--network", "on", "--write", more, "--max-steps", "7").run(0)
	d := w.atDesk()
	d.types("\x1b[Z", "plan>")
	d.types("/clear\r", "a new pod with the settings of p; /resume p goes back")
	d.types("hello\r", "turn 1 finished")
	d.types("/resume p\t\r", "/resume p-2 goes back")
	d.types("/resume nobody\r", "no pod named")
	d.types("/sessions\r", "p-2")
	d.types("/fork branched\r", "a fork of p; /resume p goes back")
	d.leaves()
	if log, _ := w.podctl("tail", "p-2", "--after", "0", "-o", "json").run(0); !strings.Contains(log, `"plan":true`) {
		t.Errorf("the prompt in the new pod does not plan:\n%s", log)
	}
	was, _ := w.podctl("show", "p").run(0)
	is, _ := w.podctl("show", "p-2").run(0)
	for _, fact := range []string{"ask: never", "model: other", "effort: high", "network: on", "write: " + more, "max 7"} {
		if strings.Contains(was, fact) != strings.Contains(is, fact) || !strings.Contains(is, strings.SplitN(fact, " ", 2)[1]) {
			t.Errorf("%s: the pod was\n%s\nand the new one is\n%s", fact, was, is)
		}
	}
}

// Verbs of podctl work in the view, by the names that other programs have for them too.
func TestVerbsInTheView(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says(nil))
	w.podctl("create", "p", "--dir", w.dir).run(0)
	d := w.atDesk()
	d.turn("hello there\r")
	for keys, want := range map[string]string{
		"/usage": "turns: 1", "/context": "tools", "/jobs": "no jobs", "/mcp": "no MCP servers", "/search hello": "hello there", "/search \"nothing of it\"": "nothing",
		"/doctor": "sandbox", "/rules": "no rules", "/inbox": "no queued prompts", "/version": "podctl", "/pods": "NAME", "/todos": "no list of tasks", "?": "/rewind [SEQ]",
		"/init": "AGENTS.md", "/nosuch": "unknown command /nosuch",
	} {
		d.types(keys+"\r", want)
	}
	d.types("/rename q\r", "renamed")
	d.keys("exit\r")
	if code := d.view.wait(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	w.podctl("show", "q").run(0)
}

// An export takes a free name, or says that the name is taken.
func TestExportsTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says(nil))
	w.podctl("create", "p", "--dir", w.dir).run(0)
	d := w.atDesk()
	d.types("/export\r", "exported #")
	d.types("/export\r", "p.md exists already; give /export another name")
	d.types("/export p.md\r", "p.md exists already; give /export another name")
	d.leaves()
	if _, err := os.Stat(filepath.Join(w.dir, "p-2.md")); err == nil {
		t.Error("there is a second file")
	}
}

// The view of a new pod says what its turns work with, and so does the state line.
func TestSetupIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says(nil))
	w.write(".git/HEAD", "ref: refs/heads/trunk\n")
	w.podctl("create", "p", "--dir", w.dir).run(0)
	w.podctl("models").run(0) // Only a list that comes soon lets podd doubt a name.
	d := w.atDesk()
	for _, want := range []string{w.dir + ", branch trunk", "model scripted · asks if risky · ", "Type a task", "context "} {
		d.view.out.await(t, want)
	}
	d.types("/approve-mode always\r", "always asks")
	d.types("/permissions\r", "the pod always asks; /approve-mode ")
	d.types("/status\r", ", branch trunk · model scripted · always")
	// A model that the endpoint lacks changes nothing.
	d.types("/model nosuch\r", `lists no model "nosuch"`)
	if shown, _ := w.podctl("show", "p").run(0); strings.Contains(shown, "nosuch") {
		t.Errorf("the pod is\n%s", shown)
	}
	w.podctl("update", "p", "--model", "nosuch").run(0)
	d.view.out.await(t, "nosuch · ")
	d.leaves()
}

// Prompts that wait come back one by one, the last one first, also those of an earlier view and of
// another client, and what cancel says of them is true.
func TestQueuedPromptsComeBack(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, says(gate))
	defer close(gate)
	w.podctl("create", "p", "--dir", w.dir).run(0)
	d := w.atDesk()
	d.types("wait\r", "running")
	d.types("first\r", "queued: first")
	d.types("22222222\r", "queued: 22222222")
	d.leaves()
	w.podctl("submit", "-p", "p", "third @nothing").run(0)
	d.opens()
	d.types("\x1b[A", "taken out of the queue")
	d.types("x\r", "queued: third @nothingx")
	d.types("\x1b[A", "taken out of the queue")
	d.keys("\x03")
	d.types("\x1b[A", "22222222")
	d.keys("\x03")
	if out, _ := w.podctl("inbox", "p").run(0); strings.Contains(out, "22222222") || strings.Contains(out, "third") || !strings.Contains(out, "first") {
		t.Errorf("the queue is\n%s", out)
	}
	w.podctl("submit", "-p", "p", "wait").run(0)
	d.leaves()
	if out, _ := w.podctl("cancel", "p").run(0); !strings.Contains(out, "of 2 queued, the next one runs now: podctl cancel --queued removes them too") {
		t.Errorf("cancel says %q", out)
	}
	d.log.out.await(t, "turn 2 finished")
	w.podctl("submit", "-p", "p", "fourth").run(0)
	out, told := w.podctl("cancel", "p", "--queued").run(0)
	if !strings.Contains(told, ": fourth\n") || strings.Contains(out, "queued") {
		t.Errorf("cancel --queued says %q and %q", out, told)
	}
	if _, told := w.podctl("inbox", "p").run(0); !strings.Contains(told, "no queued prompts") {
		t.Errorf("the queue has something: %q", told)
	}
}

// A form is answered with arrows, Space and Enter.
func TestFormWithArrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() > 0 {
			return scripted.Say(scripted.Text("Noted."))
		}
		return scripted.Say(scripted.Call{Name: "ask_user", Arguments: `{"questions":[
			{"question":"Which store?","header":"Store","options":[{"label":"SQLite"},{"label":"Postgres"}]},
			{"question":"Which colours?","header":"Colours","multiple":true,"options":[{"label":"Red"},{"label":"Green"},{"label":"Blue"}]},
			{"question":"What name?","header":"Name"}]}`})
	})
	w.podctl("create", "p", "--dir", w.dir).run(0)
	d := w.atDesk()
	d.types("ask me\r", "Answer to question 1 of 3")
	const up, down = "\x1b[A", "\x1b[B"
	d.turn(down + down + "\r" + up + " " + down + " \r" + "ada\r")
	d.leaves()
	if log, _ := d.podctl("tail", "p", "--after", "0").run(0); !strings.Contains(log, "Postgres; Red, Blue; ada") {
		t.Errorf("the log is\n%s", log)
	}
}
