//go:build integrations

package attach

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// cast records what a screen shows as an asciicast, version 2. Its times are those of a
// person who types and reads, not those of the recording.
type cast struct {
	*screen
	raw     string
	read    int
	now     float64
	written bytes.Buffer
}

// pause lets time pass, and adds what has been shown since.
func (c *cast) pause(seconds float64) {
	c.t.Helper()
	shown, err := os.ReadFile(c.raw)
	if err != nil {
		c.t.Fatal(err)
	}
	text := shown[c.read:]
	for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.Valid(text); i++ {
		text = text[:len(text)-1] // The rest of a character is still to come.
	}
	c.read += len(text)
	if len(text) > 0 {
		event, err := json.Marshal([]any{c.now, "o", string(text)})
		if err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintf(&c.written, "%s\n", event)
	}
	c.now = float64(int((c.now+seconds)*100+0.5)) / 100
}

// writes types text letter by letter.
func (c *cast) writes(text string) {
	c.t.Helper()
	for i, r := range text {
		c.typed(string(r))
		c.await(strings.TrimRight(text[:i+len(string(r))], " "))
		c.pause(0.07)
	}
	c.pause(0.4)
}

// TestCast records docs/attach.cast, if PODD_CAST names the file.
func TestCast(t *testing.T) {
	file := os.Getenv("PODD_CAST")
	if file == "" {
		t.Skip("PODD_CAST names no file")
	}
	gate := make(chan struct{})
	edit := `{"path":"greet.go","old":"return \"hello \" + name","new":"return \"Hello, \" + name + \"!\""}`
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Text("I look at the function and its test.\n"), scripted.Call{Name: "read_file", Arguments: `{"path":"greet.go"}`}),
		scripted.Say(scripted.Call{Name: "edit_file", Arguments: edit}),
		scripted.Say(scripted.Text("## Done\n\n`Greet` now writes a **whole sentence**:\n\n"), scripted.Wait(gate), scripted.Text("| name | greeting |\n|---|---|\n| Ada | Hello, Ada! |\n")),
		scripted.Say(scripted.Text("The file is as you want it."))))
	for name, text := range map[string]string{
		"greet.go": "package greet\n\n// Greet greets somebody.\nfunc Greet(name string) string {\n\treturn \"hello \" + name\n}\n", "greet_test.go": "package greet\n",
	} {
		if err := os.WriteFile(filepath.Join(w.Workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.Podctl("rename", "p", "greeter")
	c := &cast{screen: newScreen(t, w, 90, 26, nil, "attach", "greeter"), raw: filepath.Join(w.Dir, "raw")}
	c.await("── greeter · idle")
	if err := os.WriteFile(c.raw, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Run(t, c.command("pipe-pane", "-O", "cat >> "+c.raw))
	c.keys("C-l")
	rig.Await(t, "the first screen", func() bool {
		shown, err := os.ReadFile(c.raw)
		return err == nil && bytes.Contains(shown, []byte("idle"))
	})
	c.pause(1.5)
	c.writes("greet people properly in @gg")
	c.await("> @greet.go", "Tab take it")
	c.pause(1)
	c.keys("Tab")
	c.await("properly in @greet.go")
	c.pause(0.8)
	c.keys("Enter")
	c.await("› greet people", "1 place replaced", "whole sentence")
	c.pause(2.5)
	close(gate)
	c.await("Hello, Ada!", "turn 1 finished", "greeter · idle")
	c.pause(3)
	c.writes("!tail -n 3 greet.go")
	c.keys("Enter")
	c.await("[$ tail -n 3 greet.go: 4 lines]")
	c.pause(1.5)
	c.writes("is this right?")
	c.keys("Enter")
	c.await("The file is as you want it.", "turn 2 finished")
	c.pause(2)
	c.writes("/status")
	c.keys("Enter")
	c.await("greeter · idle · context")
	c.pause(2)
	c.keys("C-d")
	c.await("shell>")
	rig.Await(t, "the last bytes", func() bool {
		shown, err := os.ReadFile(c.raw)
		return err == nil && bytes.Contains(shown, []byte("\x1b[?1049l"))
	})
	c.pause(1)
	if strings.Contains(c.written.String(), w.Dir) {
		t.Errorf("it shows a path of this machine")
	}
	head, err := json.Marshal(map[string]any{"version": 2, "width": 90, "height": 26, "title": "podctl attach: a path by two letters, an edit with its diff, a command of one's own"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(append(head, '\n'), c.written.Bytes()...), 0o644); err != nil { //nolint:gosec // It is a page.
		t.Fatal(err)
	}
}
