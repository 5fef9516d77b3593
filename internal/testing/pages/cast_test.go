package pages_test

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// The recording of the terminal view is an asciicast of version 2, and shows what the pages
// say of it. `make cast` records it.
func TestCast(t *testing.T) {
	text, err := os.ReadFile("../../../docs/attach.cast")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var head struct {
		Version, Width, Height int
		Title                  string
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Version != 2 || head.Width != 90 || head.Height != 26 || head.Title == "" {
		t.Errorf("the head is %s, %v", lines[0], err)
	}
	want := map[string]bool{"greeter · idle": true, "@greet_test.go": true, "Tab take it": true, "1 place replaced": true, "Hello, Ada!": true, "$ tail -n 3 greet.go": true, "turn 2 finished": true, "/status": true}
	screen := vt.NewEmulator(head.Width, head.Height)
	// It would wait with an answer to a question of the program until somebody reads it.
	var answers sync.WaitGroup
	answers.Go(func() { _, _ = io.Copy(io.Discard, screen) })
	defer answers.Wait()
	defer func() {
		if pipe, is := screen.InputPipe().(io.Closer); is {
			_ = pipe.Close() // Close of the screen races with reading it.
		}
	}()
	last := 0.0
	for _, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("no event: %.80s, %v", line, err)
		}
		at, ok := event[0].(float64)
		if !ok || at < last || at > 120 {
			t.Fatalf("the time %v follows %v", event[0], last)
		}
		last = at
		output, ok := event[2].(string)
		if !ok {
			t.Fatalf("no output: %.80s", line)
		}
		if _, err := screen.WriteString(output); err != nil {
			t.Fatal(err)
		}
		seen := screen.String()
		maps.DeleteFunc(want, func(what string, _ bool) bool { return strings.Contains(seen, what) })
	}
	for what := range want {
		t.Errorf("no screen of it shows %q", what)
	}
}
